"""`torsor.linearise`: a linear model of a mechanism at any of its states."""

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..describe.model import Model
from ..kernels.deriving import deriving
from .linear_model import LinearModel
from .linearisation import linearised
from .mechanism import Mechanism
from .modes import Shapes
from .named import inputs_of, outputs_of
from .places import parameters_of, place_of

RESTS = 1e-11  # displacement over the size of the model, or in rad


@deriving
def linearise(
    model: Model,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | Mapping[str, Any] | None = None,
    at: Any = None,
    formulation: str = "auto",
    parameters: Mapping[str, float] | None = None,
    time: float | None = None,
    coordinates: Sequence[str] | None = None,
) -> LinearModel:
    """Small motions of a model about a state, in independent coordinates; see docs/statics.md.

    inputs       names of inputs and parameters that are varied: a torque, a stiffness; None: the inputs of the model
    outputs      names of signals, joints ("hinge"), "bob.position", "hinge.rate", "hinge.reaction_force" …, or expressions by
                 name; None: the model's signals
    at           the state: None, the start; an equilibrium (`torsor.equilibrium`); a result at one time (`data.sel(time=2)`);
                 coordinates, rates and states by name as of `start=` of `torsor.simulate`
    formulation  whose coordinates are used: "relative" has joint coordinates, "absolute" those of the bodies
    parameters   values that differ from the model's
    time         at which, for models that depend on it; None: that of a state that has one, else 0
    coordinates  names of the independent coordinates; None: those that suit the constraints best
    """
    mechanism = Mechanism(model, formulation, parameters_of(model, at, parameters), time, "linearise")
    places, signals = inputs_of(model, inputs), outputs_of(model, outputs)
    return of_place(mechanism, place_of(mechanism, at), places, signals, coordinates)


def of_place(mechanism, place, inputs=None, outputs=None, coordinates=None):
    """The linear model at a place of a mechanism that is made ready."""
    inputs, outputs = inputs or {}, outputs or {}
    column = ca.vertcat(*outputs.values()) if outputs else None
    found = linearised(mechanism, place, list(inputs.values()), column, coordinates)
    names = mechanism.names
    states = [names[k] for k in found.coordinates] + [f"{names[k]}.rate" for k in found.velocities] + mechanism.states
    named = (states, list(inputs), list(outputs))
    matrices = (found.A, found.B, found.C, found.D)
    shapes = _shapes(mechanism, place, found)
    sizes = np.where(np.array(mechanism.system.linear, bool), mechanism.system.length, 1.0)
    units = np.concatenate([sizes[found.coordinates], sizes[found.velocities], np.ones(len(mechanism.states))])
    moved = RESTS * (np.abs(found.A) @ units + units * mechanism.system.scales["rate"])  # what rounding would cause
    steady = bool(np.all(np.abs(found.rates) <= moved))
    scales, model = (units, len(found.coordinates), len(found.velocities)), (mechanism.model, mechanism.parameters)
    at = (found.rates, found.values, steady, place.t)
    return LinearModel(*matrices, *named, *at, mechanism.formulation, scales, shapes, model)


def _shapes(mechanism, place, linear):
    """How the bodies move with the coordinates, in axes that stay: their velocities are linear in v."""
    e, n = mechanism.equations, mechanism.equations.sizes["v"]
    bodies = e.evaluated("bodies")
    count = len(mechanism.system.bodies)
    S = e.evaluated("axes")(place.q, place.v)[:, :n]
    parts = lambda v: np.split(bodies(place.t, place.q, v, place.p).ravel(), np.cumsum([3, 9, 3])[:3] * count)
    position, rotation, *still = parts(np.zeros(n))
    along = [[x - rest for x, rest in zip(parts(S[k])[2:], still)] for k in range(n)]
    moved, turned = (np.array([x[k] for x in along]).reshape(n, count, 3).transpose(1, 2, 0) for k in range(2))
    rotation = rotation.reshape(count, 3, 3).transpose(0, 2, 1)  # stored column by column
    names, position = (mechanism.names, mechanism.system.bodies), position.reshape(count, 3)
    return Shapes(linear.tangent, linear.masses, *names, position, rotation, moved, turned)
