"""Signals at random moments: a process that gets Ctrl-C or SIGTERM ends soon, with the usual status, and leaves nothing behind.

    python bench/interrupt.py [times] [seed]

Every session is a process of its own that imports torsor, describes a model, derives and compiles it with an empty cache, runs
it and writes the result; it gets one signal at a random moment of that. Counted are sessions that end late, with another
status or with a raw error, that leave a process behind, or whose result is missing although the run had begun.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 2.0  # seconds from the signal to the end
PYTHON = """
import torsor as ts
print("described", flush=True)
model = ts.cases.load("four-bar", n={n})
data = ts.simulate(model, {until}, outputs={outputs}, formulation={formulation!r})
print("done", flush=True)
"""
SESSIONS = {  # arguments of Python; what is empty before
    "Python, deriving": (["-c", PYTHON.format(n=12, until=1.0, outputs=10, formulation="absolute")], True),
    "Python, deriving in joint coordinates": (["-c", PYTHON.format(n=8, until=1.0, outputs=10, formulation="woronetz")], True),
    "Python, running": (["-c", PYTHON.format(n=2, until=1e6, outputs=1000, formulation="absolute")], False),
    "command line, deriving": (["-m", "torsor", *"run four-bar --set n=12 --until 1 --out result.nc".split()], True),
    "command line, running": (["-m", "torsor", *"run four-bar --until 1e6 --outputs 1000 --out result.nc".split()], False),
    "command line, writing": (["-m", "torsor", *"run four-bar --until 2 --outputs 30000 --out result.nc".split()], False),
    "command line, in a folder": (["-m", "torsor", *"run four-bar --until 1e6 --checkpoint kept".split()], False),
}  # fmt: skip
ALLOWED = {  # status by signal: killed by it, or left with the status that stands for it; 0: what was asked for was done
    signal.SIGINT: (-signal.SIGINT, 130, 0),
    signal.SIGTERM: (-signal.SIGTERM, 143, 0),
    signal.SIGKILL: (-signal.SIGKILL, 0),
}


def session(arguments, empty, number, after):
    """Start a session and signal it after some seconds. Returns status, seconds to its end, what it said, and problems."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | ({"TORSOR_CACHE": os.path.join(folder, "cache")} if empty else {})
        with tempfile.TemporaryFile("w+") as said:
            child = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=folder,
                env=environment,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            try:
                child.wait(after)
            except subprocess.TimeoutExpired:
                child.send_signal(number)
            began = time.perf_counter()
            try:
                status = child.wait(60)
            except subprocess.TimeoutExpired:
                status = "never"
            took = time.perf_counter() - began
            said.seek(0)
            text = said.read()
        problems = [] if status in ALLOWED[number] else [f"status {status}"]
        problems += [f"{took:.1f} s to its end"] if took > LIMIT else []
        problems += ["a process is left"] if _left(child.pid) else []
        if "Error" in text.replace("KeyboardInterrupt", ""):
            problems.append(text.strip().splitlines()[-1])
        if (
            "interrupted at t" in text
            and "result.nc" in arguments
            and not os.path.exists(os.path.join(folder, "result.nc"))
        ):
            problems.append("no result")
        if problems and child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        return status, took, text, problems


def _left(group, patience=3.0):
    """Whether a process of a session is still there, after a moment in which it may notice that it is alone."""
    until = time.perf_counter() + patience
    while time.perf_counter() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    return True


def whole(arguments, empty):
    """Seconds that a session takes which is left in peace, at most ten."""
    began = time.perf_counter()
    session(arguments, empty, signal.SIGTERM, 10.0)
    return time.perf_counter() - began


def main(times=70, seed=0):
    chance, failed, worst = random.Random(seed), 0, 0.0
    for name, (arguments, empty) in SESSIONS.items():
        patience, took = whole(arguments, empty), 0.0
        for _ in range(max(1, times // len(SESSIONS))):
            number, after = chance.choice(list(ALLOWED)), chance.uniform(0, patience)
            status, seconds, text, problems = session(arguments, empty, number, after)
            took = max(took, seconds)
            if problems:
                failed += 1
                print(f"{name}: {number.name} after {after:.2f} s: {'; '.join(problems)}", flush=True)
        worst = max(worst, took)
        print(f"{name}: {took:.2f} s at most from a signal to the end", flush=True)
    print(f"{failed} sessions did not end as they should; {worst:.2f} s at most")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*(int(x) for x in sys.argv[1:3])))
