#!/usr/bin/env python3
"""Coding sessions against our server and llama.cpp's, interleaved:  ./dev bench sessions [--rounds N]

4 sessions at once, 6 turns each: a shared system prompt of about 1,000 tokens, about 350 new tokens a turn, 60 tokens
out, 1 s between turns; the server's own answers are carried. Every round starts both servers afresh (empty caches) and
runs them one after the other, alternating who is first, so that a slow minute of the machine meets both. Warm turns
(the 2nd on) count. Then the same with one session.
"""
import argparse, asyncio, hashlib, pathlib, statistics, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rows, servers, sse_client

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reprise", required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--llama", required=True, help="folder of llama.cpp's programs")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--turns", type=int, default=6)
parser.add_argument("--gap", type=float, default=1.0)
args = parser.parse_args()

OUT = 60
# Source text of the Python library: about 3.2 characters a token with this vocabulary.
CODE = "".join(p.read_text(errors="replace") for p in sorted(pathlib.Path(statistics.__file__).parent.glob("[a-d]*.py")))
SYSTEM = "You are a careful coding assistant. Answer briefly.\n" + CODE[:3100]


def user_turn(session, turn):
    at = 5000 + (session * 50 + turn) * 1100
    return f"Session {session}, step {turn}. Review this part of the file and say what to change:\n{CODE[at:at + 1000]}"


async def session(port, number):
    messages, answers = [{"role": "system", "content": SYSTEM}], []
    for turn in range(args.turns):
        if turn:
            await asyncio.sleep(args.gap)
        messages.append({"role": "user", "content": user_turn(number, turn)})
        answer = await sse_client.chat(port, {"model": "m", "messages": messages, "temperature": 0, "max_tokens": OUT,
                                              "ignore_eos": True, "cache_prompt": True})
        if answer.usage["completion_tokens"] != OUT:
            raise RuntimeError(f"asked for {OUT} tokens, got {answer.usage}")
        messages.append({"role": "assistant", "content": answer.text})
        answers.append(answer)
    return answers


def run(server, sessions):
    async def all_sessions():
        return await asyncio.gather(*(session(server.port, s) for s in range(sessions)))
    with server:
        return asyncio.run(all_sessions())


def start_ours():
    return servers.reprise(args.reprise, args.model)


def start_llama(sessions):
    return servers.llama(args.llama, args.model, "-t", servers.CPUS, "-np", str(sessions), "-c", str(8192 * sessions),
                         "--no-kv-unified", "-fa", "off")


table = rows.Rows("sessions")
WANTED = {"warm TTFT p50": 3.0, "tokens/s per user": 2.0, "turn time without gap": 2.5}
for sessions in (4, 1):
    ratios = {name: [] for name in WANTED}
    figures = {"ours": {name: [] for name in WANTED}, "llama.cpp": {name: [] for name in WANTED}}
    hashes, cached = set(), []
    for round in range(args.rounds):
        medians = {}
        for who in ("ours", "llama.cpp") if round % 2 == 0 else ("llama.cpp", "ours"):
            runs = run(start_ours() if who == "ours" else start_llama(sessions), sessions)
            warm = [answer for answers in runs for answer in answers[1:]]
            medians[who] = {"warm TTFT p50": statistics.median(a.ttft for a in warm),
                            "tokens/s per user": statistics.median(a.tokens_per_s for a in warm),
                            "turn time without gap": statistics.median(a.turn_time for a in warm)}
            for name, value in medians[who].items():
                figures[who][name].append(value)
            if who == "ours":
                # Greedy output may not depend on timing: the same in every round.
                hashes.add(hashlib.sha256("".join(a.text for answers in runs for a in answers).encode()).hexdigest()[:12])
                cached += [a.usage["prompt_tokens_details"]["cached_tokens"] / a.usage["prompt_tokens"] for a in warm]
            print(f"{sessions} session(s), round {round + 1}/{args.rounds}, {who:9}: " +
                  ", ".join(f"{n} {v:.3g}" for n, v in medians[who].items()), flush=True)
        for name in WANTED:
            ours, peer = medians["ours"][name], medians["llama.cpp"][name]
            ratios[name].append(ours / peer if name == "tokens/s per user" else peer / ours)
    if len(hashes) != 1:
        sys.exit(f"our greedy output differs between rounds: {hashes}")
    prompt = f"{sessions} session{'s' if sessions > 1 else ''}: "
    for name, wanted in WANTED.items():
        unit = "tokens/s" if "tokens" in name else "s"
        table.samples(prompt + name, figures["ours"][name], unit, peer_value=statistics.median(figures["llama.cpp"][name]),
                      output_hash=next(iter(hashes)))
        table.samples(prompt + name + ", better by", ratios[name], "x", wanted if sessions == 4 else 1.0)
    table.samples(prompt + "share of prompt cached, warm turns", cached, "")
table.finish()
