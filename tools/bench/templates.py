#!/usr/bin/env python3
"""Rendering chat templates beside Python's jinja2:  ./dev bench templates [--only NAME] [--rounds N]

Needs the package `jinja2`.

Renders one coding session of 300 messages (system, user, and assistant turns that think, call tools and get results of 40
to 4000 bytes) with every template at hand: those of ../shared/templates and the default model's. Times are CPU time of one
core, medians. Both must write the same text. Prints a table, writes build/bench/templates.json, and exits 1 when a render
takes more than 2 ms or the texts differ.
"""
import argparse, json, os, pathlib, random, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "bench"), str(ROOT / "tools")]
import rows
from make_template_golden import NOW, environment
from template_cases import BOS, EOS, SEARCH, SYSTEM, WEATHER

WANTED = 2.0  # ms
MESSAGES = 300
TEMPLATES = [ROOT.parent / "shared" / "templates", ROOT / "src" / "text" / "testdata" / "templates"]


def session():
    rng = random.Random(300)
    words = [line.strip() for line in pathlib.Path(__file__).read_text().split()]

    def prose(size):
        text = []
        while size > 0:
            text.append(rng.choice(words) + rng.choice([" ", " ", " ", "\n"]))
            size -= len(text[-1])
        return "".join(text).strip()

    messages = [dict(SYSTEM, content=prose(6000))]
    calls = 0
    while len(messages) < MESSAGES:
        messages.append({"role": "user", "content": prose(300)})
        for _ in range(rng.randint(1, 9)):
            calls += 1
            ident = f"call{calls:05}"
            arguments = {"query": {"text": prose(30), "flags": ["i"]}, "limit": calls, "exact": calls % 2 == 0}
            messages.append({"role": "assistant", "content": prose(60), "reasoning_content": prose(200), "tool_calls": [
                {"id": ident, "type": "function", "function": {"name": "search_code", "arguments": arguments}}]})
            messages.append({"role": "tool", "content": prose(rng.choice([40, 400, 1200, 4000])), "tool_call_id": ident, "name": "search_code"})
        messages.append({"role": "assistant", "content": prose(250), "reasoning_content": prose(200)})
    del messages[MESSAGES - 1:]
    messages.append({"role": "user", "content": prose(300)} if messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1]
                    else {"role": "tool", "content": prose(400), "tool_call_id": ident, "name": "search_code"}
                    if messages[-1]["role"] == "assistant" else {"role": "assistant", "content": prose(250)})
    return {"messages": messages, "tools": [WEATHER, SEARCH], "now": NOW}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder that holds template_bench")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--only", default="", help="templates whose name contains this")
    args = parser.parse_args()

    conversation = session()
    folder = args.build.resolve() / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "conversation.json").write_text(json.dumps(conversation))
    paths = [p for place in TEMPLATES for p in sorted(place.glob("*.jinja")) if args.only in p.name]
    core = max(os.sched_getaffinity(0))
    ran = subprocess.run(["taskset", "-c", str(core), args.build.resolve() / "src/text/template_bench", folder / "conversation.json",
                          str(args.rounds), *paths], stdout=subprocess.PIPE, check=True)
    table = rows.Rows("templates")
    for line, path in zip(ran.stdout.splitlines(), paths):
        ours = json.loads(line)
        template = environment().from_string(path.read_text())
        data = json.loads(json.dumps(conversation))
        start = time.process_time()
        try:
            theirs = template.render(messages=data["messages"], tools=data["tools"], documents=None, add_generation_prompt=True,
                                     bos_token=BOS, eos_token=EOS)
        except Exception as error:
            theirs = error
        peer = 1e3 * (time.process_time() - start)
        if isinstance(theirs, Exception):  # a template that takes no tools, say
            table.add(f"{ours['name']}: refused, as by jinja2", int("error" in ours), "", 1)
            continue
        table.samples(ours["name"], [1e3 * s for s in ours.get("seconds", [float("inf")])], "ms", WANTED, at_most=True,
                      peer="jinja2", peer_value=peer, bytes=len(theirs.encode()))
        table.add(f"{ours['name']}: text equal to jinja2's", int(ours.get("output") == theirs), "", 1, error=ours.get("error"))
    table.finish()


if __name__ == "__main__":
    main()
