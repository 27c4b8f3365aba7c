#!/usr/bin/env python3
"""500 hostile requests beside 8 well-behaved streams: the 8 are unaffected, nothing leaks, the process lives.

  hostile.py --reprise BINARY --model FILE [--requests 500] [--slow]

Clients disconnect (in the head, in the body, while queued, in mid-stream), send malformed bodies, overflow the context
and exceed limits. `--slow` is for sanitizer builds: shorter streams. Standard library only.
"""
import argparse, asyncio, json, pathlib, random, sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/bench"))
import servers, sse_client

parser = argparse.ArgumentParser()
parser.add_argument("--reprise", required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--requests", type=int, default=500)
parser.add_argument("--slow", action="store_true")
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()

GOOD = 8
LIMIT = 40  # --max-requests
# The mix, in an order that spreads it: of every 66 requests one is a burst.
KINDS = ["hang up", "malformed", "hang up", "limits", "malformed", "hang up", "fine", "malformed", "hang up", "overflow", "limits"] * 6
KINDS[31] = "burst"
LENGTH = 40 if args.slow else 300
seen = {}  # what happened how often


def good_body(i):
    return {"model": "m", "messages": [{"role": "user", "content": f"Count from {i} upwards."}], "temperature": 0, "max_tokens": LENGTH,
            "ignore_eos": True}


def chat_body(rng, **more):
    return {"model": "m", "messages": [{"role": "user", "content": f"Hello number {rng.random()}"}], "max_tokens": 50, "ignore_eos": True, **more}


MALFORMED = [
    b"", b"{", b"[]", b"null", b'"text"', b'{"messages": 5}', b'{"messages": []}', b"\xff\xfe\x00", b'{"messages":[{"role":"user"}]',
    b'{"model":"m","messages":[{"role":7,"content":"x"}]}', b'{"model":"m","messages":[{"role":"user","content":{"a":1}}]}',
    b"[" * 5000, b'{"a":' * 2000, b'{"model":"m","messages":[{"role":"user","content":"\\ud800"}],"max_tokens":"many"}',
    b'{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":1e999}',
    b'{"model":"m","messages":[{"role":"user","content":"x"}],"logit_bias":{"-5":1}}',
    b'{"model":"m","messages":[{"role":"user","content":"x"}],"stop":[1,2]}',
    b'{"model":"m","messages":[{"role":"user","content":"x"}],"n":100000}',
    b'{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":-1}',
    b'{"model":"m","prompt":[99999999]}', b'{"model":"m","prompt":[-1]}', b'{"model":"m","prompt":[[]]}',
]


async def raw(port, payload, path="/v1/chat/completions", cut=None, read=True):
    """Sends a POST; `cut` sends only so many bytes of it and hangs up. Returns the status, or None."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {len(payload)}\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write((head + payload)[:cut])
        await writer.drain()
        if not read:
            return None
        line = await asyncio.wait_for(reader.readline(), 300)
        return int(line.split()[1]) if line else None
    except (ConnectionError, asyncio.IncompleteReadError):
        return None
    finally:
        writer.close()


async def hang_up(port, rng):
    """Disconnects somewhere: in the head, in the body, before the answer, or after some bytes of the stream."""
    body = json.dumps(chat_body(rng, stream=True, max_tokens=400)).encode()
    where = rng.choice(["head", "body", "queued", "stream", "stream"])
    if where == "head":
        await raw(port, body, cut=rng.randrange(1, 60), read=False)
    elif where == "body":
        await raw(port, body, cut=-rng.randrange(1, len(body)), read=False)
    else:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        if where == "queued":
            await asyncio.sleep(rng.random() * 0.05)
        else:
            try:
                await asyncio.wait_for(reader.readexactly(rng.randrange(200, 4000)), 300)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
        if rng.random() < 0.5:
            writer.transport.abort()  # RST rather than FIN
        writer.close()
    return f"hang up: {where}"


async def hostile(port, number):
    rng = random.Random(f"{args.seed} {number}")  # its own: the order in which requests run is not ours
    kind = KINDS[number % len(KINDS)]
    if kind == "hang up":
        what = await hang_up(port, rng)
    elif kind == "malformed":
        path = rng.choice(["/v1/chat/completions", "/v1/completions"])
        status = await raw(port, rng.choice(MALFORMED), path)
        if status is None or not 400 <= status < 500:
            sys.exit(f"FAILED a malformed body got {status}")
        what = f"malformed: {status}"
    elif kind == "overflow":
        status = await raw(port, json.dumps(chat_body(rng, messages=[{"role": "user", "content": "word " * 12000}])).encode())
        if status != 400:
            sys.exit(f"FAILED context overflow got {status}")
        what = f"overflow: {status}"
    elif kind == "limits":
        body = rng.choice([chat_body(rng, temperature=-1), chat_body(rng, top_p=7), chat_body(rng, n=5000), chat_body(rng, top_logprobs=500, logprobs=True),
                           chat_body(rng, max_tokens=10**12), chat_body(rng, stop=["x"] * 5000)])
        status = await raw(port, json.dumps(body).encode())
        if status != 400:
            sys.exit(f"FAILED a limit got {status}")
        what = f"limits: {status}"
    elif kind == "burst":  # more at once than --max-requests admits
        statuses = await asyncio.gather(*(raw(port, json.dumps(chat_body(rng, max_tokens=4)).encode()) for _ in range(LIMIT + 8)))
        if not set(statuses) <= {200, 429}:
            sys.exit(f"FAILED a burst got {sorted(set(statuses), key=str)}")
        what = "burst: 429" if 429 in statuses else "burst: all served"
    else:
        status = await raw(port, json.dumps(chat_body(rng, max_tokens=5)).encode())
        if status not in (200, 429):
            sys.exit(f"FAILED a good request got {status}")
        what = f"fine: {status}"
    seen[what] = seen.get(what, 0) + 1


async def storm(port):
    limit = asyncio.Semaphore(24)

    async def one(number):
        async with limit:
            await hostile(port, number)
    await asyncio.gather(*(one(n) for n in range(args.requests)))


async def main(server):
    expected = [await sse_client.chat(server.port, good_body(i)) for i in range(GOOD)]

    async def good_until(done, i):
        """A well-behaved client: one stream after the other while the storm lasts, at least one."""
        answers = []
        while not answers or not done.done():
            try:
                answers.append(await sse_client.chat(server.port, good_body(i)))
            except RuntimeError as error:  # refused beside a burst, as a well-behaved client expects: it comes again
                if "429" not in str(error):
                    raise
                await asyncio.sleep(0.2)
        return answers
    storming = asyncio.create_task(storm(server.port))
    answers = await asyncio.gather(*(good_until(storming, i) for i in range(GOOD)))
    await storming
    for i, several in enumerate(answers):
        for answer in several:
            if answer.text != expected[i].text or answer.usage["completion_tokens"] != LENGTH:
                sys.exit(f"FAILED stream {i} was affected: {answer.text[:200]!r} instead of {expected[i].text[:200]!r}")
    print(f"ok  {sum(map(len, answers))} well-behaved streams of {GOOD} clients unaffected")

    # Everything is given back: nothing runs or waits, and every page is free or held by the cache alone.
    for _ in range(100):
        metrics = {line.split(" ")[0].split("{")[0] + ("{" + line.split("{")[1].split("}")[0] + "}" if "reprise:kv_pages" in line else ""):
                   float(line.rsplit(" ", 1)[1]) for line in server.get("/metrics").splitlines() if line and not line.startswith("#")}
        pages = {state: next((v for k, v in metrics.items() if k.startswith("reprise:kv_pages{") and f'state="{state}"' in k), None)
                 for state in ("free", "cached", "total")}
        if metrics["vllm:num_requests_running"] == metrics["vllm:num_requests_waiting"] == 0 and None not in pages.values() \
                and pages["free"] + pages["cached"] == pages["total"]:
            break
        await asyncio.sleep(0.1)
    else:
        sys.exit(f"FAILED not everything was given back: {pages}, running {metrics['vllm:num_requests_running']}, waiting {metrics['vllm:num_requests_waiting']}")
    print(f"ok  all pages free or cached: {pages}")
    aborted = sum(float(line.rsplit(" ", 1)[1]) for line in server.get("/metrics").splitlines()
                  if line.startswith("vllm:request_success_total") and 'finished_reason="abort"' in line)
    if not aborted:
        sys.exit("FAILED the server noticed none of the clients that hung up")
    seen["noticed by the server: hang up"] = int(aborted)


with servers.reprise(args.reprise, args.model, "--max-requests", str(LIMIT), timeout=300) as server:
    asyncio.run(main(server))
    if server.process.poll() is not None:
        sys.exit(f"FAILED the server died: {server.tail()}")
    log = server.tail(40)
    status = server.stop(120)
    if status != 0:
        sys.exit(f"FAILED exit status {status} after SIGTERM:\n{log}")
for what, count in sorted(seen.items()):
    print(f"    {what}: {count}")
WANTED = ["hang up: head", "hang up: body", "hang up: queued", "hang up: stream", "malformed: 400", "overflow: 400", "limits: 400", "burst: 429"]
if missing := [what for what in WANTED if what not in seen]:
    sys.exit(f"FAILED the storm never saw {missing}: more --requests or another --seed")
print("ok  every kind of trouble was there")
print("4 passed, 0 failed")
