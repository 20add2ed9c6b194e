"""Singular positions on the path of a driven mechanism: detection, location and description."""

import numpy as np

from .path_continuation import conditioning
from .path_tolerances import DIP_RATIO, PARTICIPATION, PROBE_MOTION, PROBE_STEP, SINGULAR_VALUE_ZERO

GOLDEN_SECTION = (np.sqrt(5.0) - 1) / 2


def moving_coordinates(problem, direction):
    """Names of the coordinates that move in a direction of velocities."""
    size = np.abs(direction)
    return [name for name, x in zip(problem.dynamics.coordinates, size) if x > PARTICIPATION * size.max()]


def moving_bodies(problem, t, q, p, directions):
    """Names of the bodies that move in at least one of these directions of velocities, at one configuration."""
    ends = problem.move(np.repeat(q, len(directions), axis=0), PROBE_STEP * directions)
    start, moved = (problem.dynamics.poses(x, p, t[0]) for x in (q, ends))
    motion = np.abs((moved - start) / np.array([1, 1, 1, problem.length])).max(axis=(0, 2, 3))
    return [name for name, x in zip(problem.dynamics.system.bodies, motion) if x > PROBE_MOTION * PROBE_STEP]


def strained_constraints(problem, rows):
    """Names of the constraints with a large component in a direction of rows."""
    size = np.abs(rows)
    names = [_name(problem.f.rows[k].constraint) for k, x in zip(problem.rows, size) if x > PARTICIPATION * size.max()]
    return list(dict.fromkeys(names))


def _name(constraint):
    """The name of a constraint; for a drive, the coordinate that it drives."""
    if constraint.driven_coordinate is None:
        return constraint.name
    joint, k = constraint.driven_coordinate
    return f"drive of {joint.name}" + (f"[{k}]" if joint.dof > 1 else "")


def freedom(problem):
    """Degrees of freedom of the mechanism at its start."""
    dynamics = problem.dynamics
    _, G = problem.constraint_rows(np.zeros(1), dynamics.q[None, :], dynamics.p)
    return problem.n - int((np.linalg.svd(G[0], compute_uv=False) > SINGULAR_VALUE_ZERO).sum())


def describe(problem, t, q, p):
    """Description of a singular position: what can move, and which constraints are strained."""
    _, directions, rows = conditioning(problem, t, q, p, freedom(problem))
    moving, strained = moving_coordinates(problem, directions[0]), strained_constraints(problem, rows[0])
    return (
        f"{', '.join(map(repr, moving))} can move while the drives stand, strained by {', '.join(map(repr, strained))}"
    )


def add_singular_points(data, driven, follower, x, q, turns, quasi_static):
    """Add the singular positions of the path to the dataset."""
    points = []
    least = data.conditioning.values
    for k in range(len(x)):
        singular_point = _singular_point_near(driven, follower, x, q, turns, least, k)
        if singular_point is not None:
            points.append(singular_point)
    names, where, values = zip(*points) if points else ((), (), np.zeros((0, len(driven.names))))
    data["singular_name"] = (("singular",), np.array(names, dtype=str))
    data["singular_value"] = (
        ("singular", "drive"),
        np.array(values),
        {"long_name": "driven coordinates at singular positions"},
    )
    if not quasi_static:
        data["singular_time"] = (("singular",), np.array(where, float), {"units": "s"})
    return data


def _singular_point_near(driven, follower, x, q, turns, least, k):
    """Description, path parameter and driven coordinates of the singular position near a local minimum k of the conditioning.

    None if k is no minimum or the minimum is not zero.
    """
    before, after = least[max(k - 1, 0)], least[min(k + 1, len(x) - 1)]
    if not least[k] <= min(before, after) or k > 0 and least[k] == before:
        return None
    best = (least[k], x[k], q[k], turns[k])
    if least[k] > SINGULAR_VALUE_ZERO:
        if least[k] > DIP_RATIO * max(before, after):
            return None
        best = _minimise_conditioning(driven, follower, best, x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)])
        if best[0] > SINGULAR_VALUE_ZERO:
            return None
    _, position, state, angles = best
    t, p = follower.inputs_at(position, angles)
    labels = driven.problem.dynamics.system.joint_coordinates
    coordinates = driven.problem.coordinates(t, state[None, :], p)[0]
    return (
        describe(driven.problem, t, state[None, :], p),
        position,
        [coordinates[labels.index(name)] for name in driven.names],
    )


def _minimise_conditioning(driven, follower, best, low, high):
    """Minimise the conditioning by golden section: its value, path parameter, configuration and counted angles."""
    _, begin, q, turns = best

    def value(position):
        at, state, angles = follower.advance(q, turns, begin, position)
        t, p = follower.inputs_at(position, angles)
        value_here = conditioning(driven.problem, t, state[None, :], p)[0][0]
        return value_here if at == position else np.inf, position, state, angles

    a, b = value(high - GOLDEN_SECTION * (high - low)), value(low + GOLDEN_SECTION * (high - low))
    for _ in range(60):
        best = min(best, a, b, key=lambda e: e[0])
        if best[0] < 1e-3 * SINGULAR_VALUE_ZERO or high - low < 1e-10 * max(abs(low), abs(high), 1e-300):
            break
        if a[0] < b[0]:
            high, b = b[1], a
            a = value(high - GOLDEN_SECTION * (high - low))
        else:
            low, a = a[1], b
            b = value(low + GOLDEN_SECTION * (high - low))
    return best


def end_reason(driven, follower, at, q, turns):
    """The reason why the path ends here: a stop or a dead point."""
    stops = follower.stops_reached(at, q, turns)
    if stops:
        return f"stop {', '.join(map(repr, stops))}"
    t, p = follower.inputs_at(at, turns)
    return f"dead point: {describe(driven.problem, t, q[None, :], p)}"


def cannot_follow_message(model, path, reached):
    """The message for a mechanism that cannot follow its drives."""
    values = path.motion(np.array([reached[0]]))[0][0]
    where = ", ".join(f"{name} = {value:.9g}" for name, value in zip(path.motion.names, values))
    when = "" if path.quasi_static else f"t = {reached[0]:.9g} s, "
    return (
        f"model {model.name!r}: the mechanism cannot follow its drives beyond {when}{where}: "
        f"{end_reason(path.driven, path.follower, *reached)}. `data` of this error contains the path up to there"
    )
