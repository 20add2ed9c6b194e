"""`torsor.linearise`: a linear model of a mechanism at any of its states."""

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ...kernels.derivation_lock import deriving
from ...model.model import Model
from ..analysis_states import operating_point, parameters_of
from ..mechanism import Mechanism
from .input_output_names import inputs_of, outputs_of
from .linear_model import LinearModel
from .linearisation import linearise_at
from .modes import Shapes

REST_DISPLACEMENT = 1e-11  # rad, or the size of the model: displacement by rounding errors


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
    """Linearise a model about a state, in independent coordinates; see docs/statics.md.

    inputs       names of inputs and parameters that are varied: a torque, a stiffness; None: the inputs of the model
    outputs      names of signals, joints ("hinge"), "bob.position", "hinge.rate", "hinge.reaction_force" …, or expressions by
                 name; None: the model's signals
    at           the state: None, the start; an equilibrium (`torsor.equilibrium`); a result at one time (`data.sel(time=2)`);
                 coordinates, rates and states by name as of `start=` of `torsor.simulate`
    formulation  formulation whose coordinates are used: "relative" has joint coordinates, "absolute" those of the bodies
    parameters   values that differ from the model's
    time         time of the state, for models that depend on time; None: the time of `at` if it has one, else 0
    coordinates  names of the independent coordinates; None: chosen by the constraints
    """
    mechanism = Mechanism(model, formulation, parameters_of(model, at, parameters), time, "linearise")
    input_indices, signals = inputs_of(model, inputs), outputs_of(model, outputs)
    return linear_model_at(mechanism, operating_point(mechanism, at), input_indices, signals, coordinates)


def linear_model_at(mechanism, point, inputs=None, outputs=None, coordinates=None):
    """The linear model of a prepared mechanism at an operating point.

    inputs    indices in p by name
    outputs   scalar expressions by name
    """
    inputs, outputs = inputs or {}, outputs or {}
    column = ca.vertcat(*outputs.values()) if outputs else None
    linear = linearise_at(mechanism, point, list(inputs.values()), column, coordinates)
    names = mechanism.names
    states = [names[k] for k in linear.coordinates] + [f"{names[k]}.rate" for k in linear.velocities] + mechanism.states
    labels = (states, list(inputs), list(outputs))
    matrices = (linear.A, linear.B, linear.C, linear.D)
    shapes = _shapes(mechanism, point, linear)
    sizes = np.where(np.array(mechanism.system.linear, bool), mechanism.system.length, 1.0)
    units = np.concatenate([sizes[linear.coordinates], sizes[linear.velocities], np.ones(len(mechanism.states))])
    # rates that a displacement by rounding errors would cause
    tolerance = REST_DISPLACEMENT * (np.abs(linear.A) @ units + units * mechanism.system.scales["rate"])
    steady = bool(np.all(np.abs(linear.rates) <= tolerance))
    scales, model = (units, len(linear.coordinates), len(linear.velocities)), (mechanism.model, mechanism.parameters)
    at = (linear.rates, linear.values, steady, point.t)
    return LinearModel(*matrices, *labels, *at, mechanism.formulation, scales, shapes, model)


def _shapes(mechanism, point, linear):
    """Motions of the bodies per unit change of each coordinate, in axes fixed in space. Body velocities are linear in v."""
    e, n = mechanism.equations, mechanism.equations.sizes["v"]
    bodies = e.numeric_function("bodies")
    count = len(mechanism.system.bodies)
    S = e.numeric_function("axes")(point.q, point.v)[:, :n]

    def parts(v):
        return np.split(bodies(point.t, point.q, v, point.p).ravel(), np.cumsum([3, 9, 3])[:3] * count)

    position, rotation, *still = parts(np.zeros(n))
    along = [[x - rest for x, rest in zip(parts(S[k])[2:], still)] for k in range(n)]
    translation, rotation_rate = (
        np.array([x[k] for x in along]).reshape(n, count, 3).transpose(1, 2, 0) for k in range(2)
    )
    rotation = rotation.reshape(count, 3, 3).transpose(0, 2, 1)  # stored column by column
    names, position = (mechanism.names, mechanism.system.bodies), position.reshape(count, 3)
    return Shapes(linear.tangent, linear.masses, *names, position, rotation, translation, rotation_rate)
