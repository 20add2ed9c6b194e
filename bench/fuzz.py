"""Random calls of the public interface: nothing but errors that torsor means, no crash, no hang.

    python bench/fuzz.py --calls 10000 --seed 1 [--first 0] [--batch 250]

Each batch runs in a process of its own, with a time limit.
"""

import argparse
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "errors"))


def main():
    from fuzzing import batch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--batch", type=int, default=250)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a batch")
    a = parser.parse_args()
    counts, bad, at, last = collections.Counter(), 0, a.first, a.first + a.calls
    while at < last:
        ended, reached = batch(a.seed, at, min(at + a.batch, last), a.limit)
        for k, what in ended.items():
            counts[what.split()[0]] += 1
            if what.startswith("raw"):
                bad += 1
                print(f"{k}: {what}", flush=True)
        at = max(reached, at) + 1
    print(f"{sum(counts.values())} calls from {a.first} of seed {a.seed}: {dict(counts)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
