"""Model files with random damage: each is read or refused by one message; nothing crashes, hangs or is executed.

    python bench/fuzz_model_files.py --files 100000 --seed 1
    python bench/fuzz_model_files.py --smoke

Files are those of cases, changed by mutations of characters, lines, keys, numbers and names, and by bombs: aliases, deep nesting,
long and huge numbers. A file that takes longer than 5 s of processor time counts as hung. The exit
status says whether there was any.
"""

import argparse
import collections
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings

import torsor as ts
from torsor.store.model_files.save_model import model_text

LIMIT = 5.0  # s for one file
CASES = ("pendulum", "four-bar", "slider-crank", "governor", "chain", "cart-pole", "heavy-top", "gearbox")
WRONG_WORDS = ("null", "true", ".nan", ".inf", "1e999", "-0", "[]", "{}", "''",
         "!!python/object/apply:os.system ['touch HACKED']", "*a", "&a", "__import__('os').system('touch HACKED')", "time",
    "ground", "9" * 400,
         "0x1F", "1_000", "12 mm", "3 parsecs", "- - -", "? :",
         "<<: *a", "%YAML 9", "---", "\x00", "\ufeff", "e" * 5000)  # fmt: skip


def mutate(text, rng):
    """A file with some damage."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        kind = rng.randrange(9)
        if kind == 0 and text:
            at = rng.randrange(len(text))
            text = text[:at] + chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x300)))) + text[at + 1 :]
        elif kind == 1:
            text = "\n".join(lines[:k] + lines[k + 1 :])
        elif kind == 2:
            text = "\n".join(lines[:k] + [lines[k]] * rng.choice((2, 3)) + lines[k + 1 :])
        elif kind == 3:
            head, colon, _ = lines[k].partition(":")
            text = "\n".join(lines[:k] + [head + colon + " " + rng.choice(WRONG_WORDS)] + lines[k + 1 :])
        elif kind == 4:
            words = lines[k].split(" ")
            words[rng.randrange(len(words))] = rng.choice(WRONG_WORDS)
            text = "\n".join([*lines[:k], " ".join(words), *lines[k + 1 :]])
        elif kind == 5:
            other = rng.randrange(len(lines))
            lines[k], lines[other] = lines[other], lines[k]
            text = "\n".join(lines)
        elif kind == 6:
            text = "\n".join([*lines[:k], " " * rng.randrange(8) + lines[k].lstrip(), *lines[k + 1 :]])
        elif kind == 7:
            text = text[: rng.randrange(len(text) + 1)]
        else:
            text = bomb(text, rng)
    return text


def bomb(text, rng):
    """Aliases that repeat each other, deep nesting, and expressions that grow."""
    depth = rng.choice((5, 30, 300, 3000))
    grow = "".join(f"  a{k}: a{k - 1} * a{k - 1} + a{k - 1}\n" for k in range(1, min(depth, 60)))
    kinds = (
        "\nx0: &x0 [1]\n" + "".join(f"x{k}: &x{k} [*x{k - 1}, *x{k - 1}, *x{k - 1}]\n" for k in range(1, min(depth, 40))),
        "\nsignals:\n  deep: " + "[" * depth + "1" + "]" * depth + "\n",
        "\nsignals:\n  deep: " + "(" * depth + "1" + ")" * depth + "\n",
        "\nlet:\n  a0: time\n" + grow + "signals: {big: a4}\n",
        "\nsignals: {power: 9**9**9**9**9}\n", "\nsignals: {power: " + "-" * depth + "1}\n",
        "\nbodies: " + "{a: " * depth + "1" + "}" * depth + "\n",
    )  # fmt: skip
    return text + rng.choice(kinds)


class Hang(BaseException):
    """A file took too long."""


def end_hang(*_):
    raise Hang


def judge(path):
    """What became of a file: "read", "refused", or what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        ts.read(path)
        return "read", ""
    except ts.TorsorError as error:
        return ("refused", "") if str(error) else ("empty message", "")
    except Hang:
        return "hang", traceback.format_exc(limit=-3)
    except BaseException:
        return "raw error", traceback.format_exc(limit=-4)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run(count, seed, folder, seconds=float("inf")):
    """Counts of results of `count` files."""
    texts = [model_text(ts.cases.load(name)) for name in CASES]
    signal.signal(signal.SIGPROF, end_hang)
    path, counts, end = os.path.join(folder, "fuzz.yaml"), collections.Counter(), time.time() + seconds
    for k in range(count):
        rng = random.Random(f"{seed}/{k}")
        text = mutate(rng.choice(texts), rng)
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        kind, trace = judge(path)
        counts[kind] += 1
        if kind not in ("read", "refused"):
            with open(os.path.join(folder, f"found_{seed}_{k}.yaml"), "w") as file:
                file.write(text)
            print(f"{seed}/{k}: {kind}\n{trace}", flush=True)
        if time.time() > end:
            break
    counts["executed"] = int(os.path.exists("HACKED"))
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = run(20 if given.smoke else given.files, given.seed, folder, given.seconds)
    print(dict(found))
    sys.exit(bool(sum(found.values()) - found["read"] - found["refused"]))
