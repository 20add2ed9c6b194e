"""How fast a watched function may change, read from its own expression: what an integrator's error control does not see.

A function φ of a phase α repeats itself, or has all its variety, while α runs over a few units. However smooth the motion is,
a step must therefore be looked through in parts in which no phase runs further than about 1:

    sin α, cos α, tan α                       |α̇|
    ⌊α⌋, ⌈α⌉,  α mod β                        2π |α̇|,  2π |α̇/β|
    exp α, tanh α, atan α, erf α …            |α̇|/(1 + |α|)      (far from 0 they do not change)

and the rotations that φ depends on: |v_k| of every angular velocity v_k of the formulation, since a body that turns freely
turns by any angle in one exact step. The pace of φ is the largest of these, in 1/s.
"""

import casadi as ca
import numpy as np

PERIODIC = (ca.OP_SIN, ca.OP_COS, ca.OP_TAN)
STEPPED = (ca.OP_FLOOR, ca.OP_CEIL)
MODULO = (ca.OP_FMOD, ca.OP_REMAINDER)
SATURATING = (ca.OP_EXP, ca.OP_TANH, ca.OP_SINH, ca.OP_COSH, ca.OP_ATAN, ca.OP_ERF, ca.OP_ASINH)


def paces(f, functions, smooth):
    """The pace of each watched function, in symbols of the bodies and velocities of a formulation.

    smooth   whether a function has a rate; one of reactions has none, and depends on all that moves
    """
    turning = [ca.fabs(x) for x in ca.vertsplit(f.v)]
    angular = [k for k, linear in enumerate(f.linear()) if not linear]
    angles = _angles(f, [phi for phi, has in zip(functions, smooth) if has], angular)
    found = []
    for phi, has in zip(functions, smooth):
        of = [turning[k] for k in (next(angles) if has else angular)]
        found.append(_largest([*of, *(_phases(f, phi) if has else [])]))
    return found


def _phases(f, phi):
    """|α̇| of all phases in the expression of a function, in the measure of each."""
    from ..formulations.outputs import time_derivative

    speed = lambda alpha: ca.fabs(time_derivative(f, alpha))
    found = []
    for operation, arguments in _operations(phi):
        if all(x.is_constant() for x in arguments):
            continue
        if operation in PERIODIC:
            found.append(speed(arguments[0]))
        elif operation in STEPPED:
            found.append(2 * np.pi * speed(arguments[0]))
        elif operation in MODULO:
            found.append(2 * np.pi * speed(arguments[0]) / ca.fabs(arguments[1]))
        elif operation in SATURATING:
            found.append(speed(arguments[0]) / (1 + ca.fabs(arguments[0])))
    return found


def _angles(f, functions, angular):
    """For each function the places of the angular velocities whose angles it depends on; none where it is linear in all."""
    if not functions or not angular:
        yield from [[]] * len(functions)
        return
    column = f.in_state(f.substitution.of(ca.vertcat(*functions)), ca.SX.zeros(f.v.shape[0]))
    u = ca.SX.sym("u", f.v.shape[0])
    moved = ca.substitute(column, f.q, f.manifold.retract(f.q, u, "exp"))
    depends = ca.DM(ca.jacobian_sparsity(moved, u), 1)
    for row, curved in enumerate(ca.which_depends(moved, u, 2, True)):
        yield [k for k in angular if curved and depends[row, k] != 0]


def _largest(columns):
    largest = ca.SX(0)
    for x in columns:
        largest = ca.fmax(largest, x)
    return largest


def _operations(expression):
    """All operations in the graph of a scalar expression, each once: (operation, arguments)."""
    left, seen = [ca.SX(expression)], set()
    while left:
        x = left.pop()
        if x.is_constant() or x.is_symbolic() or x.element_hash() in seen:
            continue
        seen.add(x.element_hash())
        arguments = [x.dep(k) for k in range(x.n_dep())]
        yield x.op(), arguments
        left += arguments
