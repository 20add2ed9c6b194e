"""Do three formulations tell the same of a random mechanism, to what their certificates say, or say that they failed?"""

import time as clock
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from mechanisms import mechanism

import torsor as ts
from torsor import kernels
from torsor.registry import lookup

FORMULATIONS = ("absolute", "relative", "woronetz")
ENERGIES = ("kinetic_energy", "potential_energy")


@contextmanager
def quickly_compiled():
    """Kernels with the least effort of code generation, which takes most of the time where runs are short."""
    backend, kept = lookup("backend", "llvm")(level=0, share=10**9), (kernels.build, kernels.load)
    kernels.build, kernels.load = (partial(f, backend=backend) for f in kept)
    try:
        yield
    finally:
        kernels.build, kernels.load = kept


@dataclass
class Verdict:
    """What came of a model: outcomes by formulation (an error's text or ""), and what disagrees."""

    words: str
    outcomes: dict
    disagreement: str = ""
    size: float = 0.0
    seconds: float = 0.0
    spent: dict = field(
        default_factory=dict
    )  # by formulation: seconds to prepare, to run and to certify, steps, events


REASONS = (  # why a run was refused or is doubted: what its message contains
    "projection did not converge", "the wrong way round", "step became too small", "no longer finite", "cannot be assembled",
    "contradictory", "fire again and again", "at ever shorter intervals", "cannot be decided", "energy balance is lost",
    "a joint that is not unique", "cannot be certified",
    "far from satisfied", "broken by", "varies too fast",
)  # fmt: skip


def reason(text):
    """The kind of an outcome; its first words where it is of no known kind."""
    return next((words for words in REASONS if words in text), text[:100])


def judged(seed, sizes=True, most=6, rough=False, tolerance=1e-9, outputs=8):
    """Run a mechanism in three formulations, and compare."""
    model, until, words = mechanism(seed, sizes, most, rough)
    verdict, began = Verdict(words, {}), clock.perf_counter()
    asked = {"outputs": outputs, "tolerance": tolerance, "certify": True}
    runs = {
        name: run(partial(ts.simulate, model, until, formulation=name, **asked), name, verdict) for name in FORMULATIONS
    }
    verdict.seconds = clock.perf_counter() - began
    names = [name for name in FORMULATIONS if not verdict.outcomes[name]]  # what a run warned of is not silent
    verdict.disagreement = "".join(energy_defect(runs[name]) for name in names)
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            gap, at, allowed = difference(runs[a], runs[b])
            verdict.size = max(verdict.size, gap)
            if not gap <= allowed:
                verdict.disagreement += f"{a} and {b} differ by {gap:.1e} at t = {at:.3g} s, allowed {allowed:.1e}; "
    return verdict


def run(simulate, name, verdict):
    """The result of a run, or None if it is refused; its outcome and its costs are noted in the verdict."""
    data = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = simulate()
            outcome = "; ".join(f"warned: {w.message}" for w in caught)
        except ts.TorsorError as error:
            outcome = f"{type(error).__name__}: {error}"
    verdict.outcomes[name] = outcome
    if data is not None and "certify_seconds" in data.attrs:
        costs = ("prepare_seconds", "wall_seconds", "certify_seconds", "steps")
        verdict.spent[name] = [round(float(data.attrs[x]), 3) for x in costs] + [data.sizes.get("event", 0)]
    return data


def energy_defect(data):
    """What is wrong with the energy balance of a result, in words; "" where it is kept, or where nothing moves."""
    if "energy_balance_relative" not in data.attrs:  # of a study, or of steps from Python
        return ""
    balance = data.attrs["energy_balance_relative"]
    return "" if balance < 1e-4 or not moves(data) else f"{data.attrs['formulation']}: energy balance {balance:.1e}; "


def moves(data):
    """True if some body moves by more than rounding during a run."""
    length, until = data.attrs["model_length"], float(data.time[-1])
    fast = np.abs(data.velocity.values).max() / length, np.abs(data.angular_velocity.values).max()
    return max(fast) > 1e-10 / until


def difference(one, two, floor=1e-8):
    """Largest difference of two runs (positions over the size of the model, rotations) over what their certificates allow: the
    difference, when, and what is allowed. Only as far as both can be trusted."""
    length = one.attrs["model_length"]
    count = min(one.sizes["time"], two.sizes["time"])
    moved = np.abs(one.position.values[:count] - two.position.values[:count]).max(axis=(1, 2)) / length
    turned = np.abs(one.rotation.values[:count] - two.rotation.values[:count]).max(axis=(1, 2, 3))
    error = motion_error(one, two, count)
    return worst(one, np.maximum(moved, turned), floor + 10 * error, error)


def energy_difference(one, two, floor=1e-7):
    """Largest difference of kinetic energies, and of changes of potential energy, likewise, over the largest energy."""
    count = min(one.sizes["time"], two.sizes["time"])
    gap, allowed, rounding = 0.0, 0.0, 0.0
    largest = max(np.abs(one[name] - one[name][0] * k).values.max() for k, name in enumerate(ENERGIES))
    for k, name in enumerate(ENERGIES):  # the potential energy of a model that is shifted has another zero
        a, b = (data[name].values[:count] - k * data[name].values[0] for data in (one, two))
        gap = np.maximum(gap, np.abs(a - b))
        allowed += sum(float(data.get(f"{name}_error", 0.0)) for data in (one, two))
        rounding += 1e-13 * sum(np.abs(data[name].values).max() for data in (one, two))
    if largest == 0.0 or not moves(one):  # energies of rounding
        return 0.0, 0.0, 1.0
    allowed = floor + (10 * allowed + rounding) / largest
    error = motion_error(one, two, count)
    return worst(one, gap / largest, np.full(count, allowed), error)


def motion_error(one, two, count):
    """The sum of the measured errors of two runs, the largest so far; a run without certificate counts as the other one."""
    errors = [data.motion_error.fillna(0).values[:count] for data in (one, two) if "motion_error" in data]
    return np.maximum.accumulate(2 / len(errors) * sum(errors))


def worst(data, gap, allowed, error):
    """The gap that exceeds most what is allowed, as far as runs can be trusted: its size, time, and what is allowed."""
    seen = error < 1e-4
    if not seen.any():
        return 0.0, 0.0, 1.0
    k = int(np.argmax(np.where(seen, gap / allowed, 0.0))) if np.isfinite(gap).all() else 0
    return float(gap[k]), float(data.time[k]), float(allowed[k])
