"""Random mechanisms in three formulations: do they agree, or say that they failed?

    python bench/random_mechanisms.py --models 2000 --seed 1 --report random.jsonl
    python bench/random_mechanisms.py --models 2000 --seed 1 --variants --report variants.jsonl

With --variants a model runs as it is and as one variant of tests/physics/variants.py, in random formulations.

One line of the report is one model, written when it is done; a report that is there already is gone on with. Models are judged
one after the other by another process: one that takes longer than --limit seconds on the processor, or that crashes it, ends
that process and nothing else. The exit status says whether there was a silent disagreement, a raw error or a crash.
"""

import argparse
import collections
import faulthandler
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import asdict

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "physics"))
LASTS = 50  # models that one process judges: what it has compiled is let go with it


def judge(asked, told, limit, manner):
    """The other process: judges the models that it is asked for."""
    from agreement import judged, quickly_compiled
    from variants import VARIANTS, judge_variant

    names = list(VARIANTS) if manner.pop("variants") else []
    faulthandler.enable()  # a crash says where it was
    for seed in iter(asked.recv, None):
        signal.setitimer(signal.ITIMER_PROF, limit)  # which ends this process
        began = time.process_time()
        try:
            with quickly_compiled():
                if names:
                    found = asdict(judge_variant(seed, names[seed[1] % len(names)], **manner))
                else:
                    found = asdict(judged(seed, **manner))
        except Exception as error:  # a raw error is a failure of torsor: told, and the others go on
            found = {"raw": f"{type(error).__name__}: {error}", "trace": traceback.format_exc(limit=-3)}
        signal.setitimer(signal.ITIMER_PROF, 0)
        told.send(found | {"seconds": round(time.process_time() - began, 2)})


class Judge:
    """The other process, started when it is needed."""

    def __init__(self, *manner):
        self.manner, self.process, self.count = manner, None, 0

    def __call__(self, seed):
        if self.process is None:
            theirs, self.ask = multiprocessing.Pipe(duplex=False)
            self.tell, mine = multiprocessing.Pipe(duplex=False)
            start = multiprocessing.get_context("spawn").Process
            self.process, self.count = start(target=judge, args=(theirs, mine, *self.manner), daemon=True), 0
            self.process.start()
            theirs.close(), mine.close()
        self.ask.send(seed)
        self.count += 1
        try:
            found = self.tell.recv()
        except EOFError:
            self.process.join()
            late = self.process.exitcode == -signal.SIGPROF
            found = {"ended": "took too long" if late else f"crashed: exit status {self.process.exitcode}"}
            self.process = None
        if self.count >= LASTS:
            self.close()
        return found

    def close(self):
        if self.process is not None:
            self.ask.send(None)
            self.process.join()
            self.process = None


def outcome(found):
    """What came of a model, in a few words, and whether that must not be."""
    if "raw" in found or "ended" in found:
        return found.get("ended") or f"raw {found['raw']}", found.get("ended") != "took too long"
    if found["disagreement"]:
        return f"SILENT {found['disagreement']}", True
    failed = [name for name, text in found["outcomes"].items() if text and not text.startswith("warned")]
    warned = [name for name, text in found["outcomes"].items() if text.startswith("warned")]
    return f"{len(found['outcomes']) - len(failed)} of {len(found['outcomes'])} finished" + (
        f", {len(warned)} with a warning" if warned else ""
    ), False


def summary(lines):
    from agreement import reason

    kinds, reasons = collections.Counter(), collections.Counter()
    for found in lines:
        text, wrong = outcome(found)
        kinds[text.split(" ", 1)[0] if wrong else text] += 1
        for name, said in found.get("outcomes", {}).items():
            if said:
                reasons[f"{name}: {reason(said)}"] += 1
    told = [f"{len(lines)} models", *(f"  {n:5d}  {text}" for text, n in sorted(kinds.items()))]
    return "\n".join(told + ["refused or warned"] + [f"  {n:5d}  {text}" for text, n in reasons.most_common()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="only sizes of about 1")
    parser.add_argument("--rough", action="store_true", help="with floors and dry friction")
    parser.add_argument("--variants", action="store_true", help="turned, included, inactive, inputs, stiff by turns")
    parser.add_argument("--bodies", type=int, default=6, help="at most so many")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds on the processor for one model")
    parser.add_argument("--report", type=pathlib.Path, help="file of lines, one per model")
    a = parser.parse_args()
    known = [json.loads(x) for x in a.report.read_text().splitlines()] if a.report and a.report.exists() else []
    lines = {x["seed"][1]: x for x in known if x["seed"][0] == a.seed}
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TORSOR_CACHE", cache)
        judging = Judge(a.limit, {"sizes": not a.plain, "most": a.bodies, "rough": a.rough, "variants": a.variants})
        for k in range(a.first, a.first + a.models):
            if k in lines:
                continue
            lines[k] = {"seed": [a.seed, k]} | judging([a.seed, k])
            text, _ = outcome(lines[k])
            print(f"{k}: {text} [{lines[k].get('words', '')}] {lines[k].get('seconds', a.limit):.1f} s", flush=True)
            if a.report:
                with a.report.open("a") as report:
                    report.write(json.dumps(lines[k]) + "\n")
        judging.close()
    asked = [lines[k] for k in range(a.first, a.first + a.models)]
    print(summary(asked))
    return 1 if any(outcome(x)[1] for x in asked) else 0


if __name__ == "__main__":
    sys.exit(main())
