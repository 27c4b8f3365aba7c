"""Benchmark rows: medians with bootstrap intervals, a printed table, build/bench/NAME.json, the exit status."""
import json, pathlib, random, statistics, sys


def percentile(values, share):
    values = sorted(values)
    position = share * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)


def interval(values, statistic=statistics.median, draws=2000):
    """95 % bootstrap interval of a statistic."""
    rng = random.Random(1)
    drawn = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(draws))
    return drawn[int(0.025 * draws)], drawn[int(0.975 * draws) - 1]


class Rows:
    """Collects rows {name, value, low, high, unit, wanted, ok, ...}. `ok` is True when the whole interval reaches what is
    wanted, False when none of it does, None (inconclusive) between; a row with nothing wanted is informative."""

    def __init__(self, bench):
        self.bench, self.rows = bench, []

    def add(self, name, value, unit, wanted=None, low=None, high=None, at_most=False, **more):
        low = value if low is None else low
        high = value if high is None else high
        ok = None
        if wanted is not None:
            reach = [(x <= wanted) if at_most else (x >= wanted) for x in (low, high)]
            ok = True if all(reach) else None if any(reach) else False
        self.rows.append(dict(name=name, value=value, low=low, high=high, unit=unit, wanted=wanted,
                              bound=None if wanted is None else "at most" if at_most else "at least", ok=ok, **more))

    def samples(self, name, values, unit, wanted=None, statistic=statistics.median, at_most=False, **more):
        low, high = interval(values, statistic)
        self.add(name, statistic(values), unit, wanted, low, high, at_most, samples=len(values), **more)

    def finish(self):
        show = lambda x: "" if x is None else f"{x:,.3g}" if abs(x) < 100 else f"{x:,.0f}"
        print(f"\n{'':44} {'value':>9} {'95 % interval':>19} {'unit':12} {'wanted':>14}  ok")
        for r in self.rows:
            wanted = "" if r["wanted"] is None else f"{r['bound']} {show(r['wanted'])}"
            ok = {True: "yes", False: "NO", None: "" if r["wanted"] is None else "inconclusive"}[r["ok"]]
            extra = "  ".join(f"{k}={show(v) if isinstance(v, float) else v}" for k, v in r.items()
                              if k in ("peer_value", "roof_share", "output_hash"))
            print(f"{r['name']:44} {show(r['value']):>9} {show(r['low']) + ' – ' + show(r['high']):>19} {r['unit']:12} {wanted:>14}  {ok:12} {extra}")
        out = pathlib.Path("build/bench") / f"{self.bench}.json"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(self.rows, indent=1) + "\n")
        judged = [r["ok"] for r in self.rows if r["wanted"] is not None]
        sys.exit(1 if False in judged else 2 if None in judged else 0)
