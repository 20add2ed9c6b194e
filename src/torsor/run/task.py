"""The task of a run: its options, its preparation, and the checks of its result."""

import gc
import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..checks.continuity import refuse_jumps
from ..checks.table_breakpoints import breakpoints_of
from ..errors import AccuracyWarning, ModelError, OptionError, ResultError, RunError
from ..joints import Joint
from ..kernels.derivation_lock import DERIVING, deriving
from ..methods.integrator import integrator_of
from ..methods.projections import Projection
from ..model.hints import hint_at_rigidity
from ..model.model import Model
from ..parallel.ranks import SINGLE_RANK
from ..prepare import auto_formulation, large_systems
from ..prepare.choice import SHARE, KernelOptions
from ..prepare.derivation import derive
from ..prepare.memory_estimate import refuse_large_model
from ..prepare.prepare import changes_structure, choose_again, run_kernels
from ..prepare.requested_start import Starts
from ..registry import registered
from . import auto_method, verdict
from .interrupt_signals import reraise_signals
from .restore_checks import refuse_other_system
from .run_tolerances import MOTION_RESOLVED
from .runner import Runner, RunOptions

REACTIONS_AS_SOLVED = "solved"
PATH_STRAIGHT, PATH_TABLES = "straight", "tables"  # one graph of all equations; class kernels called through tables


