"""Mixed text for comparing tokenizers: source code in ten languages and prose found on the machine, and generated text of
many scripts, emoji with joiners, control characters, broken UTF-8, long runs, and look-alikes of control tokens. The same
seed gives the same text on the same machine."""
import hashlib, os, pathlib, random, sys

LANGUAGES = {
    "python": {".py"}, "c": {".c", ".h"}, "c++": {".cc", ".cpp", ".hpp", ".tcc"}, "rust": {".rs"}, "go": {".go"},
    "java": {".java"}, "javascript": {".js", ".mjs", ".ts"}, "perl": {".pl", ".pm"}, "shell": {".sh"},
    "fortran": {".f", ".f90", ".F"}, "lisp": {".el", ".scm"}, "tcl": {".tcl"}, "data": {".json", ".xml", ".html", ".css", ".svg", ".po", ".txt", ".md", ".rst", ".cmake"},
}
PLACES = ["/usr/lib/python3", "/usr/lib/python3.11", sys.prefix + "/lib", "/root/.pyenv", "/usr/include", "/usr/share", "/usr/lib",
          "/root/.cargo", "/usr/local"]
# Blocks of code points that texts are drawn from.
BLOCKS = [(0x20, 0x7E), (0x20, 0x7E), (0x80, 0x24F), (0x250, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x5FF),
          (0x600, 0x6FF), (0x700, 0x8FF), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1000, 0x11FF), (0x1200, 0x17FF), (0x1800, 0x1CFF),
          (0x1D00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x23FF), (0x2400, 0x2BFF), (0x2C00, 0x2E7F), (0x2E80, 0x303F),
          (0x3040, 0x30FF), (0x3100, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x4E00, 0x9FFF), (0xA000, 0xABFF),
          (0xAC00, 0xD7A3), (0xD7A4, 0xD7FF), (0xE000, 0xF8FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFE6F),
          (0xFE70, 0xFFFF), (0x10000, 0x107FF), (0x10800, 0x10FFF), (0x11000, 0x11FFF), (0x12000, 0x16FFF), (0x1B000, 0x1CFFF),
          (0x1D000, 0x1D7FF), (0x1D800, 0x1EFFF), (0x1F000, 0x1FAFF), (0x1F300, 0x1F6FF), (0x20000, 0x2A6DF),
          (0x2A700, 0x323AF), (0xE0000, 0xE01EF), (0x0, 0x1F), (0x7F, 0x9F), (0x0, 0x10FFFF)]
WORDS = ("the of and to in is that for it with as on be at by this return int void self import function const let var def class "
         "if else while public static new Über naïve café Straße ИСТИНА слово данные عربي كلمة עברית हिन्दी शब्द ไทย คำ 한국어 단어 日本語 "
         "言葉 中文 词语 Ελληνικά İstanbul ǅ ﬁne ſ ß").split()
FRAGMENTS = ["'s", "'LL", "'ſ", "''m", "I'm", "don't", "e\u0301", "Å", "ﬁ", "①", "㌔", "½", "Ⅷ", "٣", "१", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪",
             "\u00a0", "\u1680", "\u2003", "\u2028", "\u0085", "\u180e", "\u200b", "\u200c", "\u200d", "\ufeff", "\u3000", "\u2581", "\u2581\u2581",
             "<s>", "</s>", "<unk>", "<pad>", "<bos>", "<eos>", "<mask>", "[CLS]", "[SEP]", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<start_of_turn>",
             "<|eot_id|>", "<｜end▁of▁sentence｜>", "[INST]", "<0x0A>", "<0xE4>", "##", "</w>", "<tool>", "<tool_call>", "<think>", "wordy", "Wordy",
             "\ufffd", "\x00", "\r\n", "\r", "\n\n\n", "\t", "  ", "    ", "\x0b", "\x0c", "\x1c", "3.14", "1234567", "0x1F", "x1", "==", "->", "://", "();", "{}\n"]


def source_files(megabytes, seed):
    """Files of the machine, mixed over languages, cut to 64 kB each; decoded with U+FFFD for what is broken."""
    found = {language: [] for language in LANGUAGES}
    by_suffix = {suffix: language for language, suffixes in LANGUAGES.items() for suffix in suffixes}
    for place in dict.fromkeys(os.path.realpath(p) for p in PLACES):
        for folder, _, names in os.walk(place):
            for name in names:
                language = by_suffix.get(pathlib.PurePath(name).suffix)
                if language:
                    found[language].append(os.path.join(folder, name))
    queues = []
    for language, paths in found.items():
        paths.sort(key=lambda p: hashlib.sha256(f"{seed}{p}".encode("utf-8", "surrogateescape")).digest())
        queues.append(iter(paths))
    size, seen = 0, set()
    while queues and size < megabytes * 1e6:
        for queue in list(queues):
            path = next(queue, None)
            if path is None:
                queues.remove(queue)
                continue
            try:
                data = open(path, "rb").read(64_000)
            except OSError:
                continue
            digest = hashlib.sha256(data).digest()
            if len(data) < 50 or digest in seen:
                continue
            seen.add(digest)
            size += len(data)
            yield data.decode("utf-8", "replace")


def generated(megabytes, seed):
    rng = random.Random(seed)
    size = 0

    def some(block, count):
        return "".join(chr(c) for c in (rng.randint(*block) for _ in range(count)) if not 0xD800 <= c <= 0xDFFF)

    while size < megabytes * 1e6:
        parts, main = [], rng.choice(BLOCKS)
        for _ in range(rng.choice([1, 2, 3, 10, 60, 400])):
            kind = rng.random()
            if kind < 0.25:
                parts.append(some(main, rng.randint(1, 12)))
            elif kind < 0.35:
                parts.append(some(rng.choice(BLOCKS), rng.randint(1, 4)))
            elif kind < 0.55:
                parts.append(rng.choice(FRAGMENTS))
            elif kind < 0.65:
                parts.append(rng.choice(" \n\t\r=-a0.é中▁\u00a0") * rng.choice([1, 2, 3, 4, 7, 16, 33, 70]))
            elif kind < 0.7:
                parts.append(bytes(rng.choice([0x80, 0xBF, 0xC3, 0xE4, 0xED, 0xF0, 0xF4, 0xFF, 0x41]) for _ in range(rng.randint(1, 5)))
                             .decode("utf-8", "replace"))
            else:
                parts.append(rng.choice([" ", " ", " ", "", "\n"]) + rng.choice(WORDS))
        text = "".join(parts)
        if rng.random() < 0.01:  # a long run of one character
            text += rng.choice(["a", " ", "\n", "0", "=", "中", "é", "👍", "\u0301", "ab", " a", "\r\n"]) * rng.randint(1000, 30000)
        size += len(text.encode())
        yield text


def documents(megabytes, seed=1):
    """Two parts of source code to one of generated text, as lists of strings."""
    texts = list(source_files(megabytes * 2 / 3, seed))
    size = sum(len(text.encode()) for text in texts) / 1e6
    texts += generated(max(megabytes - size, megabytes / 3), seed)
    random.Random(seed).shuffle(texts)
    return texts
