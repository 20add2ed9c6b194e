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
    "far from satisfied", "broken by", "changes too fast",
)  # fmt: skip


def reason(text):
    """The kind of an outcome; its first words where it is of no known kind."""
    return next((words for words in REASONS if words in text), text[:100])


def judged(seed, sizes=True, most=6, rough=False, tolerance=1e-9, outputs=8):
    """Run a mechanism in three formulations, and compare."""
    model, until, words = mechanism(seed, sizes, most, rough)
    runs, outcomes, spent, began = {}, {}, {}, clock.perf_counter()
    for formulation in FORMULATIONS:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                data = ts.simulate(
                    model, until, outputs=outputs, formulation=formulation, tolerance=tolerance, certify=True
                )
            runs[formulation], outcomes[formulation] = data, "; ".join(f"warned: {w.message}" for w in caught)
            what = ("prepare_seconds", "wall_seconds", "certify_seconds", "steps")
            spent[formulation] = [round(float(data.attrs[x]), 3) for x in what] + [data.sizes.get("event", 0)]
        except ts.TorsorError as error:
            outcomes[formulation] = f"{type(error).__name__}: {error}"
    verdict = Verdict(words, outcomes, seconds=clock.perf_counter() - began, spent=spent)
    for name, data in runs.items():
        balance = data.attrs["energy_balance_relative"]
        moves = (
            np.abs(data.kinetic_energy.values).max()
            > 1e-20 * mass_of(model) * (data.attrs["model_length"] / until) ** 2
        )
        if moves and not balance < 1e-4 and not outcomes[name]:
            verdict.disagreement += f"{name}: energy balance {balance:.1e}; "
    names = [name for name in runs if not outcomes[name]]  # what a run warned of is not silent
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            gap, at, allowed = difference(runs[a], runs[b])
            verdict.size = max(verdict.size, gap)
            if not gap <= allowed:
                verdict.disagreement += f"{a} and {b} differ by {gap:.1e} at t = {at:.3g} s, allowed {allowed:.1e}; "
    return verdict


def mass_of(model):
    return sum(float(b.mass) for b in model.bodies)


def difference(one, two, floor=1e-8):
    """Largest difference of two runs (positions over the size of the model, rotations) over what their certificates allow: the
    difference, when, and what is allowed. Only as far as both can be trusted."""
    error = one.motion_error.fillna(0).values + two.motion_error.fillna(0).values
    length = one.attrs["model_length"]
    count = min(one.sizes["time"], two.sizes["time"])
    moved = np.abs(one.position.values[:count] - two.position.values[:count]).max(axis=(1, 2)) / length
    turned = np.abs(one.rotation.values[:count] - two.rotation.values[:count]).max(axis=(1, 2, 3))
    gap, allowed = np.maximum(moved, turned), floor + 10 * np.maximum.accumulate(error[:count])
    seen = np.maximum.accumulate(error[:count]) < 1e-4
    if not seen.any():
        return 0.0, 0.0, 1.0
    worst = int(np.argmax(np.where(seen, gap / allowed, 0.0))) if np.isfinite(gap).all() else 0
    return float(gap[worst]), float(one.time[worst]), float(allowed[worst])
