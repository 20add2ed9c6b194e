"""Bounds on how fast a watched function may vary, from its expression. The error control of an integrator does not see this.

A function φ of a phase α repeats itself, or takes all its values, while α runs over a few units. Even if the motion is smooth, a
step must therefore be searched in parts in which no phase changes by more than about 1. The rate of each phase is:

    sin α, cos α, tan α                       |α̇|
    ⌊α⌋, ⌈α⌉,  α mod β                        2π |α̇|,  2π |α̇/β|
    exp α, tanh α, atan α, erf α …            |α̇|/(1 + |α|)      (far from 0 they are constant)

Rotations that φ depends on are phases, too: |v_k| of every angular velocity v_k of the formulation, because a free body may rotate
by any angle in one exact step. The pace of φ is the largest of these rates, in 1/s.
"""

import casadi as ca
import numpy as np

PERIODIC = (ca.OP_SIN, ca.OP_COS, ca.OP_TAN)
STEPPED = (ca.OP_FLOOR, ca.OP_CEIL)
MODULO = (ca.OP_FMOD, ca.OP_REMAINDER)
SATURATING = (ca.OP_EXP, ca.OP_TANH, ca.OP_SINH, ca.OP_COSH, ca.OP_ATAN, ca.OP_ERF, ca.OP_ASINH)


def paces(f, functions, smooth):
    """The pace of each watched function, as expressions in the symbols of formulation f.

    smooth   for each function, true if it has a rate; a function of reactions has none and depends on all angular velocities
    """
    from ..formulations.graphs.outputs import time_derivative

    def derivative(e):
        return time_derivative(f, e)

    speeds = [ca.fabs(x) for x in ca.vertsplit(f.v)]
    angular = [k for k, linear in enumerate(f.linear()) if not linear]
    rotations = _rotations(f, [phi for phi, has_rate in zip(functions, smooth) if has_rate], angular)
    result = []
    for phi, has_rate in zip(functions, smooth):
        rotation_rates = [speeds[k] for k in (next(rotations) if has_rate else angular)]
        result.append(largest([*rotation_rates, *(phase_rates(phi, derivative) if has_rate else [])]))
    return result


def phase_rates(phi, derivative):
    """Rates of all phases in the expression of a function, by the table above; derivative: that of an expression over time."""

    def speed(alpha):
        return ca.fabs(derivative(alpha))

    rates = []
    for operation, arguments in _operations(phi):
        if all(x.is_constant() for x in arguments):
            continue
        if operation in PERIODIC:
            rates.append(speed(arguments[0]))
        elif operation in STEPPED:
            rates.append(2 * np.pi * speed(arguments[0]))
        elif operation in MODULO:
            rates.append(2 * np.pi * speed(arguments[0]) / ca.fabs(arguments[1]))
        elif operation in SATURATING:
            rates.append(speed(arguments[0]) / (1 + ca.fabs(arguments[0])))
    return rates


def _rotations(f, functions, angular):
    """For each function, places of the angular velocities whose angles it depends on; none if it is linear in all of them."""
    if not functions or not angular:
        yield from [[]] * len(functions)
        return
    column = f.in_state(f.substitution.of(ca.vertcat(*functions)), ca.SX.zeros(f.v.shape[0]))
    u = ca.SX.sym("u", f.v.shape[0])
    moved = ca.substitute(column, f.q, f.manifold.retract(f.q, u, "exp"))
    depends = ca.DM(ca.jacobian_sparsity(moved, u), 1)
    for row, curved in enumerate(ca.which_depends(moved, u, 2, True)):
        yield [k for k in angular if curved and depends[row, k] != 0]


def largest(expressions):
    """The maximum of nonnegative expressions; 0 if there are none."""
    result = ca.SX(0)
    for x in expressions:
        result = ca.fmax(result, x)
    return result


def _operations(expression):
    """All operations in the graph of a scalar expression, each once: (operation, arguments)."""
    stack = [ca.SX(expression)]
    seen = set()
    while stack:
        x = stack.pop()
        if x.is_constant() or x.is_symbolic() or x.element_hash() in seen:
            continue
        seen.add(x.element_hash())
        arguments = [x.dep(k) for k in range(x.n_dep())]
        yield x.op(), arguments
        stack += arguments
