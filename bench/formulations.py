"""What a model costs in each formulation that can carry it, and what `formulation="auto"` takes, in one run.

    python bench/formulations.py [CASE …] [--json FILE] [--smoke]

evaluation   one evaluation of the equations of motion inside a compiled loop [µs]: a stage of a method where that is one kernel,
             else factor and rate
run          the time loop of `ts.simulate` with what the case recommends, kernels compiled beforehand [ms]

Best of several, time of the processor. Formulations take turns, so that all of them see the same machine. The ratio is that of
the formulation that is taken to the best; the bar is 1.2 for runs. An evaluation is not all of a run: constraints are projected on
after each step, and Woronetz's velocities are looked at anew where they become poor, whether others are chosen then or not.
"""

import argparse
import json
import time
import warnings
from types import SimpleNamespace

import numpy as np
from numba import njit

import torsor as ts
from torsor.kernels.kernel_address import call
from torsor.prepare.auto_formulation import choose
from torsor.prepare.prepare import prepare
from torsor.run import runner

CHOICES = ("absolute", "relative", "woronetz", "hierarchical")
LARGER = [
    ("chain", {"n": 30}),
    ("chain", {"n": 100}),
    ("four-bar", {"n": 10}),
    ("four-bar", {"n": 20}),
    ("four-bar", {"n": 40}),
]
BAR, REPEATS = 1.2, 7
runner.clock = SimpleNamespace(perf_counter=time.process_time)  # others may use the machine, too


@njit
def whole(address, arguments, count):
    for _ in range(count):
        call(address, arguments)


@njit
def parts(first, factor, second, rate, count):
    for _ in range(count):
        call(first, factor)
        call(second, rate)


def evaluation(model, formulation):
    """A function that times one evaluation [s], and how many operations it has."""
    system, built = prepare(model, formulation)
    full = lambda size: np.zeros(max(1, size))
    t, x, p = np.array([system.t]), system.state.join_blocks(system.q, system.v, system.p), np.append(system.p, 0.0)
    work = full(max(kernel.work_size for kernel in built.values()))
    if "stage" in built:
        stage, u = built["stage"], full(system.state.algebra)
        operations = stage.instructions
        looped = lambda n: whole(stage.address, (t, x, u, p, u.copy(), work), n)
    else:
        factor, rate = built["factor"], built["rate"]
        operations = factor.instructions + rate.instructions
        F, gains, outs = full(factor.size_out(0)), np.zeros(4), [full(rate.size_out(k)) for k in range(2)]
        looped = lambda n: parts(factor.address, (t, x, p, F, work), rate.address, (t, x, p, F, gains, *outs, work), n)
    looped(2)
    start = time.process_time()
    looped(20)
    count = max(20, int(0.02 / max((time.process_time() - start) / 20, 1e-8)))

    def seconds():
        start = time.process_time()
        looped(count)
        return (time.process_time() - start) / count

    return seconds, operations


def measured(name, options):
    """What is known about a case in every formulation that can carry it."""
    model, found, reasons = ts.cases.load(name, **options), {}, {}
    timers = {}
    for key in CHOICES:
        try:
            data = ts.simulate(model, **ts.cases.recommended(name), formulation=key)
            timers[key], operations = evaluation(model, key)
        except ts.TorsorError as error:
            reasons[key] = str(error).split(": ")[-1]
            continue
        counts = {what: data.attrs[what] for what in ("steps", "evaluations", "choices")}
        found[key] = {"operations": operations, "run": np.inf, "evaluation": np.inf, **counts}
    for _ in range(REPEATS):
        for key, one in found.items():
            data = ts.simulate(model, **ts.cases.recommended(name), formulation=key)
            one["run"] = min(one["run"], data.attrs["wall_seconds"])
            one["evaluation"] = min(one["evaluation"], timers[key]())
    return model, found, reasons


def told(name, options):
    """What was measured of a case, as text, and the ratio of what is taken to the best."""
    model, found, reasons = measured(name, options)
    chosen, lines = choose(model), []
    for key, one in found.items():
        mark = "*" if key == chosen.formulation else " "
        lines.append(
            f" {mark} {key:13s} evaluation {one['evaluation'] * 1e6:8.3f} us ({one['operations']:6d} operations)   run "
            f"{one['run'] * 1e3:8.3f} ms ({one['steps']} steps, {one['evaluations']} evaluations, {one['choices']} choices)"
        )
    lines += [f"   {key:13s} {reason}" for key, reason in reasons.items()]
    ratios = {
        what: found[chosen.formulation][what] / min(x[what] for x in found.values()) for what in ("run", "evaluation")
    }
    lines.append(f"   auto: {chosen.formulation}: {chosen.reason}")
    lines.append(f"   ratio to the best: run {ratios['run']:.2f}, evaluation {ratios['evaluation']:.2f}")
    return found, lines, ratios["run"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--json")
    parser.add_argument("--smoke", action="store_true", help="small sizes and no repetition: whether all of it runs")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    every = [(name, {}) for name in ts.cases.names()] + LARGER
    if asked.smoke:
        REPEATS, every = 1, [("pendulum", {}), ("four-bar", {"n": 1}), ("three-link", {})]
    kept, ratios = {}, {}
    for name, options in every:
        if asked.cases and name not in asked.cases:
            continue
        title = name + "".join(f" {k}={v}" for k, v in options.items())
        kept[title], lines, ratios[title] = told(name, options)
        print("\n".join([title, *lines]), flush=True)
        if asked.json:
            with open(asked.json, "w") as stream:
                json.dump(kept, stream)
    worst = max(ratios, key=ratios.get)
    print(f"\nlargest ratio of runs: {ratios[worst]:.2f}, {worst} (bar {BAR})")
    print("above the bar:", ", ".join(title for title, ratio in ratios.items() if ratio > BAR) or "none")
