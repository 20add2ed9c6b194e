"""Kernels of methods whose steps solve equations of the formulation itself: variational ones and generalised-α. Here they become
functions of states, as those of every run do in `waist.py`."""

import casadi as ca

from ..describe.quantity import parted, time
from ..formulations import discrete, generalized_alpha
from ..kernels.signatures import SIGNATURES


def parts(f, map, needs):
    """Functions of configuration and velocities, by name, that are needed here."""
    found: dict = {}
    if "leap" in needs:
        found |= discrete.functions(f, map)
    if "alpha" in needs:
        found |= generalized_alpha.functions(f, map, "stabilised" in needs or mixed(f))
    return found


def mixed(f):
    """True if rows at position level are in use in a model that has rows at velocity level, too: rolling, dry friction. With
    equations at position level alone (index 3) the velocities of the former oscillate against the latter, more and more where
    bodies turn and where steps become short, as they do before friction sticks."""
    return bool(f.held()) and any(not row.holonomic for row in f.rows)


def kernel(waist, name):
    """The kernel of this name."""
    return {"landing": _landing, "acceleration": _acceleration}.get(name, _solving)(waist, name)


def _of_states(waist, name):
    """Vectors of a kernel by name, and its results. Its part names what it takes: t and q of the start, p and efforts of the end
    where the kernel takes the state y there, as far as that is known, and others, which stay as they are."""
    part, y = waist.parts[name], ca.SX.sym("y", waist.layout.x)
    vectors = {"t": time, "h": ca.SX.sym("h"), "x": waist.x, "y": y, "p": waist.p, "lam": waist.lam}
    end = y if "y" in SIGNATURES[name].takes else waist.x
    efforts = part.size_in(part.index_in("efforts"))[0]
    known = {
        "t": time, "h": vectors["h"], "q": waist.q(waist.x), "q1": waist.q(y), "v": waist.v(waist.x), "p": waist.inputs(end),
        "efforts": parted(waist.lam, waist.lam.shape[0] - efforts)[1],
    }  # fmt: skip
    if "pi" in part.name_in():
        known["pi"] = waist.beside.momenta(waist.q(waist.x), waist.y(waist.x), waist.inputs(waist.x))
    for k, own in enumerate(part.name_in()):
        if own not in known:
            known[own] = vectors[own] = ca.SX.sym(own, part.size_in(k)[0])
    return vectors, part.call([known[own] for own in part.name_in()])


def _function(name, vectors, results):
    return ca.Function(name, [vectors[each] for each in SIGNATURES[name].takes], [ca.densify(x) for x in results])


def _solving(waist, name):
    return _function(name, *_of_states(waist, name))


def _landing(waist, name):
    """What stands beside the configuration where a discrete step ends."""
    vectors, (both,) = _of_states(waist, name)
    v, pi, _ = parted(both, waist.layout.v, waist.layout.v)
    return _function(name, vectors, [waist.beside.either(v, pi, waist.inputs(vectors["y"]))])


def _acceleration(waist, name):
    """v̇ of a rate ẋ."""
    x, xdot = waist.x, waist.xdot
    a = waist.beside.accelerations(waist.q(x), waist.v(x), waist.inputs(x), waist.steps(xdot)[1])
    return _function(name, {"t": time, "x": x, "p": waist.p, "xdot": xdot}, [a])
