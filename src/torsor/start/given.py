"""The start as the user gave it, in numbers: it need not satisfy the constraints."""

from dataclasses import dataclass, replace

import numpy as np

from ..formulations.initial import captures, started
from ..formulations.outputs import coordinate_labels
from ..formulations.scales import Scales, scales
from .examiner import CLOSED
from .holding import Holding


@dataclass
class Given:
    """What the user gave, as numbers: a state that need not be consistent, and what it is measured against."""

    q: np.ndarray
    p: np.ndarray
    scales: Scales
    mass: float
    inertia: float


def given(f, t, values):
    """The start as given; constraints that hold from the start hold what they find there (locks, welds)."""
    model = f.model
    inputs = model.input_values(values)
    q, turns, weights, *sizes = f.examined["given"](t, inputs)
    q, p = q.ravel(), np.concatenate([inputs, turns.ravel()])
    return Given(q, captured(f, t, q, p), scales(model, *sizes), *weights.ravel().tolist())


def captured(f, t, q, p):
    """p with what constraints that hold from the start take note of."""
    found = captures(f)
    if found:
        places = {id(m): len(f.model.parameters) + k for k, m in enumerate(f.model.memories)}
        p[[places[id(memory)] for memory, _ in found]] = f.examined["held"](t, q, p).ravel()
    return p


def closed(f, examiner, t, given):
    """The start with loops closed so that joints keep the coordinates that the user gave them, where that can be: led there from
    the bodies' own places, where these satisfy the constraints."""
    if not started(f.model) or not examiner.holonomic.any():
        return given
    holding = Holding(f, examiner)
    values, q = (x.ravel() for x in f.examined["starts"](t, given.p[: len(f.model.inputs)]))
    places = _places(holding)
    p = given.p.copy()
    for k, place in enumerate(holding.counted):
        p[len(f.model.inputs) + k] *= place not in places  # the bodies' own places are less than half a turn away
    p = captured(f, t, q, p)
    base = (q, p) if holding.assembled(t, q, p) else None
    own = holding.coordinates(t, given.q, given.p)
    q, p = holding.closed(t, given.q, given.p, dict(zip(places, values.tolist())), own, base)
    return given if q is given.q else replace(given, q=q, p=captured(f, t, q, p))


def _places(holding):
    """Places of the coordinates that the user gave."""
    at = [holding.places[j.name] for j in started(holding.f.model) if j.dof]
    return [place for x in at for place in range(x.start, x.stop)]


def lost(f, examiner, t, q, p):
    """Coordinates that the user gave and that became others, in words."""
    if not started(f.model):
        return []
    holding = Holding(f, examiner)
    values, _ = f.examined["starts"](t, p[: len(f.model.inputs)])
    labels, places = coordinate_labels([j for j in f.model.joints if j.dof]), _places(holding)
    off = holding.away(t, q, p, places, values.ravel())
    every = zip(places, values.ravel(), off * holding.units[places], np.abs(off) > CLOSED)
    changes = [f"{labels[place]}: {x:.6g} became {x + away:.6g}" for place, x, away, far in every if far]
    return [unreachable(np.linalg.norm(off)), *changes] if changes else []


def unreachable(far):
    """Said where coordinates of joints are asked for that cannot be had together."""
    away = f"the nearest is {far:.3g} rad, or sizes of the model, away"
    return f"no assembly with all coordinates that were asked for was found, {away}"
