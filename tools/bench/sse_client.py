"""A small asyncio client that times streamed chat completions: standard library only, so that it costs the two cores
it shares with the server as little as possible."""
import asyncio, dataclasses, json, time


@dataclasses.dataclass
class Answer:
    text: str
    started: float          # when the request was sent
    arrivals: list          # time of every chunk that carried text
    usage: dict
    finish: str

    @property
    def ttft(self):
        return self.arrivals[0] - self.started

    @property
    def turn_time(self):
        return self.arrivals[-1] - self.started

    @property
    def tokens_per_s(self):
        """Decode rate as the user sees it: tokens after the first over the time they took."""
        return (self.usage["completion_tokens"] - 1) / (self.arrivals[-1] - self.arrivals[0])

    @property
    def gaps(self):
        return [b - a for a, b in zip(self.arrivals, self.arrivals[1:])]


async def chat(port, body, path="/v1/chat/completions", enough=None, begun=None):
    """Sends one streaming request and reads it to its end, or hangs up at the first text after the asyncio.Event
    `enough` is set (usage is then None, finish "hung up"). Sets the asyncio.Event `begun` at the first text. Raises RuntimeError on an HTTP error or a broken stream."""
    payload = json.dumps({**body, "stream": True, "stream_options": {"include_usage": True}}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    started = time.monotonic()
    writer.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                 b"Content-Length: %d\r\n\r\n" % (path.encode(), len(payload)) + payload)
    try:
        status = (await reader.readline()).split(b" ", 2)
        while (await reader.readline()).strip():
            pass
        if len(status) < 2 or status[1] != b"200":
            raise RuntimeError(f"HTTP {status}: {(await reader.read(2000)).decode(errors='replace')}")
        text, arrivals, usage, finish = [], [], None, None
        while line := await reader.readline():  # chunk sizes and blank lines are not "data:" lines
            if not line.startswith(b"data: "):
                continue
            data = line[6:].strip()
            if data == b"[DONE]":
                break
            event = json.loads(data)
            if "error" in event:
                raise RuntimeError(f"error event: {event}")
            if event.get("usage"):
                usage = event["usage"]
            for choice in event.get("choices", []):
                piece = choice.get("delta", {}).get("content") or choice.get("text")
                if piece:
                    text.append(piece)
                    arrivals.append(time.monotonic())
                    if begun:
                        begun.set()
                finish = choice.get("finish_reason") or finish
            if enough and enough.is_set():
                return Answer("".join(text), started, arrivals, usage, "hung up")
        if usage is None or finish is None:
            raise RuntimeError("the stream ended without usage or finish_reason")
        return Answer("".join(text), started, arrivals, usage, finish)
    finally:
        writer.close()
