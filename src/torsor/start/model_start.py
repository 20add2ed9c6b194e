"""The start as the user gives it, in numbers: it need not satisfy the constraints."""

from dataclasses import dataclass, replace

import numpy as np

from ..formulations.algebra.scales import Scales, scales
from ..formulations.graphs.outputs import coordinate_labels
from ..formulations.graphs.start_functions import captures, joints_with_start
from .constraints import REDUNDANT_RESIDUAL
from .continuation import CoordinateContinuation


@dataclass
class GivenStart:
    """A start as given, not necessarily consistent: configuration, parameters, scales, total mass, sum of the inertias."""

    q: np.ndarray
    p: np.ndarray
    scales: Scales
    mass: float
    inertia: float


def given_start(f, t, values):
    """The start as given. Constraints such as locks and welds, which are active from the start, store their start values."""
    model = f.model
    inputs = model.input_values(values)
    q, turns, weights, *sizes = f.start_functions["given"](t, inputs)
    q = q.ravel()
    p = np.concatenate([inputs, turns.ravel()])
    return GivenStart(q, store_captures(f, t, q, p), scales(model, *sizes), *weights.ravel().tolist())


def store_captures(f, t, q, p):
    """Store in p, and return it, the values at q that constraints capture when they become active at the start."""
    pairs = captures(f)
    if pairs:
        place = f.model.input_layout.place
        p[[place(memory) for memory, _ in pairs]] = f.start_functions["held"](t, q, p).ravel()
    return p


def close_loops(f, examiner, t, given):
    """Close the loops of a given start so that joints keep their given coordinates if possible.

    The mechanism moves there from the reference poses of the bodies, if these satisfy the constraints.
    """
    if not joints_with_start(f.model) or not examiner.holonomic.any():
        return given
    continuation = CoordinateContinuation(f, examiner)
    values, q = (x.ravel() for x in f.start_functions["starts"](t, given.p[f.model.input_layout.model_inputs]))
    indices = _given_indices(continuation)
    p = given.p.copy()
    for k, index in enumerate(continuation.turn_indices):
        p[f.model.input_layout.turns][k] *= (
            index not in indices
        )  # angles in the reference poses are less than half a turn
    p = store_captures(f, t, q, p)
    base = (q, p) if continuation.is_assembled(t, q, p) else None
    own = continuation.coordinates(t, given.q, given.p)
    q, p = continuation.close(t, given.q, given.p, dict(zip(indices, values.tolist())), own, base)
    return given if q is given.q else replace(given, q=q, p=store_captures(f, t, q, p))


def _given_indices(continuation):
    """Indices of the coordinates that the user gives."""
    slices = [continuation.slices[j.name] for j in joints_with_start(continuation.f.model) if j.dof]
    return [index for x in slices for index in range(x.start, x.stop)]


def describe_changed_coordinates(f, examiner, t, q, p):
    """Messages about given coordinates that could not be kept."""
    if not joints_with_start(f.model):
        return []
    continuation = CoordinateContinuation(f, examiner)
    values, _ = f.start_functions["starts"](t, p[f.model.input_layout.model_inputs])
    labels = coordinate_labels([j for j in f.model.joints if j.dof])
    indices = _given_indices(continuation)
    residuals = continuation.residuals(t, q, p, indices, values.ravel())
    every = zip(
        indices, values.ravel(), residuals * continuation.units[indices], np.abs(residuals) > REDUNDANT_RESIDUAL
    )
    changes = [f"{labels[index]}: {x:.6g} became {x + change:.6g}" for index, x, change, changed in every if changed]
    return [unreachable_message(np.linalg.norm(residuals)), *changes] if changes else []


def unreachable_message(distance):
    """Message about requested coordinates of joints that no assembly has together."""
    nearest = f"the nearest is {distance:.3g} rad, or sizes of the model, away"
    return f"no assembly with all requested coordinates was found, {nearest}"
