"""The start as the user gave it, in numbers: it need not satisfy the constraints."""

from dataclasses import dataclass

import numpy as np

from ..formulations.initial import captures
from ..formulations.scales import Scales, scales


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
    captured = captures(f)
    if captured:
        places = {id(m): len(values) + k for k, m in enumerate(model.memories)}
        p[[places[id(memory)] for memory, _ in captured]] = f.examined["held"](t, q, p).ravel()
    return Given(q, p, scales(model, *sizes), *weights.ravel().tolist())
