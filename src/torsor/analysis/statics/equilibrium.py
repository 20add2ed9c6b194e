"""`torsor.equilibrium`: a configuration at rest, its reactions and its stability."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...elements import quantity
from ...errors import OptionError
from ...kernels.derivation_lock import deriving
from ...look.dataset import at_outputs, label_variables
from ...model.model import Model
from ...run.run_results import Trajectory
from ...start.request import StartNames
from ..analysis_states import is_result, operating_point, parameters_of, point_from_values, with_own_parameters
from ..arguments import named_values, require_model
from ..linear.linear_model import LinearModel
from ..linear.linearise import linear_model_at
from ..mechanism import Mechanism
from .contacts_at_rest import ContactsAtRest
from .equilibrium_search import Search
from .force_balance import Balance

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False, eq=False)
class Equilibrium:
    """An equilibrium of a model.

    data         a result at one time: poses, coordinates, reactions, multipliers, signals
    stability    "stable", "marginal" or "unstable": see `LinearModel.stability`; `linear` is that model
    residual     largest unbalanced force / largest applied force
    neutral      names of coordinates that change in each independent direction without resistance
    contacts     "closed" or "open" by name, and of dry friction "holds" or "slides"
    parameters   parameter values of the equilibrium
    formulation  formulation in whose coordinates it was found

    It is a state: `at=` of `torsor.linearise` takes it, and `start=` of `torsor.simulate`.
    """

    data: "xr.Dataset"
    residual: float
    neutral: list[str]
    contacts: dict[str, str]
    parameters: dict[str, float]
    formulation: str
    _balance: Any = None

    @property
    def model(self) -> Model:
        """The model that it is an equilibrium of."""
        return self._balance.mechanism.model

    @property
    def coordinates(self) -> dict[str, float]:
        """Joint coordinates by name [rad or m]; without joints, positions of the bodies."""
        return self._balance.mechanism.coordinates(self._balance.point)

    @property
    def reactions(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Force [N] and torque [N m] that each connection exerts on its second body, at its point there, in world axes."""
        force, torque = self.data["reaction_force"], self.data["reaction_torque"]
        return dict(zip(force["joint"].values.tolist(), zip(force.values, torque.values)))

    @property
    def signals(self) -> dict[str, float]:
        """The model's signals by name."""
        return {name: float(self.data[name]) for name in self._balance.mechanism.model.signals}

    @cached_property
    def linear(self) -> LinearModel:
        """The linear model about the equilibrium."""
        return linear_model_at(self._balance.mechanism, self._balance.point)

    @property
    def stability(self) -> str:
        """Stability of the linear model: "stable", "marginal" or "unstable"."""
        return self.linear.stability

    @property
    def stable(self) -> bool:
        """True if the equilibrium is asymptotically stable."""
        return self.stability == "stable"

    def point_in(self, mechanism):
        """The equilibrium as an operating point of a mechanism, which may have another formulation."""
        own = self._balance.mechanism
        if own.model is not mechanism.model:
            raise OptionError(
                f"`at` is an equilibrium of another model, {own.model.name!r}, not of {mechanism.model.name!r}"
            )
        point = self._balance.point
        same = own.formulation == mechanism.formulation
        return with_own_parameters(mechanism, point) if same else point_from_values(mechanism, self.data, like=point)

    def __reduce__(self):
        point, model = self._balance.point, self._balance.mechanism.model
        return equilibrium, (model, self.data, self.formulation, self.parameters, None, False, point.t)

    def _repr_html_(self) -> str:
        return self.model.html_writer(self)

    def __repr__(self) -> str:
        lines = [f"equilibrium, {self.stability}, residual {self.residual:.1e}"]
        lines += [f"  {name:24}{value: .9g}" for name, value in self.coordinates.items()]
        lines += [f"  {name:24} {what}" for name, what in self.contacts.items()]
        return "\n".join([*lines, *(f"  neutral: {what}" for what in self.neutral)])


