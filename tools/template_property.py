#!/usr/bin/env python3
"""Templates rendered by us and by jinja2:  template_property.py RENDERER [--count N] [--seed S] [--stride K]

RENDERER is build/.../src/text/render_templates. Each case must give equal text in both, or fail in both; a raise_exception
must give its message. The cases are N random templates (template_grammar.py) and each K-th of the table of every filter,
test, method and operator over every kind of value (template_table.py), from the S-th on. Prints the cases that differ, then
how many were alike; exits 1 when one differed. Needs the package jinja2.
"""
import argparse, collections, itertools, json, pathlib, re, subprocess, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_template_golden import outcome
from template_grammar import case
import template_table

# Where ours fails and jinja2 does not. It folds a slice of a constant that cannot be to nothing while it compiles, but fails
# at it elsewhere, as ours does always; the rest are limits of ours.
LIMITS = ("object cannot be sliced", "slice indices must be integers", "an integer of the template is too large",
          "integer result of ** is too large", "to a fractional power is complex")
ADDRESS = re.compile(r"<built-in|0x[0-9a-f]{8}", re.IGNORECASE)  # of an object, in any disguise


def cases(args):
    """Yields (name, template, context)."""
    for number in range(args.count):
        seed = f"{args.seed}.{number}"
        yield f"seed {seed}", *case(seed)
    for number, template in itertools.islice(enumerate(template_table.cases()), args.seed % args.stride, None, args.stride):
        yield f"row {number}", template, template_table.CONTEXT


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("renderer")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stride", type=int, default=41, help="no multiple of 2, 3, 5 or 11, the factors of the table's lists, lest it sees some pairs only")
    args = parser.parse_args()
    chosen = []
    for name, template, context in cases(args):
        wanted = outcome(template, json.loads(json.dumps(context)))
        # Left out: what ran too long, or wrote out an object with its address.
        if wanted is not None and not ADDRESS.search(wanted.get("output", "") or ""):
            chosen.append((name, template, context, wanted))
    lines = "".join(json.dumps({"template": template, "context": context}) + "\n" for _, template, context, _ in chosen)
    ran = subprocess.run([args.renderer], input=lines, text=True, stdout=subprocess.PIPE)
    results = [json.loads(line) for line in ran.stdout.split("\n") if line]
    kinds, different = collections.Counter(), 0
    for (name, template, context, wanted), got in zip(chosen, results):
        if "output" in wanted:
            alike = got.get("output") == wanted["output"] or any(limit in got.get("error", "") for limit in LIMITS)
        else:
            # jinja2 puts the blocks together at the end, so that an exception raised after such a block is met first.
            alike = "error" in got and (wanted["error"] in (None, got["error"]) or "the block gives a value of type" in got["error"])
        kinds["rendered" if "output" in wanted else "failed" if wanted["error"] is None else "raised"] += 1
        if not alike:
            different += 1
            print(f"{name} differs\n  template {template!r}\n  context  {json.dumps(context, ensure_ascii=False)}\n  jinja2   {wanted}\n  ours     {got}")
    print(f"{len(results)} templates, seed {args.seed}: {dict(kinds)}, {different} differ")
    if different or len(results) != len(chosen) or ran.returncode != 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
