"""Kernels of methods that solve equations of the formulation itself in each step: variational methods, and methods that define
their equations. As in `state_space.py`, they are functions of states."""

import casadi as ca

from ..elements.quantity import split_column, time
from ..formulations.graphs import variational_equations
from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..kernels.signatures import SIGNATURES
from ..methods.integrator import keys_with_equations
from ..registry import lookup


def parts(f, map, needs, states, rates):
    """Functions of configuration and velocities, by name, from which these kernels are built.

    states   indices of the user's states in p
    rates    their rates as a function (t, q, v, p, a, λ)
    """
    functions: dict = {}
    if "leap" in needs:
        functions |= variational_equations.functions(f, map)
    for key in keys_with_equations(needs):
        functions |= lookup("integrator", key).equations(f, map, states, rates)
    return functions


def kernel(state, name):
    """The kernel of this name, for the `StateKernels` of a run."""
    return {"landing": _landing, "acceleration": _acceleration}.get(name, _solution)(state, name)


def landing_slope(state, kernels):
    """Kernel of the Jacobian of the rates of the user's states with respect to the states at the end of a discrete step, column by
    column. It contains the direct dependence, and the one through the end velocities, which the states act on.

    kernels   those of every run, and `landing`
    """
    y = ca.SX.sym("y", state.layout.x)
    vectors = {"t": time, "h": ca.SX.sym("h"), "x": state.x, "y": y, "p": state.p, "lam": state.lam}
    landing = kernels["landing"]
    for name, size in (("d", landing.size_in(6)[0]), ("m", landing.size_in(7)[0])):
        vectors[name] = ca.SX.sym(name, size)
    b = landing(*[vectors[name] for name in SIGNATURES["landing"].takes])
    end = ca.vertcat(state.q(y), b, state.rest(y))
    t1 = time + vectors["h"]
    factor = kernels["factor"](t1, end, state.p)
    xdot, _ = kernels["rate"](t1, end, state.p, factor, ca.SX.zeros(state.gains.shape))
    z = split_column(state.rest(y), 1)[1]
    zdot = split_column(state.blocks(xdot)[2], 1)[1]
    return eliminate_common_subexpressions(
        _function("landing_slope", vectors, [ca.vec(ca.densify(ca.jacobian(zdot, z)))])
    )


def _call_with_states(state, name):
    """Call the part of this name with blocks of states. Returns the vectors that a kernel of it may take, by name, and the
    results.

    The names of the part's arguments say what it takes: t and q are those of the start of the step. p and `efforts` are those of
    its end if the kernel takes the end state y, as far as it is known. Arguments with other names become vectors of the kernel.
    """
    part = state.parts[name]
    y = ca.SX.sym("y", state.layout.x)
    vectors = {"t": time, "h": ca.SX.sym("h"), "x": state.x, "y": y, "p": state.p, "lam": state.lam}
    end = y if "y" in SIGNATURES[name].takes else state.x
    efforts = part.size_in(part.index_in("efforts"))[0]
    values = {
        "t": time, "h": vectors["h"], "q": state.q(state.x), "q1": state.q(y), "v": state.v(state.x), "p": state.inputs(end),
        "efforts": split_column(state.lam, state.lam.shape[0] - efforts)[1],
    }  # fmt: skip
    if "pi" in part.name_in():
        values["pi"] = state.velocity_block.momenta(state.q(state.x), state.y(state.x), state.inputs(state.x))
    for k, argument in enumerate(part.name_in()):
        if argument not in values:
            values[argument] = vectors[argument] = ca.SX.sym(argument, part.size_in(k)[0])
    return vectors, part.call([values[argument] for argument in part.name_in()])


def _function(name, vectors, results):
    """A kernel with the arguments that its signature declares, and dense results."""
    return ca.Function(name, [vectors[each] for each in SIGNATURES[name].takes], [ca.densify(x) for x in results])


def _solution(state, name):
    """Kernel of a part whose results are used as they are."""
    return _function(name, *_call_with_states(state, name))


def _landing(state, name):
    """Kernel of the velocity block at the end of a variational step."""
    vectors, (both,) = _call_with_states(state, name)
    v, pi, _ = split_column(both, state.layout.v, state.layout.v)
    return _function(name, vectors, [state.velocity_block.from_either(v, pi, state.inputs(vectors["y"]))])


def _acceleration(state, name):
    """Kernel of v̇ from a rate ẋ."""
    x = state.x
    xdot = state.xdot
    a = state.velocity_block.accelerations(state.q(x), state.v(x), state.inputs(x), state.blocks(xdot)[1])
    return _function(name, {"t": time, "x": x, "p": state.p, "xdot": xdot}, [a])
