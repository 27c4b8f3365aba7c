"""The metadata of a GGUF file, read in a second where the gguf package takes twenty for a large vocabulary."""
import mmap, struct

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


def read(path):
    """By key; arrays are lists."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = 8  # behind magic and version

        def numbers(code, count):
            nonlocal at
            values = struct.unpack_from(f"<{count}{code}", data, at)
            at += struct.calcsize(f"<{count}{code}")
            return values

        def string():
            nonlocal at
            size = int.from_bytes(data[at:at + 8], "little")
            at += 8 + size
            return data[at - size:at].decode("utf-8", "replace")

        def value(kind):
            if kind == STRING:
                return string()
            if kind != ARRAY:
                return numbers(NUMBERS[kind], 1)[0]
            (element,), (count,) = numbers("I", 1), numbers("Q", 1)
            return list(numbers(NUMBERS[element], count)) if element in NUMBERS else [value(element) for _ in range(count)]

        _, keys = numbers("Q", 2)
        return {string(): value(numbers("I", 1)[0]) for _ in range(keys)}
