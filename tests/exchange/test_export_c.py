"""Exported C code: it compiles without a warning, has the bits of the equations, and steps as the method says."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.prepare.auto_formulation import choose_and_prepare
from torsor.prepare.state_space import kernels_of
from torsor.registry import lookup

STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
A = np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]])
B = np.array([1, 2, 2, 1]) / 6
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")


class Exported:
    """A compiled C file, and the kernels that it is made of, evaluated by CasADi."""

    def __init__(self, name, formulation, folder):
        model = ts.cases.load(name)
        source, library = folder / "four_bar.c", folder / "four_bar.so"
        ts.export_c(model, source, formulation=formulation)
        subprocess.run(["gcc", *STRICT, "-fPIC", "-shared", "-o", library, source, "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        _, system, _ = choose_and_prepare(model, formulation)
        f = lookup("formulation", formulation)(model).with_choice(system.choice)
        self.system, self.kernels = system, kernels_of(f, "exp", False, {})
        sizes = {"x": system.state.x, "p": max(len(system.p), 1)}
        vectors = [("t", ctypes.c_double), *[(k, ctypes.c_double * n) for k, n in sizes.items()]]
        self.State = type("State", (ctypes.Structure,), {"_fields_": vectors})

    def start(self):
        """The start of the C code."""
        state = self.State()
        self.library.four_bar_init(ctypes.byref(state))
        return state

    def rate(self, t, x):
        """ẋ by CasADi's own evaluation."""
        F = self.kernels["factor"](t, x, self.system.p)
        return self.kernels["rate"](t, x, self.system.p, F, np.zeros(4))[0].full().ravel()

    def step(self, t, x, h):
        """A step of order 4 with projection, written again with NumPy."""
        K = [self.rate(t, x)]
        for i in range(1, 4):
            u = h * (A[i, :i] @ np.array(K))
            xdot = self.rate(t + A[i].sum() * h, self.kernels["retract"](x, u).full().ravel())
            K.append(self.kernels["differential"](u, xdot).full().ravel())
        x = self.kernels["advance"](x, h * (B @ np.array(K))).full().ravel()
        for name in ("positions",) * 3 + ("velocities",) * 2 if self.system.keep else ():
            F = self.kernels["factor"](t + h, x, self.system.p)
            x = self.kernels[name](t + h, x, self.system.p, F)[0].full().ravel()
        return x


@needs_gcc
@pytest.mark.parametrize("name, formulation", [("four-bar", "relative"), ("heavy-top", "absolute")])
def test_accelerations_have_the_same_bits_and_steps_agree(name, formulation, tmp_path):
    made = Exported(name, formulation, tmp_path)
    state, nq, nv = made.start(), made.system.state.q, made.system.state.v
    assert np.array_equal(state.x[:nq], made.system.q)
    a = (ctypes.c_double * nv)()
    random = np.random.default_rng(1)
    for k in range(3):
        x = np.array(made.start().x[:])
        x[nq : nq + nv] += k * random.normal(size=nv)
        state.t, state.x[:] = 0.1 * k, x
        assert made.library.four_bar_accelerations(ctypes.byref(state), a) == 0
        assert np.array_equal(a[:], made.rate(0.1 * k, x)[nv : 2 * nv])
    state = made.start()
    x, h = np.array(state.x[:]), 1e-3
    for k in range(5):
        x = made.step(k * h, x, h)
        assert made.library.four_bar_step(ctypes.byref(state), ctypes.c_double(h)) == 0
    assert np.abs(np.array(state.x[:]) - x).max() <= 1e-13 * np.abs(x).max()  # sums of stages in another order


def test_what_is_not_supported_is_refused_in_words(tmp_path):
    model = ts.cases.load("pendulum")
    with pytest.raises(ts.OptionError, match="suffix .c"):
        ts.export_c(model, tmp_path / "a.txt")
    with pytest.raises(ts.OptionError, match="explicit one"):
        ts.export_c(model, tmp_path / "a.c", method="radau5")
    with pytest.raises(ts.OptionError, match="positive number"):
        ts.export_c(model, tmp_path / "a.c", step=-1)
    with pytest.raises(ts.ModelError, match="has events .*not support"):
        ts.export_c(ts.cases.load("booster"), tmp_path / "a.c")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_c_code(tmp_path):
    assert status_of(["export", "pendulum", str(tmp_path / "p.c"), "--step", "0.01"]) == 0
    assert "p_step" in (tmp_path / "p.c").read_text()
    assert status_of(["export", "booster", str(tmp_path / "b.c")]) == 2
