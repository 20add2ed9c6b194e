"""Runs side by side: each lane of a kernel has the bits of the kernel alone, and each run those of the run alone."""

import ctypes

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor import kernels
from torsor.kernels.backends.llvm import LEVEL, LLVM
from torsor.kernels.emit import OPERATIONS
from torsor.run.many.lane_runner import LaneRunner
from torsor.studies import compiled_batch

UNARY = "NEG SQ TWICE INV NOT SIGN SQRT FABS FLOOR CEIL EXP LOG SIN COS TAN ASIN ACOS ATAN ERF SINH COSH TANH ATANH LOG1P EXPM1"
BINARY = "ADD SUB MUL DIV LT LE EQ NE AND OR FMIN FMAX IF_ELSE_ZERO COPYSIGN POW FMOD REMAINDER ATAN2 HYPOT"


@pytest.fixture(autouse=True)
def code_of_users(monkeypatch):
    """Lanes are not used where code is generated without effort."""
    monkeypatch.setenv(LEVEL, "2")


def compared(f, arrays, lanes=4):
    """A function by lanes and alone: arrays (lane, size)."""
    alone = kernels.build({"f": f})["f"]
    wide = kernels.build({"f": f}, backend=LLVM(lanes=lanes))["f"]
    inputs = [np.ascontiguousarray(x.T) for x in arrays]
    outputs = [np.zeros((alone.size_out(k), lanes)) for k in range(alone.n_out)]
    every = [*inputs, *outputs, np.zeros(max(1, wide.work_size))]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(every))(wide.address)(*[x.ctypes.data for x in every])
    for lane in range(lanes):
        for found, expected in zip(outputs, alone(*[x[lane] for x in arrays])):
            np.testing.assert_array_equal(found[:, lane], expected)


@pytest.mark.parametrize("lanes", [2, 4])
def test_every_operation_gives_each_lane_its_own_bits(lanes):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    operation = lambda name: getattr(ca, f"OP_{name}")
    found = [ca.SX.unary(operation(name), x) for name in UNARY.split()]
    found += [ca.SX.binary(operation(name), x, y) for name in BINARY.split()]
    found += [1.5 * x + y, x * y - 0.1 * (x - 2), ca.sin(x) * ca.cos(x) + ca.sin(y)]
    assert {*UNARY.split(), *BINARY.split()} <= set(OPERATIONS)
    random = np.random.default_rng(2)
    compared(
        ca.Function("f", [x, y], [ca.vertcat(*found)]), [random.uniform(0.1, 0.9, (lanes, 1)) for _ in range(2)], lanes
    )


def test_long_graphs_are_cut_into_parts():
    x = ca.SX.sym("x", 3)
    y = x
    for k in range(600):
        y = ca.vertcat(y[1] * y[2] + k, ca.sin(y[0]), y[1] - 0.5 * y[0])
    compared(ca.Function("f", [x], [y]), [np.random.default_rng(3).normal(size=(4, 3))])


@pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # of Euler's long steps
@pytest.mark.parametrize("method", ["rkmk4", "lie-euler"])
@pytest.mark.parametrize("runs", [3, 6])
def test_runs_side_by_side_have_the_bits_of_runs_alone(method, runs, monkeypatch):
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    a = model.body("a", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(0.5, 0, 0))
    b = model.body("b", mass=model.parameter("m", 1.0), inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    shoulder = model.add(ts.Revolute("A", model.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Spherical("B", a, b, point=(1, 0, 0)))
    model.add(ts.JointForce("motor", shoulder, model.input("u")))
    model.state("way", rate=b.velocity[0], start=1.0)
    went, run = [], LaneRunner.run
    monkeypatch.setattr(compiled_batch, "LANES_FROM", 1)
    monkeypatch.setattr(LaneRunner, "run", lambda self, *given: went.append(len(given[1])) or run(self, *given))
    random = np.random.default_rng(1)
    masses, u = random.uniform(0.5, 2, runs), random.normal(size=(runs, 5))
    options = {"method": method, "step": 0.013}
    for inputs in (None, {"u": u}):
        went.clear()
        data = ts.study(model, 0.3, {"m": masses}, inputs=inputs, outputs=7, **options)
        assert sum(went) == runs
        for k in range(runs) if inputs is None else ():
            alone = ts.simulate(model, 0.3, parameters={"m": masses[k]}, outputs=7, **options)
            for name in ("position", "rate", "work", "energy", "way"):
                np.testing.assert_array_equal(data[name][k], alone[name], err_msg=name)
            assert data.steps[k] == alone.attrs["steps"]
    last = ts.study(model, 0.3, {"m": masses}, inputs={"u": u}, reduce="last", **options)
    for k in range(runs):
        simulation = ts.Simulation(model, parameters={"m": masses[k]}, **options)
        for value in u[k]:
            simulation.advance(0.06, u=value)
        np.testing.assert_array_equal(last.coordinate[k], simulation.coordinates)
        np.testing.assert_array_equal(last.rate[k], simulation.rates)
