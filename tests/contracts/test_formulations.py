"""Contract of every formulation: on every case that it can express, all bodies accelerate as in every other."""

import importlib
import inspect
import sys
from functools import cache

import models
import numpy as np
import pytest

import torsor as ts
from torsor import registry
from torsor.formulations import Formulation
from torsor.start.constraints import Examiner

STATES = 20
OTHERS = [key for key in ts.registered("formulation") if key != "absolute"]
CASES = [name for name in models.compared_cases() if name not in ("satellite", "pendulum")]  # an alias; a particle
SMALL: dict = {"train": {"n": 1}, "bush": {"n": 1}}  # cases of any size
RUN_ON_LARGE = {
    "andrews": "hamiltonian", "bush": "woronetz", "car": "hierarchical", "chain": "hamiltonian", "manipulator": "relative",
    "panels": "relative-first", "train": "hierarchical",
}  # fmt: skip


@cache
def model_of(case):
    return ts.cases.load(case, **SMALL.get(case, {}))


@cache
def consistent_states(case, count=STATES, seed=11):
    """The dynamics in absolute coordinates, and random states that satisfy the constraints, with accelerations."""
    model = model_of(case)
    dynamics = ts.compile(model, formulation="absolute")
    f = ts.registered("formulation")["absolute"](model)
    examiner = Examiner(f, dynamics.system.length)
    random = np.random.default_rng(seed)
    q, states = dynamics.q, []
    for _ in range(count):
        wandered = examiner.sample_nearby(0.0, q, dynamics.p, random, 0.3)
        q = q if wandered is None else wandered
        v = dynamics.v + random.standard_normal(len(dynamics.v))
        q, v = dynamics.projected(q, v)
        states.append((q, v, dynamics.accelerations(q, v)))
    return dynamics, states


@cache
def in_absolute_coordinates(case):
    """How long a case is run, and its result."""
    span = min(ts.cases.until(case), 0.6)  # the four-bar meets its first singular position at 0.71 s
    return span, ts.simulate(model_of(case), span, outputs=20, tolerance=1e-11, formulation="absolute")


def runs(case, key):
    """Whether a formulation is run on a case: one formulation on each of the largest cases, all others on all other cases. Absolute
    coordinates with momenta are those with velocities in other units, and rotations in the place of angles change only these."""
    if case in RUN_ON_LARGE:
        return key == RUN_ON_LARGE[case]
    few = key in ("hamiltonian-absolute", "hamiltonian-rotations", "kane")
    return not few or case in ("booster", "four-bar", "heavy-top", "platform", "snakeboard")


def apart_by_momenta(dynamics, q, v, p):
    """How far accelerations that follow from π̇ are from those that are solved for."""
    t, F = np.zeros(1), dynamics.kernels["factor"](np.zeros(1), q, p)[0]
    rate = dynamics.kernels["forces"](t, q, v, p, F)[0]
    found, expected = dynamics.kernels["later"](t, q, v, p, F, rate)[0], dynamics.accelerations(q, v, p=p)
    return np.abs(found - expected).max() / max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("key", OTHERS)
def test_bodies_accelerate_and_move_as_in_absolute_coordinates(case, key):
    if key != "hamiltonian-absolute":  # it solves as absolute does
        accelerations_agree(case, key)
    if runs(case, key):
        results_agree(case, key)


def accelerations_agree(case, key):
    worst, (absolute, states) = 0.0, consistent_states(case)
    other = ts.compile(model_of(case), formulation=key)
    f = other.formulation_object
    for q, v, expected in states:
        x, u, p = f.adopt(0.0, q, v, absolute.p)
        got = other.body_accelerations(x, u, p=p)
        worst = max(worst, np.abs(got - expected).max() / max(1.0, np.abs(expected).max()))
        if f.conjugate:
            worst = max(worst, apart_by_momenta(other, x, u, p))
    # rounding, times the condition of the mass matrix and of the loops (up to 1e4); and of rotation vectors near a full turn
    assert worst < (1e-9 if key == "relative-first" else 1e-10)


def results_agree(case, key):
    """Bodies, joints, reactions and energies of a short run, adaptive: to the tolerance, not to rounding."""
    span, one = in_absolute_coordinates(case)
    two = ts.simulate(model_of(case), span, outputs=20, tolerance=1e-11, formulation=key)
    for name in ("position", "rotation", "velocity", "angular_velocity", "coordinate", "rate", "energy", "work"):
        a, b = one[name].values, two[name].values
        assert np.abs(a - b).max(initial=0.0) < 1e-7 * (1 + np.abs(a).max(initial=0.0)), name
    for name, flag in (("reaction_force", "reaction_unique"), ("reaction_torque", "reaction_torque_unique")):
        unique = one[flag].values
        assert (unique == two[flag].values).all()  # what is not unique does not depend on the coordinates
        a, b = one[name].values[:, unique], two[name].values[:, unique]
        assert np.abs(a - b).max(initial=0.0) < 1e-6 * (1 + np.abs(a).max(initial=0.0)), name


def test_the_contract_is_documented_and_kept():
    """Every method that a formulation has to define says what it is, and every registered one defines them all."""
    for name in Formulation.__abstractmethods__:
        assert inspect.getdoc(getattr(Formulation, name)), name
    for cls in ts.registered("formulation").values():
        assert issubclass(cls, Formulation) and not cls.__abstractmethods__


def test_a_changed_formulation_of_ones_own_is_derived_anew(tmp_path, monkeypatch):
    """Its source is part of what stored kernels stand for, in a file or without one."""
    text = "import torsor as ts\nfrom torsor.formulations.absolute import Absolute\n\n\n@ts.register('own')\n"
    text += "class Own(Absolute):\n    def forces(self):\n        return {} * super().forces()\n"
    monkeypatch.setitem(registry._TABLE, "formulation", dict(registry._TABLE["formulation"]))
    monkeypatch.syspath_prepend(tmp_path)
    falls = []
    for k, factor in enumerate((1, 2)):
        model = ts.Model("stone", gravity=(0, 0, -10))
        model.body("stone", mass=1.0, inertia=0)
        (tmp_path / "own.py").write_text(text.format(factor))
        importlib.invalidate_caches()
        sys.modules.pop("own", None)
        if k == 0:
            importlib.import_module("own")
        else:
            exec(text.format(factor), {"__name__": "own"})
        dynamics = ts.compile(model, formulation="own")
        falls.append(dynamics.accelerations(dynamics.q, dynamics.v).ravel()[2])
    sys.modules.pop("own", None)
    np.testing.assert_allclose(falls, [-10, -20])
