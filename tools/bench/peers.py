#!/usr/bin/env python3
"""Speed beside llama.cpp on the same file, interleaved:  ./dev bench peers [--rounds N]

For each --model (by default SmolLM2, Gemma 3 270M and a mixture of experts, see ./dev) five cases: prefill 512, prefill 4096 and decode at an empty context, prefill 512 and decode at depth 8192. Each round runs
`reprise bench model` and `llama-bench` one after the other, alternating who is first; llama-bench is run with -fa 0 and
-fa 1 at first and its better one is kept. llama-bench filters no slow moments of the machine, so neither does our side of
the ratio: a row is the median over rounds of plain mean / plain mean. Our quiet-window figure, with its share of the roof, is a
row of its own.
"""
import argparse, json, pathlib, statistics, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rows, servers

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reprise", required=True)
parser.add_argument("--model", required=True, action="append", type=pathlib.Path, help="may be given several times")
parser.add_argument("--llama", required=True)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--cases", default="", help="only cases whose name contains this")
args = parser.parse_args()

# name, what is measured, prompt, generated, depth, wanted ratio
CASES = [("prefill 512", "prefill", 512, 0, 0, 1.0), ("prefill 4096", "prefill", 4096, 0, 0, 1.0), ("decode", "decode", 0, 64, 0, 1.0),
         ("prefill 512 at depth 8192", "prefill", 512, 0, 8192, 2.0), ("decode at depth 8192", "decode", 0, 32, 8192, 2.0)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def ours(model, kind, prompt, gen, depth):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run([args.reprise, "bench", "model", "--model", str(model), "--prompt", str(prompt), "--gen", str(gen), "--depth", str(depth),
             "--json", out.name])
        return next(r for r in json.load(open(out.name))["rows"] if r["name"].startswith(kind) and r["unit"] == "tokens/s")


def llama(model, flash, prompt, gen, depth):
    text = run([str(pathlib.Path(args.llama) / "llama-bench"), "-m", str(model), "-t", servers.CPUS, "-p", str(prompt), "-n", str(gen), "-d", str(depth),
                "-fa", flash, "-r", "1" if prompt + depth > 1000 else "3", "-o", "json"])
    return json.loads(text)[0]["avg_ts"]


table = rows.Rows("peers")
for model in args.model:
    name_of_model = model.stem.split(".")[0]
    for case, kind, prompt, gen, depth, wanted in CASES:
        name = f"{name_of_model}, {case}"
        if args.cases not in name:
            continue
        shape = (prompt, gen, depth)
        tried = {flash: llama(model, flash, *shape) for flash in ("0", "1")}
        flash = max(tried, key=tried.get)
        own, quiet, peer, row = [], [], [], None
        for round in range(args.rounds):
            for who in ("ours", "llama") if round % 2 == 0 else ("llama", "ours"):
                if who == "ours":
                    before, row = row, ours(model, kind, *shape)
                    if before and before["output_hash"] != row["output_hash"]:
                        sys.exit(f"{name}: the output differs between rounds")
                    quiet.append(row["value"])
                    own.append(row["plain"])
                else:
                    peer.append(llama(model, flash, *shape))
            print(f"{name}, round {round + 1}/{args.rounds}: {own[-1]:.1f} beside {peer[-1]:.1f} tokens/s (-fa {flash})", flush=True)
        table.samples(name + ", quiet windows", quiet, "tokens/s", roof_share=row["roof_share"], output_hash=row["output_hash"])
        table.samples(name, own, "tokens/s", peer="llama.cpp", peer_value=statistics.median(peer))
        table.samples(name + ", ratio to llama.cpp", [a / b for a, b in zip(own, peer)], "x", wanted)
table.finish()
