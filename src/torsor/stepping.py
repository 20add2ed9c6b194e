"""A simulation that is driven from Python, call by call: control loops, games, learning, other programs."""

import os
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from .elements import quantity
from .elements.assignments import assign_only
from .errors import OptionError, RunError
from .look.current_values import Named, Present, unknown
from .look.input_values import Inputs
from .look.run_request import Options
from .methods.projections import Projection
from .model.model import Model
from .prepare.function_digest import digest_of_laws
from .run.output_times import seconds
from .run.reusable_run import PreparedRun
from .run.stepper import Stepper, StepperStopped
from .store.saved_state import SimulationState

HORIZON = 10.0  # seconds


class Happened(NamedTuple):
    """One event of the log: when, which, what it changed the energy by [J], and values that `ts.record` noted, by name."""

    time: float
    name: str
    energy: float
    recorded: dict[str, float]


class Simulation:
    """A model that runs step by step.

        sim = ts.Simulation(model, method="rkmk4", step=0.001)
        while sim.time < 5.0:
            sim.advance(0.01, torque=-2.0 * sim.rates["hinge"])

    formulation, method, step, tolerance, projection, map, signals, parameters, reactions   as in `simulate`
    start      where it starts: see `start=` of `simulate`; None: as the model says
    horizon    time [s] in which something happens, as `until` of `simulate`: how short steps may become follows from it

    Everything stays derived, compiled and in its place between calls. Steps of a fixed length are those of `simulate` with
    outputs at the same times (and, for implicit methods, `until` as the horizon), bit for bit; adaptive ones end where a call
    ends, and the next call goes on with their length.
    """

    def __init__(
        self,
        model: Model,
        formulation: str = "auto",
        method: str = "rkmk54",
        step: float | None = None,
        tolerance: float | None = None,
        projection: str | Projection = "least-squares",
        map: str = "exp",
        start: Any = None,
        parameters: dict | None = None,
        signals: dict | None = None,
        horizon: float = HORIZON,
        reactions: str = "solved",
    ):
        if not isinstance(model, Model):
            raise OptionError(f"Simulation: give a torsor.Model, got {quantity.show(model)}")
        until, self.model = seconds(horizon, "horizon"), model
        start = start.state if isinstance(start, Simulation) else start
        options = Options(step, method, formulation, projection, tolerance, map, reactions)
        self._task = options.task(model, until, signals, parameters, start)
        self._arguments = {
            **vars(options),
            "start": self._task.start,
            "parameters": self._task.parameters,
            "signals": signals,
            "horizon": horizon,
        }
        self._open()

    __setattr__ = assign_only("model", "state", instead="Set sim.state, sim.inputs[…], or make another Simulation.")

    def _open(self):
        """Records and kernels of its own."""
        self._prepared = PreparedRun(self._task)
        self._stepper = Stepper(self._prepared)
        self._state, self._p = self._stepper.state, self._stepper.state.p
        self._places = {name: k for k, name in enumerate(self.model.parameters) if name in self.model.declared_inputs}
        self._laws = digest_of_laws(self.model)
        self._shown: Present | None = None

    def advance(self, dt: float, **inputs: float) -> None:
        """Go on by dt seconds, with inputs that keep their values from now on.

        If that fails a RunError says why, and the simulation is at the last state that it could reach. An event with `ts.end`
        ends it before: `end_reason` says which. A refused call changes nothing.
        """
        stepper = self._free()
        placed = self._check_inputs(inputs) if inputs else ()
        if not isinstance(dt, float) or not quantity.SMALLEST <= dt <= quantity.LARGEST:
            dt = seconds(dt, "advance: dt")
        if stepper.end_reason:
            raise RunError(
                f"model {self.model.name!r}: {stepper.end_reason} at t = {self.time:.9g} s; reset the simulation"
            )
        for place, value in placed:
            stepper.put(place, value)
        try:
            if not stepper.advance(dt):
                raise OptionError(f"advance: {dt:g} s are less than the rounding of the time {self.time:.17g} s")
        except StepperStopped as why:
            if not stepper.end_reason:
                message = f"model {self.model.name!r}: stopped at t = {self.time:.9g} s: {why}"
                raise RunError(message) from stepper.controller_error()

    def _free(self):
        """What drives it, which nobody else is using."""
        if self._stepper.running:
            raise RunError(
                f"model {self.model.name!r}: a call of advance goes on at t = {self.time:.9g} s, from another thread or around the "
                "function of a controller, which may look at it and set inputs; to try something take a simulation of its own"
            )
        return self._stepper

    def _check_inputs(self, inputs):
        """Places and values of inputs that are to change."""
        found = []
        for name, value in inputs.items():
            place = self._places.get(name)
            if place is None:
                raise OptionError(f"model {self.model.name!r}: {unknown('input', name, self._places)}")
            if not isinstance(value, float) or not -quantity.LARGEST <= value <= quantity.LARGEST:
                value = self.model.parameters[name].check_value(value)
            found.append((place, value))
        return found

    @property
    def inputs(self) -> Inputs:
        """Inputs by name, to be set: `sim.inputs["torque"] = 1.5`."""
        return Inputs(self)

    @property
    def time(self) -> float:
        """Present time [s]."""
        return self._state.time

    @property
    def steps(self) -> int:
        """Steps since the start."""
        return self._state.steps

    @property
    def path(self) -> str:
        """The way in which it runs, "straight" or "tables": see docs/choose.md."""
        return self._task.path

    @property
    def path_reason(self) -> str:
        """Why it runs in this way, in words."""
        return self._task.path_reason

    @property
    def coordinates(self) -> Named:
        """Coordinates of all joints, by name and as an array (`numpy.asarray`, or `.array`) [m or rad]."""
        return self._values_by_name("coordinate")

    @property
    def rates(self) -> Named:
        """Velocities of all joints, likewise [m/s or rad/s]."""
        return self._values_by_name("rate")

    def __getitem__(self, name: str) -> Any:
        """A signal at the present state, by its name: what a result holds ("energy", "position", those of the model), "time", and
        anything of one body or joint, as "bob.position", "hinge.rate", "hinge.reaction_force"."""
        name = name if isinstance(name, str) else quantity.show(name)
        if name == "time":
            return self.time
        if name == "work":
            return self._stepper.work
        if name == "energy_by_events" and self._stepper.has_events:
            return self._stepper.by_events
        if name == "multiplier":  # of the rows that were in use, as in a result
            return self._present.value(name, self._stepper.outputs())[self._stepper.multiplier_indices()]
        return self._present.value(name, self._stepper.outputs())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    def names(self) -> list[str]:
        """Names of everything that can be read."""
        of_events = ["energy_by_events"] if self._stepper.has_events else []
        return ["time", "energy", "work", *of_events, *self._present.signals]

    @property
    def events(self) -> list[Happened]:
        """What has happened since the start, the latest last; of very many events the last ten thousand or so."""
        if not self._stepper.has_events:
            return []
        program, found = self._prepared.runner.structures.program, list[Happened]()
        for t, k, energy, slots in zip(*self._stepper.log()):
            recorded = {label: float(slots[slot]) for label, event, slot in program.records if event == k}
            found.append(Happened(float(t), program.names[k], float(energy), recorded))
        return found

    @property
    def end_reason(self) -> str:
        """Message of the event that ended the simulation; empty if none has."""
        return self._stepper.end_reason

    @property
    def _present(self):
        if self._shown is None:
            self._shown = Present(self._prepared.own)
        return self._shown

    def _values_by_name(self, what):
        shown = self._present
        return Named(shown.coordinates, shown.part(what, self._stepper.outputs()), shown.system.joint_coordinates)

    @property
    def state(self) -> SimulationState:
        """All that the further run depends on, to be kept, restored (`sim.state = state`) or saved (`state.save(path)`)."""
        facts, arrays = self._stepper.snapshot()
        own, row = self._prepared.own, self._stepper.outputs()
        motion = {name: self._present.value(name, row) for name in SimulationState.MOTION}
        names = {"body": own.bodies, "joint_coordinate": own.joint_coordinates}
        values = {name: float(self._state.x[k - len(own.states)]) for k, (name, _) in enumerate(own.states)}
        given = dict(zip(self.model.parameters, self._p.tolist()))
        return SimulationState(
            self.time, own.fingerprint, self._kind, facts, arrays, names, motion, values, given, self._laws, True
        )

    @state.setter
    def state(self, moment: SimulationState) -> None:
        if not isinstance(moment, SimulationState):
            raise OptionError(f"state: give a state of a Simulation, got {quantity.show(moment)}")
        moment.refuse_other(self._prepared.own.fingerprint, self._laws, self._kind, self.model.name)
        self._free().restore(moment.facts, moment.arrays, moment.trusted)

    @cached_property
    def _kind(self):
        """What a state can only be restored with, by name."""
        options = self._task.options()
        found = {name: options[name] for name in ("formulation", "method", "step", "projection", "tolerance", "map")}
        return found | {
            "parameters": {name: x for name, x in options["parameters"].items() if name not in self._places}
        }

    def reset(self, start: Any = None, time: float | None = None, **inputs: float) -> None:
        """Begin again: where the simulation began, or at another start; with inputs as they were declared, or these.

        time   [s]; None: 0
        """
        stepper, placed = self._free(), self._check_inputs(inputs)
        if start is None and time is None:
            stepper.reset()
        else:
            now = None if time is None else quantity.number(time)
            if time is not None and (now is None or not np.isfinite(now)):
                raise OptionError(f"reset: time must be a finite number, got {quantity.show(time)}")
            system, _ = self._task.starts.at(self._task.start if start is None else start, now)
            stepper.reset(system=system)
        for place, value in placed:
            stepper.put(place, value)

    def copy(self) -> "Simulation":
        """Another one in the same state, which goes its own way."""
        twin = type(self).__new__(type(self))
        twin.model, twin._task, twin._arguments = self.model, self._task, self._arguments
        twin._open()
        twin.state = self.state
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):  # to another process
        if self._arguments["signals"]:
            raise OptionError(f"{self!r}: signals={{…}} cannot be pickled; declare them with `model.signal`")
        return partial(type(self), **self._arguments), (self.model,), self.state

    def __setstate__(self, state):
        self.state = state

    def __repr__(self):
        return f"<Simulation of {self.model.name!r} at t = {self.time:.9g} s>"


def save_state(state: SimulationState | Simulation, path: str | os.PathLike) -> None:
    """Write the state of a simulation, or a state that was taken from one, to the file `path`, which `load_state` reads."""
    state = state.state if isinstance(state, Simulation) else state
    if not isinstance(state, SimulationState):
        raise OptionError(f"save_state: give a Simulation, or its `state`, got {quantity.show(state)}")
    state.save(path)


def load_state(path: str | os.PathLike) -> SimulationState:
    """Read a state that `save_state` or `state.save(path)` wrote from the file `path`."""
    return SimulationState.load(path)