@deriving
def equilibrium(
    model: Model,
    start: Any = None,
    formulation: str = "auto",
    parameters: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | None = None,
    stable: bool = False,
    time: float | None = None,
) -> Equilibrium:
    """An equilibrium of a model near a start; see docs/statics.md.

    start        where the search begins: None, the start of the model; all that `start=` of `torsor.simulate` takes: coordinates
                 by name, a former equilibrium, a result at one time
    formulation  as of `torsor.simulate`
    parameters   values that differ from the model's
    inputs       values of inputs that differ from the model's
    stable       True: descend from the start to a stable equilibrium, if there is one; False: find the equilibrium that
                 Newton's method leads to, stable or not
    time         at which forces and motions that depend on time are taken; None: that of a start that has one, else 0

    Loops, contacts, stops and dry friction take part as at rest. Where grounds or drives move steadily, all other velocities are
    zero. Without an equilibrium, a ModelError reports the nearest point and the unbalanced forces there.
    """
    if not isinstance(stable, (bool, np.bool_)):
        raise OptionError(f"equilibrium: stable must be True or False, got {quantity.show(stable)}")
    require_model(model, "equilibrium")
    given = parameters_of(model, start, parameters)
    if input_values := named_values(inputs, "equilibrium: inputs", "numbers"):
        if unknown := [name for name in input_values if name not in model.parameters]:
            known = ", ".join(model.declared_inputs) or "none; declare one with model.input(name)"
            raise OptionError(f"equilibrium: model {model.name!r} has no input {unknown[0]!r}. Known: {known}.")
        given = named_values(given, "equilibrium: parameters", "numbers") | input_values
    mechanism = Mechanism(model, formulation, given, time, "equilibrium")
    point = operating_point(mechanism, start, "start", contacts_free=True)
    contacts = ContactsAtRest(mechanism)
    search = Search(mechanism, contacts)
    balance = search.require_steady(search.find(point.with_changes(v=np.zeros_like(point.v)), bool(stable)))
    if isinstance(start, Mapping) and not is_result(start):
        _refuse_other_velocities(mechanism, start, balance.point)
    size = max(balance.size, balance.stiffness_scale)
    return Equilibrium(
        _dataset(balance), balance.residual / size if size else 0.0, _neutral_directions(balance), contacts.status(balance.point),
        mechanism.parameters, mechanism.formulation, balance,
    )  # fmt: skip


def _refuse_other_velocities(mechanism, start, point):
    """OptionError for requested velocities that no drive or moving ground imposes."""
    requested, outputs = StartNames(mechanism.model, mechanism.system).parse(start), mechanism.output_values(point)
    rates = dict(zip(mechanism.system.joint_coordinates, outputs["rate"]))
    requested_velocities: dict[str, Any] = {f"{name}.rate": (x, rates[name]) for name, x in requested.rates.items()}
    for (body, what), x in requested.bodies.items():
        if what.endswith("velocity"):
            requested_velocities[f"{body}.{what}"] = (
                x,
                outputs[what].reshape(-1, 3)[mechanism.system.bodies.index(body)],
            )
    most = max((np.abs(actual).max() for _, actual in requested_velocities.values()), default=0.0)
    for name, (x, actual) in requested_velocities.items():
        if not np.allclose(x, actual, rtol=1e-6, atol=1e-9 * most):
            raise OptionError(
                f"equilibrium: start: {name} cannot be {quantity.show(x)} where nothing imposes it: in an equilibrium only drives "
                "and moving grounds move. Drive a joint with torsor.Drive(name, joint, speed * torsor.time), or linearise about a "
                "motion with torsor.linearise(model, at={…})"
            )


def _neutral_directions(balance: Balance):
    """For each neutral direction, the names of the coordinates and states that change most."""
    m, directions = balance.mechanism, []
    names = [*m.names, *m.states]
    for direction in balance.neutral().T:
        order = np.argsort(-np.abs(direction))
        large = [names[j] for j in order if abs(direction[j]) > 0.3 * abs(direction[order[0]])]
        directions.append(", ".join(large[:4]) + (" …" if len(large) > 4 else ""))
    return directions


def _dataset(balance: Balance):
    """The equilibrium as a result at one time."""
    m, point = balance.mechanism, balance.point
    used = sorted({*balance.rows.keep, *np.flatnonzero(balance.unknown.lam).tolist()})
    outputs = m.results(point, balance.unknown)[None, :]
    one = np.zeros(1)
    trajectory = Trajectory(np.array([point.t]), point.p[None], one, one, outputs, {}, "finished", point.t, 0.0, used)
    data = label_variables(m.system, trajectory.times, used, at_outputs(m.system, outputs, one, one, trajectory))
    attributes = {"options": json.dumps({"parameters": m.parameters})}  # as results have them
    return data.isel(time=0).assign_attrs(
        model=m.model.name, model_hash=m.system.fingerprint, formulation=m.formulation, **attributes
    )
