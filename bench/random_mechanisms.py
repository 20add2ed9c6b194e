"""Random mechanisms in three formulations: do they agree, or say that they failed?

    python bench/random_mechanisms.py --models 2000 --seed 1 --first 0

A run of some models can be continued with --first. Silent disagreements are listed; the exit status says whether there were any.
"""

import argparse
import collections
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "physics"))


def main():
    from mechanisms import judged

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="only sizes of about 1")
    parser.add_argument("--bodies", type=int, default=6, help="at most so many")
    a = parser.parse_args()
    counts, silent, began = collections.Counter(), 0, time.perf_counter()
    for k in range(a.first, a.first + a.models):
        try:
            verdict = judged([a.seed, k], sizes=not a.plain, most=a.bodies)
        except Exception as error:  # a raw error is a failure of torsor: told, and the others go on
            silent += 1
            print(f"{k}: RAW {type(error).__name__}: {error}\n{traceback.format_exc(limit=-3)}", flush=True)
            continue
        if verdict.seconds > 20:
            print(f"{k}: took {verdict.seconds:.0f} s [{verdict.words}]", flush=True)
        failed = [name for name, text in verdict.outcomes.items() if text]
        counts[f"{3 - len(failed)} of 3 finished"] += 1
        for name in failed:
            print(f"{k}: {name}: {verdict.outcomes[name][:230]} [{verdict.words}]", flush=True)
        if verdict.disagreement:
            silent += 1
            print(f"{k}: SILENT {verdict.disagreement} [{verdict.words}]", flush=True)
    told = ", ".join(f"{name}: {n}" for name, n in sorted(counts.items()))
    print(
        f"{a.models} models from {a.first} of seed {a.seed}: {silent} silent; {told}; {time.perf_counter() - began:.0f} s"
    )
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
