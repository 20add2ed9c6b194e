"""Singular positions on the way of a driven mechanism: found, located and named."""

import numpy as np

from ..joints.imposed import Drive
from .following import conditioning

SHARE = 0.15  # of the largest component, from which on something takes part
SLIGHT = 1e-5  # rad, or the size of the model: a motion that shows what takes part in it
NOTICED = 0.01  # of it: the part that counts
SMALL = 0.5  # over its neighbours' mean: a dip that is looked into
NOTHING = 1e-6  # least singular value that is none
GOLDEN = (np.sqrt(5.0) - 1) / 2


def moving(problem, direction):
    """Names of the coordinates that take part in a direction of velocities."""
    size = np.abs(direction)
    return [name for name, x in zip(problem.dynamics.coordinates, size) if x > SHARE * size.max()]


def moved(problem, t, q, p, directions):
    """Names of the bodies that take part in some of these directions of velocities, at one configuration."""
    ends = problem.move(np.repeat(q, len(directions), axis=0), SLIGHT * directions)
    here, there = (problem.dynamics.poses(x, p, t[0]) for x in (q, ends))
    far = np.abs((there - here) / np.array([1, 1, 1, problem.length])).max(axis=(0, 2, 3))
    return [name for name, x in zip(problem.dynamics.system.bodies, far) if x > NOTICED * SLIGHT]


def strained(problem, rows):
    """Names of the constraints that take part in a direction of rows."""
    size = np.abs(rows)
    names = [_name(problem.f.rows[k].constraint) for k, x in zip(problem.rows, size) if x > SHARE * size.max()]
    return list(dict.fromkeys(names))


def _name(constraint):
    """Its name; of a drive, which a twin has of its own, the coordinate that it drives."""
    if not isinstance(constraint, Drive):
        return constraint.name
    joint = constraint.joint
    return f"drive of {joint.name}" + (f"[{constraint.index}]" if joint.dof > 1 else "")


def loose(problem):
    """Freedoms that the mechanism has where it starts."""
    dynamics = problem.dynamics
    _, G = problem.held(np.zeros(1), dynamics.q[None, :], dynamics.p)
    return problem.n - int((np.linalg.svd(G[0], compute_uv=False) > NOTHING).sum())


def named(problem, t, q, p):
    """What can move and what is strained at a singular position, in words."""
    _, directions, rows = conditioning(problem, t, q, p, loose(problem))
    free, held = moving(problem, directions[0]), strained(problem, rows[0])
    return f"{', '.join(map(repr, free))} can move while the drives stand, strained by {', '.join(map(repr, held))}"


def told(data, twin, follower, x, q, turns, still):
    """The dataset with the singular positions on its way."""
    places = []
    least = data.conditioning.values
    for k in range(len(x)):
        found = _dip(twin, follower, x, q, turns, least, k)
        if found is not None:
            places.append(found)
    names, where, values = zip(*places) if places else ((), (), np.zeros((0, len(twin.names))))
    data["singular_name"] = (("singular",), np.array(names, dtype=str))
    data["singular_value"] = (
        ("singular", "drive"),
        np.array(values),
        {"long_name": "driven coordinates at singular positions"},
    )
    if not still:
        data["singular_time"] = (("singular",), np.array(where, float), {"units": "s"})
    return data


def _dip(twin, follower, x, q, turns, least, k):
    """Name, place and driven coordinates of the singular position near an instant at which the conditioning is least; None where
    there is none."""
    before, after = least[max(k - 1, 0)], least[min(k + 1, len(x) - 1)]
    if not least[k] <= min(before, after) or k > 0 and least[k] == before:
        return None
    best = (least[k], x[k], q[k], turns[k])
    if least[k] > NOTHING:
        if least[k] > SMALL * max(before, after):
            return None
        best = _lowest(twin, follower, best, x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)])
        if best[0] > NOTHING:
            return None
    _, place, state, angles = best
    t, p = follower.at(place, angles)
    labels, every = twin.problem.dynamics.system.joint_coordinates, twin.problem.coordinates(t, state[None, :], p)[0]
    return named(twin.problem, t, state[None, :], p), place, [every[labels.index(name)] for name in twin.names]


def _lowest(twin, follower, best, low, high):
    """The least conditioning between two places, by golden section: its value, place, configuration and counted angles."""
    _, begin, q, turns = best

    def value(place):
        at, state, angles = follower.go(q, turns, begin, place)
        t, p = follower.at(place, angles)
        here = conditioning(twin.problem, t, state[None, :], p)[0][0]
        return here if at == place else np.inf, place, state, angles

    a, b = value(high - GOLDEN * (high - low)), value(low + GOLDEN * (high - low))
    for _ in range(60):
        best = min(best, a, b, key=lambda e: e[0])
        if best[0] < 1e-3 * NOTHING or high - low < 1e-10 * max(abs(low), abs(high), 1e-300):
            break
        if a[0] < b[0]:
            high, b = b[1], a
            a = value(high - GOLDEN * (high - low))
        else:
            low, a = a[1], b
            b = value(low + GOLDEN * (high - low))
    return best


def ending(twin, follower, at, q, turns):
    """Why a mechanism does not go on, in words."""
    met = follower.met(at, q, turns)
    if met:
        return f"stop {', '.join(map(repr, met))}"
    t, p = follower.at(at, turns)
    return f"dead point: {named(twin.problem, t, q[None, :], p)}"


def stuck(model, twin, follower, asked, reached, still):
    """The message for a mechanism that cannot follow its drives."""
    values = asked(np.array([reached[0]]))[0][0]
    where = ", ".join(f"{name} = {value:.9g}" for name, value in zip(asked.names, values))
    when = "" if still else f"t = {reached[0]:.9g} s, "
    return (
        f"model {model.name!r}: the mechanism cannot follow its drives beyond {when}{where}: {ending(twin, follower, *reached)}. "
        "What was reached before is kept in `data` of this error"
    )
