"""Find the element of a model that is not a number at a state, and the time, for the message of a run that ended because of it.

Every force, constraint and ground is evaluated by itself, with its derivatives, at the last valid state and at states a little
later along the motion, where an expression may have left its domain.
"""

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..formulations.absolute import Absolute
from ..lookup.interval_search import stored_table
from ..lookup.lookup_calls import calls, lookups_in

TIMES_AHEAD = 10.0 ** np.arange(-12, 1)  # times after the last valid state / longest time ahead


def declared_expressions(f):
    """Owner and expressions of every ground, force and constraint, in symbols of the bodies."""
    of, state = f.substitution.of, ca.vertcat(f.q, time)
    for ground in f.model.grounds:
        yield ground.owner, ca.vertcat(*[ca.vec(of(x)) for x in (ground.position, ground.rotation, ground.velocity)])
    for force in f.model.all_forces:
        U, D = (None if x is None else of(x) for x in (force.potential(), force.dissipation()))
        parts = [] if U is None else [U, ca.vec(ca.jacobian(U, state))]
        parts += [] if D is None else [D, ca.vec(ca.jacobian(D, f.v))]
        parts += [ca.vec(of(x)) for pair in force.efforts() for x in pair]
        yield force.owner, ca.vertcat(*parts)
    for block in f.blocks:
        yield block.constraint.owner, ca.vertcat(block.g, block.psi, block.gamma, *[ca.vec(G) for G in block.G])


def first_undefined_elements(model, reach, t, bodies, p):
    """The elements that are not a number at the earliest time, that time, and messages about tables evaluated outside their
    points; empty lists if everything is defined.

    reach    longest time ahead [s]
    bodies   position, rotation (9 numbers, column by column), velocity and angular velocity of each
    p        parameters and memories
    """
    f = Absolute(model)
    p = np.concatenate([p, np.zeros(f.p.shape[0] - len(p))])
    q = np.concatenate([x if b.particle else np.r_[x, R] for b, (x, R, _, _) in zip(model.bodies, bodies)])
    v = np.concatenate([u if b.particle else np.r_[u, w] for b, (_, _, u, w) in zip(model.bodies, bodies)])
    u = ca.SX.sym("u", f.v.shape[0])
    move = ca.Function("move", [f.q, u], [f.manifold.retract(f.q, u, "exp")])
    inputs, functions = [time, f.q, f.v, ca.SX(f.p)], []
    known = {s.element_hash() for x in inputs for s in ca.symvar(x)}
    for owner, column in declared_expressions(f):
        column = ca.SX(column)
        # reactions and accelerations may be any numbers
        free = [s for s in ca.symvar(column) if s.element_hash() not in known]
        column = ca.substitute(column, ca.vertcat(*free), ca.SX.ones(len(free))) if free else column
        functions.append((owner, ca.Function("declared", inputs, [ca.densify(column)])))
    for ahead in (0.0, *(TIMES_AHEAD * reach)):
        at = (t + ahead, move(q, v * ahead), v, p)
        owners = [owner for owner, function in functions if not np.all(np.isfinite(function(*at).full()))]
        if owners:
            return (
                owners,
                t + ahead,
                [text for owner, f in functions if owner in owners for text in _table_messages(f, at)],
            )
    return [], t, []


def _table_messages(f, at):
    """Messages about tables in a function that are evaluated outside their points, where they end a run."""
    inputs = [ca.SX.sym(f"u{k}", f.sparsity_in(k)) for k in range(f.n_in())]
    messages = {}
    for number, arguments in lookups_in(f, [x.nonzeros() for x in inputs]) if calls(f) else []:
        table = stored_table(number)
        values = ca.Function("arguments", inputs, [ca.vertcat(*arguments)])(*at).full().ravel()
        for axis, points, u in zip(table.axes, table.content.points, values):
            if table.content.outside == "error" and not axis.breaks[0] <= u < axis.breaks[-1]:
                reach = f"its points reach from {points[0]:.9g} to {points[-1]:.9g}"
                messages[number] = f"{table.content.name} is looked up at {u:.15g}, and {reach}"
    return messages.values()
