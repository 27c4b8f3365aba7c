#!/usr/bin/env python3
"""A long prompt arriving while streams run:  ./dev bench mixed [--rounds N]

For each --model (by default SmolLM2 and a mixture of experts, see ./dev) rounds on one server: (a) 4 streams decoding undisturbed, (b) a 7,000-token prompt alone, (c) the same kind
of prompt arriving while the 4 streams decode; (a) and (b) before and after (c), so that a slow spell of the machine that
comes or goes meanwhile meets both sides of a ratio. The streams draw from 300 tokens of ASCII text, so that every token is
seen when it comes (bytes of a longer character would wait for each other). Wanted: the streams' p99 inter-token latency in (c) at most 3x that of (a)
(4x for a mixture of experts), and the prompt's prefill speed in (c) at least 60 % of (b). Every long prompt is new to the prefix cache.
"""
import argparse, asyncio, collections, os, pathlib, statistics, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rows, servers, sse_client

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reprise", required=True)
parser.add_argument("--model", required=True, action="append", type=pathlib.Path, help="may be given several times")
parser.add_argument("--llama", help="not used: the comparison is with ourselves")
parser.add_argument("--rounds", type=int, default=6)
parser.add_argument("--prompt", type=int, default=7000)
parser.add_argument("--moe-prompt", type=int, default=2000, help="the same for a mixture of experts, whose prefill is slower here")
parser.add_argument("flags", nargs="*", help="further flags for reprise serve, after --")
args = parser.parse_args()

CODE = "".join(p.read_text(errors="replace") for p in sorted(pathlib.Path(statistics.__file__).parent.glob("[a-d]*.py")))
STREAMS = 4


def long_prompt(server, number, length):
    """Exactly `length` token ids of source code, different from the first token on for every number."""
    ids = server.post("/tokenize", {"prompt": f"{number * 7919} " + CODE[number * 1000:number * 1000 + length * 6]})["tokens"]
    assert len(ids) >= length, "the source text is too short"
    return ids[:length]


def is_moe(model):
    """Whether `reprise inspect` tells of experts."""
    return "\nexperts" in subprocess.run([args.reprise, "inspect", str(model)], capture_output=True, text=True, check=True).stdout


def ascii_tokens(server):
    """A logit_bias that leaves the 300 commonest tokens of ASCII source code."""
    ids = server.post("/tokenize", {"prompt": CODE[:200_000].encode("ascii", "ignore").decode()})["tokens"]
    common = [token for token, _ in collections.Counter(ids).most_common(300)]
    for token in common:
        text = server.post("/detokenize", {"tokens": [token]})["prompt"]
        assert text and text.isascii(), f"token {token} is no text of its own: {text!r}"
    return {str(token): 100 for token in common}


async def streams(port, bias, begun, enough):
    """The answers of 4 concurrent streams, cut when `enough` is set; they could go on for longer than any prompt takes. Sets
    the events `begun` at each one's first token."""
    bodies = [{"model": "m", "prompt": f"# file {i}\n" + CODE[i * 700:i * 700 + 600], "max_tokens": 7000, "temperature": 1, "seed": i,
               "ignore_eos": True, "logit_bias": bias} for i in range(STREAMS)]
    return await asyncio.gather(*(sse_client.chat(port, body, "/v1/completions", enough, event) for body, event in zip(bodies, begun)))


async def prefill(port, ids):
    answer = await sse_client.chat(port, {"model": "m", "prompt": ids, "max_tokens": 4, "temperature": 0, "ignore_eos": True},
                                   "/v1/completions")
    if answer.usage["prompt_tokens"] != len(ids) or answer.usage["prompt_tokens_details"]["cached_tokens"] > 64:
        raise RuntimeError(f"the prompt was not computed afresh: {answer.usage}")
    return answer


def gaps_within(answers, begin, end):
    """Of all streams, the gaps that touch the time from begin to end: a stall that outlasts it counts."""
    return [b - a for answer in answers for a, b in zip(answer.arrivals, answer.arrivals[1:]) if a < end and b > begin]


table = rows.Rows("mixed")
for model in args.model:
    name, moe = model.stem.split(".")[0], is_moe(model)
    length = args.moe_prompt if moe else args.prompt
    quiet_p99, busy_p99, itl_ratio, alone, shared, share = [], [], [], [], [], []
    with servers.reprise(args.reprise, str(model), *args.flags) as server:
        texts, bias = [], ascii_tokens(server)
        for round in range(args.rounds):
            prompts = [long_prompt(server, 3 * round + i, length) for i in range(3)]

            async def measure():
                before = await prefill(server.port, prompts[0])
                # One run of the streams: undisturbed, then beside the prompt, then undisturbed again.
                enough, begun = asyncio.Event(), [asyncio.Event() for _ in range(STREAMS)]
                running = asyncio.create_task(streams(server.port, bias, begun, enough))
                started = asyncio.gather(*(event.wait() for event in begun))
                await asyncio.wait([running, started], return_when=asyncio.FIRST_COMPLETED)
                if running.done():  # it failed, and says why
                    await running
                await asyncio.sleep(0.3)
                times = [time.monotonic()]
                await asyncio.sleep(1.5)
                times.append(time.monotonic())
                busy = await prefill(server.port, prompts[1])
                times.append(time.monotonic())
                await asyncio.sleep(1.5)
                times.append(time.monotonic())
                if running.done():
                    raise RuntimeError("the streams ended too early")
                enough.set()
                answers = await running
                return before, busy, await prefill(server.port, prompts[2]), answers, times

            before, busy, after, answers, times = asyncio.run(measure())
            texts.append([a.text for a in answers])
            quiet = rows.percentile(gaps_within(answers, times[0], times[1]) + gaps_within(answers, times[2], times[3]), 0.99)
            disturbed = rows.percentile(gaps_within(answers, busy.started, busy.arrivals[0]), 0.99)
            quiet_p99.append(quiet * 1e3)
            busy_p99.append(disturbed * 1e3)
            itl_ratio.append(disturbed / quiet)
            alone.append(2 * length / (before.ttft + after.ttft))
            shared.append(length / busy.ttft)
            share.append(shared[-1] / alone[-1])
            print(f"{name}, round {round + 1}/{args.rounds}: ITL p99 {quiet * 1e3:.1f} -> {disturbed * 1e3:.1f} ms, prefill {alone[-1]:.0f} -> {shared[-1]:.0f} tokens/s", flush=True)
        if not all(text.isascii() and len(set(text.split())) > 20 for round in texts for text in round):
            sys.exit("a stream is not varied ASCII text: its tokens are not seen one by one, or repeat")
        # Rounds cut a stream at different lengths.
        if any(os.path.commonprefix(same) != min(same, key=len) for same in zip(*texts)):
            sys.exit("the streams' output, whose seeds are fixed, differs between rounds")
    table.samples(name + ", ITL p99, 4 streams alone", quiet_p99, "ms")
    table.samples(name + ", ITL p99 while a prompt prefills", busy_p99, "ms")
    table.samples(name + ", ITL p99, times that without the prompt", itl_ratio, "x", 4.0 if moe else 3.0, at_most=True)
    table.samples(name + ", prefill alone", alone, "tokens/s")
    table.samples(name + ", prefill beside 4 streams", shared, "tokens/s")
    table.samples(name + ", prefill, share of its speed alone", share, "", 0.6)
table.finish()
