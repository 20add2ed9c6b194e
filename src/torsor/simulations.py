"""Many simulations of one model that are driven from Python together, call by call: learning, sampling, populations."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .elements import quantity
from .elements.assignments import assign_only
from .errors import OptionError, RunError
from .look.current_values import Named, Present, unknown
from .methods.projections import Projection
from .model.model import Model
from .run.many.lane_runner import lane_library, reason_against_lanes
from .run.many.lane_starts import LaneStarts, NotOneSystem
from .run.many.lane_stepper import LaneStepper
from .run.output_times import seconds
from .stepping import HORIZON, Simulation

LISTED = 8  # simulations that a message lists


class Columns(Named):
    """Numbers of all simulations by name: one value, or one row, for each simulation; as an array (simulation, number)."""

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise OptionError(unknown("coordinate", name, self._places))
        return self.array[:, self._places[name]]

    def __repr__(self):
        return f"{{{', '.join(f'{name!r}: …' for name in self.names)}}} of {len(self.array)} simulations"


class Simulations:
    """Many simulations of one model that advance together.

        sims = ts.Simulations(model, 1024, method="rkmk4", step=0.002)
        while sims.time[0] < 5.0:
            sims.advance(0.02, torque=-2.0 * sims.rates["hinge"])

    model, count   the model, and how many simulations there are
    start          as of `Simulation`, for all of them; or a list of `count` starts
    parameters     numbers by name for all of them, or arrays of `count` numbers
    threads        number of threads that share them
    others         as of `Simulation`

    Fixed explicit steps without constraints to project onto run several at a time in SIMD lanes, all others one after the other
    (`path`, `path_reason`). The numbers are those of a `Simulation` alone, bit for bit. A simulation that ends, by an event or
    because it failed, stays where it is until it is reset; the others go on.
    """

    def __init__(
        self,
        model: Model,
        count: int,
        formulation: str = "auto",
        method: str = "rkmk54",
        step: float | None = None,
        tolerance: float | None = None,
        projection: str | Projection = "least-squares",
        map: str = "exp",
        start: Any = None,
        parameters: Mapping[str, Any] | None = None,
        signals: dict | None = None,
        horizon: float = HORIZON,
        reactions: str = "solved",
        threads: int = 1,
    ):
        self._count = _whole("count", count)
        self._threads = _whole("threads", threads)
        self.model = model
        rows = self._parameter_rows(parameters)
        starts = self._starts(start, np.arange(self._count))
        options: dict[str, Any] = {
            "formulation": formulation, "method": method, "step": step, "tolerance": tolerance, "projection": projection,
            "map": map, "signals": signals, "horizon": horizon, "reactions": reactions,
        }  # fmt: skip
        self._first = Simulation(model, parameters=rows[0], **options)  # the others have its kernels
        self._present = Present(self._first._prepared.own)
        self._reasons = [""] * self._count
        self._outputs: Any = None
        self._use_lanes(rows, starts)
        if self._lanes is None:
            self._alone = [self._first if k == 0 else self._make_alone(rows[k], options) for k in range(self._count)]
            self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
            if start is not None:
                self._reset_alone(np.arange(self._count), starts)

    __setattr__ = assign_only("model", instead="Use sims.reset(…) or sims.advance(dt, …), or make other Simulations.")

    def _parameter_rows(self, parameters):
        """Parameters of each simulation, by name; simulations share one dictionary if nothing varies."""
        given = dict(parameters or {})
        varied = {name: np.asarray(x, float) for name, x in given.items() if np.ndim(x) == 1 and len(x) == self._count}
        if not varied:
            return [given] * self._count
        return [given | {name: float(x[k]) for name, x in varied.items()} for k in range(self._count)]

    def _starts(self, start, which):
        """The start of each of some simulations."""
        if not isinstance(start, (list, tuple)):
            return [start] * len(which)
        if len(start) != len(which):
            raise OptionError(f"start: give one start, or a list of {len(which)} starts, got {len(start)}")
        return list(start)

    def _make_alone(self, parameters, options):
        """A simulation of its own, prepared again only if its parameters differ."""
        if parameters is self._first._arguments["parameters"] or parameters == self._first._arguments["parameters"]:
            return self._first.copy()
        return Simulation(self.model, parameters=parameters, **options)

    def _use_lanes(self, rows, starts):
        """Advance in lanes where that is possible; `_lanes` is None, and `_why` says why, where it is not."""
        task, prepared = self._first._task, self._first._prepared
        self._lanes: Any = None  # LaneStepper
        self._why = reason_against_lanes(prepared.runner)
        if not self._why and task.path != "straight":
            self._why = "the model runs through tables"
        if self._why:
            return
        try:
            self._lane_starts = LaneStarts(task, prepared, rows)
            x, p = self._lane_starts.rows(np.arange(self._count), starts)
        except NotOneSystem as why:
            self._why = str(why)
            return
        library = lane_library(task.derivation(), prepared.own.choice)
        self._lanes = LaneStepper(prepared.runner, library, x, p, self._threads)
        self._times = np.zeros(self._count)
        self._shifts = np.zeros(self._count)
        self._base, self._dt, self._calls = 0.0, 0.0, 0

    def __len__(self) -> int:
        return self._count

    @property
    def path(self) -> str:
        """How they run: "lanes", or that of one simulation, "straight" or "tables"."""
        return "lanes" if self._lanes is not None else self._first.path

    @property
    def path_reason(self) -> str:
        """Why they run in this way, in words."""
        if self._lanes is not None:
            return f"{self._count} simulations, several at a time in vector registers"
        return f"one simulation after the other: {self._why}"

    @property
    def time(self) -> np.ndarray:
        """Present time of each simulation [s]."""
        return self._times.copy() if self._lanes is not None else np.array([one.time for one in self._alone])

    @property
    def end_reasons(self) -> list[str]:
        """Why each simulation has ended: by which event, or how it failed; empty while it can go on."""
        return list(self._reasons)

    def advance(self, dt: float, **inputs: Any) -> None:
        """Go on by dt seconds, with inputs that keep their values from now on: numbers, or one for each simulation.

        A RunError names simulations that fail. They stay at the last state that they reached; the others have advanced.
        """
        dt = seconds(dt, "advance: dt")
        placed = self._check_inputs(inputs, self._count)
        if all(self._reasons):
            raise RunError(f"model {self.model.name!r}: all {self._count} simulations have ended; reset them")
        before = list(self._reasons)
        self._outputs = None
        if self._lanes is not None:
            self._advance_lanes(dt, placed)
        else:
            self._advance_alone(dt, placed)
        failed = [k for k in range(self._count) if self._reasons[k].startswith("stopped") and not before[k]]
        if failed:
            listed = "; ".join(f"simulation {k} {self._reasons[k]}" for k in failed[:LISTED])
            more = f" and {len(failed) - LISTED} more" if len(failed) > LISTED else ""
            raise RunError(f"model {self.model.name!r}: {listed}{more}")

    def _advance_lanes(self, dt, placed):
        lanes = self._lanes
        for place, values in placed:
            lanes.p[:, place] = values
        now = self._base + self._calls * self._dt
        if dt != self._dt:
            self._base, self._dt, self._calls = now, dt, 0
        end = self._base + (self._calls + 1) * dt
        if end <= now:
            raise OptionError(f"advance: {dt:g} s are less than the rounding of the time {now:.17g} s")
        reached = lanes.advance(now, end, self._shifts)
        self._calls += 1
        running = np.array([not reason for reason in self._reasons])
        good = np.isfinite(reached).all(axis=1)
        for k in np.flatnonzero(running & ~good):
            self._reasons[k] = f"stopped after t = {self._times[k]:.9g} s: its state is not a number, or too large"
        moved = running & good
        lanes.x[moved] = reached[moved]
        self._times[moved] = end + self._shifts[moved]

    def _advance_alone(self, dt, placed):
        names = list(self._first._places)
        order = {self._first._places[name]: name for name in names}

        def go(k):
            one = self._alone[k]
            if self._reasons[k]:
                return
            try:
                one.advance(dt, **{order[place]: float(values[k]) for place, values in placed})
                self._reasons[k] = one.end_reason
            except RunError as why:
                self._reasons[k] = one.end_reason or f"stopped: {why}"

        if self._pool is None:
            for k in range(self._count):
                go(k)
        else:
            list(self._pool.map(go, range(self._count)))

    def _check_inputs(self, inputs, count):
        """Places of inputs, and their values for some simulations."""
        found, places = [], self._first._places
        for name, value in inputs.items():
            place = places.get(name)
            if place is None:
                raise OptionError(f"model {self.model.name!r}: {unknown('input', name, places)}")
            if np.ndim(value) == 0:
                values = np.full(count, self.model.parameters[name].check_value(value))
            else:
                try:
                    values = np.asarray(value, float)
                except (TypeError, ValueError):
                    shown = quantity.show(value)
                    raise OptionError(f"input {name!r}: give a number, or {count} of them, got {shown}") from None
                if values.shape != (count,):
                    shown = f"an array of shape {np.shape(value)}"
                    raise OptionError(f"input {name!r}: give a number, or {count} of them, got {shown}")
                if not (np.abs(values) <= quantity.LARGEST).all():
                    k = int(np.argmin(np.abs(values) <= quantity.LARGEST))
                    raise OptionError(f"input {name!r} of simulation {k}: give a finite number, got {values[k]}")
                if self.model.parameters[name].positive and not (values > 0).all():
                    k = int(np.argmin(values > 0))
                    raise OptionError(f"input {name!r} of simulation {k}: must be positive, got {values[k]:g}")
            found.append((place, values))
        return found

    def reset(self, which: Any = None, start: Any = None, **inputs: Any) -> None:
        """Begin again, at time 0, with inputs as they were declared, or these.

        which    indices, or a mask, of the simulations; None: all of them
        start    another start for them, or a list of starts; None: where they began
        """
        chosen = self._chosen(which)
        placed = self._check_inputs(inputs, len(chosen))
        starts = self._starts(start, chosen)
        self._outputs = None
        if self._lanes is None:
            self._reset_alone(chosen, starts)
            for place, values in placed:
                for k, value in zip(chosen, values):
                    self._alone[k]._stepper.put(place, float(value))
        else:
            x, p = self._lane_starts.rows(chosen, starts)
            for place, values in placed:
                p[:, place] = values
            self._lanes.x[chosen], self._lanes.p[chosen] = x, p
            if len(chosen) == self._count:
                self._base, self._dt, self._calls = 0.0, 0.0, 0
            self._shifts[chosen] = -(self._base + self._calls * self._dt)
            self._times[chosen] = 0.0
        for k in chosen:
            self._reasons[k] = ""

    def _reset_alone(self, chosen, starts):
        for k, start in zip(chosen, starts):
            self._alone[k].reset(start)

    def _chosen(self, which):
        """Indices of the simulations that are meant."""
        if which is None:
            return np.arange(self._count)
        given = np.atleast_1d(np.asarray(which))
        if given.dtype == bool and given.shape == (self._count,):
            return np.flatnonzero(given)
        if not np.issubdtype(given.dtype, np.integer) or ((given < 0) | (given >= self._count)).any():
            raise OptionError(
                f"which: give indices from 0 to {self._count - 1}, or a mask of {self._count} values, got {quantity.show(which)}"
            )
        return np.unique(given)

    @property
    def coordinates(self) -> Columns:
        """Coordinates of all joints, by name and as an array (simulation, coordinate) [m or rad]."""
        return self._values_by_name("coordinate")

    @property
    def rates(self) -> Columns:
        """Velocities of all joints, likewise [m/s or rad/s]."""
        return self._values_by_name("rate")

    def _values_by_name(self, what):
        system = self._present.system
        rows = self._rows()[:, system.outputs.slices[what]].copy()
        return Columns(self._present.coordinates, rows, system.joint_coordinates)

    def __getitem__(self, name: Any) -> Any:
        """A signal of all simulations by its name, with the simulation as first dimension: see `Simulation`. With an index,
        the simulation of this index: itself where they run one after the other, in lanes another one in its state."""
        if isinstance(name, (int, np.integer)):
            return self._simulation(int(name))
        if name == "time":
            return self.time
        if name == "work":
            return self._work()
        rows, signals = self._rows(), self._present.signals
        if name == "energy":
            return rows[:, signals["kinetic_energy"]] + rows[:, signals["potential_energy"]]
        if not isinstance(name, str) or name not in signals:
            raise OptionError(unknown("signal", name, {"time": 0, "energy": 0, "work": 0, **signals}))
        return rows[:, signals[name]]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    def names(self) -> Sequence[str]:
        """Names of everything that can be read."""
        return ["time", "energy", "work", *self._present.signals]

    def _work(self):
        if self._lanes is None:
            return np.array([one["work"] for one in self._alone])
        return self._lanes.x[:, self._lane_starts.work_place].copy()

    def _rows(self):
        """Outputs of all simulations, one row each; computed once for each state."""
        if self._lanes is None:
            return np.stack([one._stepper.outputs() for one in self._alone])
        if self._outputs is None:
            self._outputs = self._lane_starts.outputs(self._times, self._lanes.x, self._lanes.p)
        return self._outputs

    def _simulation(self, k):
        if not 0 <= k < self._count:
            raise OptionError(f"there are simulations 0 to {self._count - 1}, got {k}")
        if self._lanes is None:
            return self._alone[k]
        return self._lane_starts.place(self._first.copy(), self._times[k], self._lanes.x[k], self._lanes.p[k])

    def __repr__(self):
        return f"<{self._count} Simulations of {self.model.name!r}, {self.path}>"


def _whole(name, value):
    """A whole number from 1 on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise OptionError(f"Simulations: {name} must be a whole number from 1 on, got {quantity.show(value)}")
    return int(value)
