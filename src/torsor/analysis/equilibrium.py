"""`torsor.equilibrium`: where a mechanism rests, what holds it there, and whether it stays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError
from ..kernels.deriving import deriving
from ..look.dataset import at_outputs, labelled
from ..run.results import Trajectory
from ..run.wanted import Names
from .balance import Balance
from .given import by_name, model_given
from .linear_model import LinearModel
from .linearise import of_place
from .mechanism import Mechanism
from .places import elsewhere, is_result, parameters_of, place_of, renewed
from .rest import Rest
from .statics import Search

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False, eq=False)
class Equilibrium:
    """An equilibrium of a model, and what is known about it.

    data         everything that a result holds, at one time: poses, coordinates, reactions, multipliers, signals
    stability    "stable", "marginal" or "unstable": see `LinearModel.stability`; `linear` is that model
    residual     the largest force that is not in balance, over the largest that is in it
    neutral      coordinates that may be anything, in words: each an independent direction that meets no resistance
    contacts     "closed" or "open" by name, and of dry friction "holds" or "slides"
    parameters   values that it belongs to
    formulation  in the coordinates of which it was found

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
    def coordinates(self) -> dict[str, float]:
        """Joint coordinates by name [rad or m]; without joints, positions of the bodies."""
        return self._balance.mechanism.coordinates(self._balance.place)

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
        """Small motions about it."""
        return of_place(self._balance.mechanism, self._balance.place)

    @property
    def stability(self) -> str:
        return self.linear.stability

    @property
    def stable(self) -> bool:
        return self.stability == "stable"

    def place_in(self, mechanism):
        """The same state in the coordinates of another formulation."""
        own = self._balance.mechanism
        if own.model is not mechanism.model:
            raise OptionError(
                f"`at` is an equilibrium of another model, {own.model.name!r}, not of {mechanism.model.name!r}"
            )
        place = self._balance.place
        same = own.formulation == mechanism.formulation
        return renewed(mechanism, place) if same else elsewhere(mechanism, self.data, like=place)

    def __reduce__(self):
        place, model = self._balance.place, self._balance.mechanism.model
        return equilibrium, (model, self.data, self.formulation, self.parameters, None, False, place.t)

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
    stable       go downhill from the start, so that a stable equilibrium is found where there is one; else the one that
                 Newton's method leads to, stable or not
    time         at which forces and motions that depend on time are taken; None: that of a start that has one, else 0

    Loops, contacts, stops and dry friction are held as they are at rest. Where grounds or drives move steadily, all other
    velocities are zero. ModelError where there is no equilibrium, with the forces that are left and the nearest point.
    """
    if not isinstance(stable, (bool, np.bool_)):
        raise OptionError(f"equilibrium: stable must be True or False, got {quantity.show(stable)}")
    model_given(model, "equilibrium")
    given = parameters_of(model, start, parameters)
    if pushed := by_name(inputs, "equilibrium: inputs", "numbers"):
        if unknown := [name for name in pushed if name not in model.parameters]:
            known = ", ".join(model.declared_inputs) or "none; declare one with model.input(name)"
            raise OptionError(f"equilibrium: model {model.name!r} has no input {unknown[0]!r}. Known: {known}.")
        given = by_name(given, "equilibrium: parameters", "numbers") | pushed
    mechanism = Mechanism(model, formulation, given, time, "equilibrium")
    place = place_of(mechanism, start, "start", loose=True)
    rest = Rest(mechanism)
    search = Search(mechanism, rest)
    found = search.steady(search.found(place.moved(v=np.zeros_like(place.v)), bool(stable)))
    if isinstance(start, Mapping) and not is_result(start):
        _refuse_other_velocities(mechanism, start, found.place)
    size = max(found.size, found.pace)
    return Equilibrium(
        _dataset(found), found.residual / size if size else 0.0, _named(found), rest.told(found.place), mechanism.parameters,
        mechanism.formulation, found,
    )  # fmt: skip


def _refuse_other_velocities(mechanism, start, place):
    """Refuse velocities that were asked for by name and that nothing imposes."""
    wanted, shown = Names(mechanism.model, mechanism.system).wanted(start), mechanism.shown(place)
    rates = dict(zip(mechanism.system.joint_coordinates, shown["rate"]))
    asked: dict[str, Any] = {f"{name}.rate": (x, rates[name]) for name, x in wanted.rates.items()}
    for (body, what), x in wanted.bodies.items():
        if what.endswith("velocity"):
            asked[f"{body}.{what}"] = x, shown[what].reshape(-1, 3)[mechanism.system.bodies.index(body)]
    most = max((np.abs(has).max() for _, has in asked.values()), default=0.0)
    for name, (x, has) in asked.items():
        if not np.allclose(x, has, rtol=1e-6, atol=1e-9 * most):
            raise OptionError(
                f"equilibrium: start: {name} cannot be {quantity.show(x)} where nothing imposes it: what moves in an equilibrium "
                "is driven or stands on what moves. Hold a joint at a speed by torsor.Drive(name, joint, speed * torsor.time); "
                "torsor.linearise(model, at={…}) tells small motions about any motion"
            )


def _named(balance: Balance):
    """Neutral directions in words: the coordinates and states that change most in each."""
    m, found = balance.mechanism, []
    names = [*m.names, *m.states]
    for way in balance.neutral().T:
        order = np.argsort(-np.abs(way))
        large = [names[j] for j in order if abs(way[j]) > 0.3 * abs(way[order[0]])]
        found.append(", ".join(large[:4]) + (" …" if len(large) > 4 else ""))
    return found


def _dataset(balance: Balance):
    """The place as a result at one time."""
    m, place = balance.mechanism, balance.place
    used = sorted({*balance.rows.keep, *np.flatnonzero(balance.unknown.lam).tolist()})
    outputs = m.results(place, balance.unknown)[None, :]
    one = np.zeros(1)
    trajectory = Trajectory(np.array([place.t]), place.p[None], one, one, outputs, {}, "finished", place.t, 0.0, used)
    data = labelled(m.system, trajectory.times, used, at_outputs(m.system, outputs, one, one, trajectory))
    told = {"options": json.dumps({"parameters": m.parameters})}  # as results have them
    return data.isel(time=0).assign_attrs(
        model=m.model.name, model_hash=m.system.fingerprint, formulation=m.formulation, **told
    )