@contextmanager
def pause_garbage_collection():
    """Pause garbage collection. The objects of a run stay alive, and searching them repeatedly doubles the time of preparation."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass
class Task:
    """The options of a run, after validation.

    formulation, method     as requested, possibly "auto"; once the task is prepared, the ones that were chosen
    reason, method_reason   why formulation and method were chosen; empty: they were requested
    path, path_reason       "straight", "tables", "threads" or "ranks": how the prepared task runs, and why (docs/results.md)
    ranks                   that run the task together, each a part of it (`parallel/ranks.py`)
    """

    model: Model
    until: float
    step: float | None
    method: str
    formulation: str
    projection: Projection
    tolerance: float
    map: str
    signals: dict
    parameters: dict
    reason: str = auto_formulation.REQUESTED
    ranks: Any = None
    method_reason: str = ""
    path: str = ""
    path_reason: str = ""
    controllers: Any = None  # controllers whose Python functions the run calls
    start: Any = None  # start as given by the user; None: the start of the model
    reactions: str = REACTIONS_AS_SOLVED  # of redundant constraints: as solved for, or shared with the least norm
    exactly: bool = False  # refuse values by name, and coordinates that no assembly has, instead of moving the start
    starts: Any = field(default=None, compare=False, repr=False)

    def values(self):
        return self.model.values(self.parameters)

    def options(self):
        """The options as the attributes of results show them."""
        return {
            "model": self.model.name, "until": self.until, "step": self.step, "method": self.method,
            "method_reason": self.method_reason,
            "formulation": self.formulation, "formulation_reason": self.reason,
            "path": self.path, "path_reason": self.path_reason,
            "projection": "constraints met by the method" if self._integrator().meets else repr(self.projection),
            "tolerance": self.tolerance, "map": self.map, "parameters": self.values(),
            "start": None if self.start is None else "given", "reactions": self.reactions,
        }  # fmt: skip

    @pause_garbage_collection()
    @reraise_signals()
    def prepare(self, stored=None):
        """Prepare the task. Returns the system and its runner.

        stored   the system of a checkpoint, which is used instead of the derived one
        """
        model = self.model
        refuse_large_model(model)
        with DERIVING:
            model.seal()
            refuse_jumps(model, self.values(), self.until)
        if self.ranks is not None:
            return self._prepare_part()
        chosen, system, built = self._derive_system()
        needs_one_graph = self._start_needs_one_graph(system)
        if needs_one_graph:
            chosen, system, built = self._derive_system(tables=False)
        kernel_options = self.kernel_options()
        if stored is not None:
            start_given = self.start is not None
            self._refuse_other_equations(stored, system, start_given)
            built = self.derivation().library(stored.choice, run_kernels) if start_given else built
            system = stored
        else:
            self.formulation, self.reason = chosen
            self.starts = Starts(self, system, built, kernel_options)
            system, built = (system, built) if self.start is None else self.starts.at(self.start)
        self.path, self.path_reason = self.find_path(system)
        if needs_one_graph:
            self.path_reason = "tables support `start=` for models without loops, and this one has loops"
        hint_at_rigidity(model, system.freedom)
        refuse_too_fast_start(model, system, self.until)
        return system, self._make_runner(system, built, kernel_options).set_breakpoints(breakpoints_of(model))

    def _start_needs_one_graph(self, system):
        """True if tables do not support a given start, since the model has loops, and "auto" may choose another formulation."""
        is_auto = self.formulation == auto_formulation.AUTO
        return is_auto and self.start is not None and system.through_tables and bool(system.keep)

    def find_path(self, system):
        """How the prepared task runs, and why."""
        if system.through_tables:
            return PATH_TABLES, f"its {len(self.model.bodies)} bodies share code, called through tables"
        if reason := large_systems.reason_against_tables(self):
            return PATH_STRAIGHT, reason
        plain = self.model.derived.get("plain")
        if plain is not None and plain.shared_load:
            return PATH_STRAIGHT, f"{plain.shared_load!r} holds something together with other contacts or dry friction"
        return (
            PATH_STRAIGHT,
            "tables need a start at which the joints fit together, and no redundant rows that share loads",
        )

    def kernel_options(self):
        """Options that kernels depend on."""
        return KernelOptions(self.map, self.projection.baumgarte, self.projection.metric, self.needs())

    def run_options(self):
        """Options of the runner."""
        return RunOptions(self.method, self.step, self.tolerance, self.projection, self.until)

    def _derive_system(self, tables=True):
        """Formulation with its reason, system and kernels; `method="auto"` becomes the chosen method."""
        derive = deriving(auto_formulation.choose_and_prepare)

        def prepare():
            arguments = self.formulation, self.kernel_options(), self.signals, self.parameters
            return derive(self.model, *arguments, tables=tables)

        result = prepare()
        if self.method == auto_method.AUTO:
            _, system, built = result
            self.method, self.method_reason = auto_method.choose(system, built, self.until, self.step)
            result = prepare() if self.needs() else result
        return result

    def _refuse_other_equations(self, stored, system, start_given):
        """Refuse a stored system if the equations of the model have changed. A given start may lead to another choice of rows."""
        sizes = ("q", "v", "parameters", "turns")

        def shape(x):
            return [start_given or x.choice, json.dumps([x.layout, [x.sizes[k] for k in sizes]])]

        if shape(system) != shape(stored):
            raise ResultError(
                f"model {self.model.name!r}: its equations differ from those of the stored run; use the model and the version "
                "with which the run began. Nothing was changed"
            )
        refuse_other_system(stored, system, start_given)

    def _make_runner(self, system, built, kernel_options):
        """The runner of a prepared system: with events if the model has any that change something."""
        if changes_structure(self.model):
            from ..prepare.structures import Structures
            from ..prepare.table_structures import TableStructures
            from .events.event_runner import EventRunner

            if system.through_tables and system.choice.flagged:
                structures: Any = TableStructures(self.derivation(), system, built)
            else:
                structures = Structures(self.derivation(), system, built, kernel_options)
            runner = EventRunner(structures, system, built, self.run_options(), self.blame)
            self.controllers = runner.controllers
            return runner

        def rechoose(choice, *at):
            return choose_again(self.derivation(), system, choice, kernel_options, *at)

        def library(choice):
            return self.derivation().library(choice, run_kernels)

        return Runner(system, built, self.run_options(), rechoose, library, self.blame)

    def needs(self):
        """Kernels that the method needs, and whether reactions are shared among redundant constraints."""
        return self._integrator().required_kernels() + ((SHARE,) if self.reactions == SHARE else ())

    def _integrator(self):
        """The integrator of the method; an explicit one while `method="auto"` is not decided."""
        return integrator_of(auto_method.EXPLICIT if self.method == auto_method.AUTO else self.method)

    def _prepare_part(self):
        """Prepare the part of this rank. Returns the whole system, which results show, and the runner of the part."""
        from .rank_part import Part
        from .rank_runner import rank_runner

        if self.method == auto_method.AUTO:
            self.method = auto_method.EXPLICIT
            self.method_reason = f"{self.ranks.word}s run it"
        if self.reactions == SHARE:
            raise OptionError(
                f"model {self.model.name!r}: reactions={SHARE!r} is not supported with {self.ranks.word}s"
            )
        if self.needs():
            supported = ", ".join(key for key, cls in registered("integrator").items() if not cls.required_kernels())
            raise OptionError(
                f"model {self.model.name!r}: method {self.method!r} is not supported with {self.ranks.word}s; use one of "
                f"{supported}"
            )
        part = Part(self, self.ranks)
        self.formulation = part.formulation
        self.reason = f"{self.ranks.word}s run it"
        self.path = f"{self.ranks.word}s"
        self.path_reason = f"{self.ranks.count} {self.ranks.word}s run it, each a part of its bodies, through tables"
        refuse_too_fast_start(self.model, part.system, self.until, self.ranks)
        runner = rank_runner(part, self.run_options())
        self.controllers = getattr(runner, "controllers", None)
        return part.whole_system, runner.set_breakpoints(breakpoints_of(self.model))

    def start_by_one_rank(self, formulation):
        """q, v and p of the whole system at the start that the user gives, computed without other ranks."""
        alone = replace(self, ranks=None, formulation=formulation)
        _, system, built = alone._derive_system()
        system, _ = Starts(alone, system, built, alone.kernel_options()).at(alone.start)
        return np.array(system.q), np.array(system.v), np.array(system.p)

    def blame(self, reach, t, bodies, p):
        """Elements that are not numbers at a state or up to `reach` seconds later, as the end of a message; empty if all are.

        bodies   position, rotation, velocity and angular velocity of each body
        """
        from ..checks.undefined_elements import first_undefined_elements

        p = (
            p if len(p) else self.model.input_values(self.values())
        )  # the kernels of a large model contain its parameters
        owners, when, causes = first_undefined_elements(self.model, reach, t, bodies, p)
        if owners:
            undefined_at = f"{', '.join(owners)} is not a number at t = {when:.9g} s"
            return f": {': '.join([undefined_at, *dict.fromkeys(causes)])}"
        x, R = (np.array(parts) for parts in [*zip(*bodies)][:2])
        return f": {singular}" if (singular := verdict.singular(self, t, x, R, p)) else ""

    def derivation(self):
        """What is derived from the model for this formulation (`prepare/derivation.py`)."""
        return derive(self.model, self.formulation, dict(self.model.signals) | self.signals)

    def judge(self, system, data, count, folder=None):
        """Check the result of a run. Returns the data, or raises a RunError that contains it.

        count    number of outputs
        folder   of the checkpoint; None: there is none
        """
        status, reached = data.attrs["status"], data.attrs["time_reached"]
        if status == "interrupted":
            resume = "" if folder is None else f"; continue with torsor.resume({folder!r}, model)"
            level = 3 if folder is None else 5
            warnings.warn(
                f"interrupted at t = {reached:.6g} s; the results up to there are returned{resume}", stacklevel=level
            )
            return data
        if "interrupted_by" in data.attrs:  # too late to stop the run
            warnings.warn("interrupted after the end of the run; its result is returned", stacklevel=4)
        if status != "finished" and not status.startswith("ended"):
            cause = self.controllers and self.controllers.failure
            raise self._failure(self._stopped_message(data, count), data, folder) from cause
        if problem := self._constraint_problem(system, data):
            raise self._failure(f"{problem}. The run is kept in `data` of this error.", data, folder)
        return data

    def _failure(self, text, data, folder):
        stored = "" if folder is None else f" The results are also stored in {folder!r}."
        return RunError(f"model {self.model.name!r}: {text}{stored}", data)

    def _stopped_message(self, data, count):
        """Message about a run that stopped before its end."""
        status, steps = data.attrs["status"], data.attrs["steps"]
        singular = "" if "singular" in status else verdict.singular_start(self, data)
        status += f". {singular}" if singular else ""
        return (
            f"stopped at t = {data.attrs['time_reached']:.6g} s of {self.until:g} s: {status}. {steps} steps, {count} outputs kept "
            "in `data` of this error."
        )

    def _constraint_problem(self, system, data):
        """What is wrong with the constraints of a finished run: a wrong assembly, or a contradiction; empty if nothing is."""
        if jumped := verdict.find_jumped_element(self, system, data):
            element, when = jumped
            return (
                f"{element.owner} came together the wrong way round before t = {when:.6g} s: its constraints hold, but an axis "
                "points the other way, or a part is turned by 180 degrees; take smaller steps"
            )
        if violated := verdict.violated_redundant_constraints(self, system, data):
            names, residual = violated
            if singular := verdict.singular_start(self, data):
                return f"{singular}. {names} are violated by up to {residual:.3g} later"
            return (
                f"contradictory constraints: {names} were taken for redundant at the start, but are violated by up to "
                f"{residual:.3g} later, although all other constraints hold; make the prescribed motions agree"
            )
        return ""

    def warn_if_inaccurate(self, data, level=3):
        """Warn if the result of a run may be inaccurate: friction loads, divided steps, energy balance. Returns the data."""
        a = data.attrs
        warn_of_friction_loads(self.model, data, "the motion is", level + 2)
        if a.get("cut_steps"):
            warnings.warn(
                f"model {self.model.name!r}: {a['cut_steps']} of the steps of {self.step:g} s were cut into shorter ones, since "
                f"Newton's method did not solve the equations of method {a['method']!r} in them. The result has other steps than "
                "requested: take a smaller step",
                AccuracyWarning,
                stacklevel=level + 1,
            )
        if "energy_balance_lost" in a and a["status"] != "interrupted":
            what = "a smaller tolerance" if self.step is None else "a smaller step"
            advice = verdict.singular_start(self, data) or f"take {what}, and measure the error with certify=True"
            warnings.warn(
                f"model {self.model.name!r}: the energy balance is lost from t = {a['energy_balance_lost']:.6g} s on: its error "
                f"reaches {a['energy_balance_error']:.3g} J, {a['energy_balance_relative']:.2g} of the energy turned over. Do not "
                f"trust the result from there on: {advice}",
                AccuracyWarning,
                stacklevel=level + 1,
            )
        return data


def warn_of_friction_loads(model, data, what, level):
    """Warn of dry friction in joints whose reactions are not unique.

    what    is not unique either: subject and verb of the message
    level   stack level of the warning
    """
    unique = (data["reaction_unique"] & data["reaction_torque_unique"]).all("axis").values
    if text := friction_load_message(model, data["joint"].values[~unique].tolist(), what):
        warnings.warn(text, AccuracyWarning, stacklevel=level)


def friction_load_message(model, shared, what="the motion is"):
    """Message about dry friction in joints whose reactions are not unique; empty if there is none.

    shared   names of joints whose reactions are not unique
    """
    frictions = [c for c in model.constraints if isinstance(getattr(c, "on", None), Joint) and c.normal is None]
    affected = [c.owner for c in frictions if c.on.name in shared and model.may_act(c)]
    return affected and (
        f"model {model.name!r}: {', '.join(affected)}: its load is the reaction of a joint that is not unique, since "
        f"constraints are redundant, so that {what} not either. Give its `normal`, or free the loop of redundant constraints"
    )


def refuse_too_fast_start(model, system, until, ranks=SINGLE_RANK):
    """Refuse a start so fast that the displacement during the run is lost in rounding."""
    sizes = np.where(np.array(system.linear, bool), system.length, 1.0)
    (rate,) = ranks.largest(np.abs(np.array(system.v) / sizes).max(initial=0.0))
    if not rate * until <= MOTION_RESOLVED:
        raise ModelError(
            f"model {model.name!r}: the start is too fast: in {until:g} s something would move by {rate * until:.1e} times the "
            f"model's size, or turn by as many radians; rounding allows up to {MOTION_RESOLVED:g}"
        )
