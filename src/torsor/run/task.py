"""What is asked of a run: how it is prepared, and whether its result can be trusted."""

import gc
import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..describe.hints import hint_at_rigidity
from ..describe.model import Model
from ..errors import AccuracyWarning, ModelError, OptionError, ResultError, RunError
from ..joints import Joint
from ..kernels.deriving import DERIVING, deriving
from ..methods.integrator import integrator_of
from ..methods.projections import Projection
from ..registry import registered
from ..start.bends import bends_of
from ..start.continuity import refuse_jumps
from . import automatic, outcome, stiffness
from .choice import SHARE
from .derived import derived
from .elsewhere import Starts
from .interruption import never_lost
from .prepare import changes_structure, chosen_anew, run_kernels
from .ranks import ALONE
from .restoring import refuse_other_system
from .runner import Runner

SOLVED = "solved"
FARTHEST = 1e13  # way of the start over the size of the model


@contextmanager
def undisturbed():
    """Without the search for garbage: what is made for a run stays, and looking through it again and again takes as long as
    making it."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


@dataclass
class Task:
    """What is asked for, checked.

    ranks                 that run it together, each a part of it (`run/ranks.py`)
    formulation, reason, method, method_reason   as they were asked for; from when the task is prepared on, what was taken, and
                          why (empty: it was asked for)
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
    reason: str = automatic.ASKED
    ranks: Any = None
    method_reason: str = ""
    controllers: Any = None  # whose functions the run asks
    start: Any = None  # where it starts, as users give it; None: as the model says
    reactions: str = SOLVED  # of redundant constraints: as they are solved for, or shared with the least norm
    exactly: bool = False  # whether coordinates of the start that no assembly has, and values by name, are refused
    starts: Any = field(default=None, compare=False, repr=False)

    def values(self):
        return self.model.values(self.parameters)

    def options(self):
        """As results tell it."""
        return {
            "model": self.model.name, "until": self.until, "step": self.step, "method": self.method,
            "method_reason": self.method_reason,
            "formulation": self.formulation, "formulation_reason": self.reason,
            "projection": "constraints met by the method" if self._integrator().meets else repr(self.projection),
            "tolerance": self.tolerance, "map": self.map, "parameters": self.values(),
            "start": None if self.start is None else "given", "reactions": self.reactions,
        }  # fmt: skip

    @undisturbed()
    @never_lost()
    def prepared(self, stored=None):
        """System and runner; stored: the system of a checkpoint, which counts, and not what would be derived today."""
        model, metric = self.model, self.projection.metric
        ways = (self.map, self.projection.baumgarte, metric)
        with DERIVING:
            model.seal()
            refuse_jumps(model, self.values(), self.until)
        if self.ranks is not None:
            return self._parted()
        prepared = lambda needs: deriving(automatic.prepared)(
            model, self.formulation, *ways, self.signals, self.parameters, needs=needs
        )
        found = prepared(self.needs())
        if self.method == stiffness.AUTO:
            _, system, built = found
            self.method, self.method_reason = stiffness.choose(system, built, self.until, self.step)
            found = prepared(self.needs()) if self.needs() else found
        needs, (chosen, system, built) = self.needs(), found
        if stored is not None:
            begun = self.start is not None  # elsewhere: what is chosen about kernels may be something else there
            sizes = ("q", "v", "parameters", "turns")
            shape = lambda x: [begun or x.choice, json.dumps([x.layout, [x.sizes[k] for k in sizes]])]
            if shape(system) != shape(stored):
                raise ResultError(
                    f"model {model.name!r}: its equations are derived differently here; nothing was changed"
                )
            refuse_other_system(stored, system, begun)
            built = self.derived().library(stored.choice, run_kernels) if begun else built
            system = stored
        else:
            self.formulation, self.reason = chosen
            self.starts = Starts(self, system, built, (*ways, needs))
            system, built = (system, built) if self.start is None else self.starts.at(self.start)
        hint_at_rigidity(model, system.freedom)
        refuse_endless(model, system, self.until)
        manner = (self.method, self.step, self.tolerance, self.projection, self.until)
        if changes_structure(model):
            from .event_runner import EventRunner
            from .structures import Structures

            structures = Structures(self.derived(), system, built, (*ways, needs))
            runner = EventRunner(structures, system, built, *manner, self.blame).bending(bends_of(model))
            self.controllers = runner.controllers
            return system, runner
        renew = lambda choice, *at: chosen_anew(self.derived(), system, choice, (*ways, needs), *at)
        library = lambda choice: self.derived().library(choice, run_kernels)
        return system, Runner(system, built, *manner, renew, library, self.blame).bending(bends_of(model))

    def needs(self):
        """Kernels that the method needs, and what else they are to compute."""
        return self._integrator().needs + ((SHARE,) if self.reactions == SHARE else ())

    def _integrator(self):
        """The method; where it is still to be chosen, an explicit one."""
        return integrator_of(stiffness.EXPLICIT if self.method == stiffness.AUTO else self.method)

    def _parted(self):
        """The whole system as results show it, and the runner of my part of it."""
        from .parted import Part, RankRunner

        if self.start is not None:
            raise OptionError(
                f"model {self.model.name!r}: {self.ranks.word}s run a model from its own start, without `start`"
            )
        if self.method == stiffness.AUTO:
            self.method, self.method_reason = stiffness.EXPLICIT, f"{self.ranks.word}s run it"
        if self.reactions == SHARE:
            raise OptionError(
                f"model {self.model.name!r}: reactions={SHARE!r} is not supported with {self.ranks.word}s"
            )
        if self.needs():
            able = ", ".join(key for key, cls in registered("integrator").items() if not cls.needs)
            raise OptionError(f"model {self.model.name!r}: {self.ranks.word}s run methods {able}, not {self.method!r}")
        part = Part(self, self.ranks)
        self.formulation, self.reason = "hierarchical", f"{self.ranks.word}s run it"
        refuse_endless(self.model, part.system, self.until, self.ranks)
        runner = RankRunner(part, self.method, self.step, self.tolerance, self.projection, self.until)
        return part.shown, runner.bending(bends_of(self.model))

    def blame(self, reach, t, bodies, p):
        """Which elements are not numbers at or just after a state, as the end of a message; empty where all are."""
        from ..start.undefined import undefined

        p = p if len(p) else self.model.input_values(self.values())  # a large model has numbers for its parameters
        owners, when, left = undefined(self.model, reach, t, bodies, p)
        told = ": ".join([f"{', '.join(owners)} is not a number at t = {when:.9g} s", *dict.fromkeys(left)])
        if owners:
            return f": {told}"
        x, R = (np.array(parts) for parts in [*zip(*bodies)][:2])
        return f": {found}" if (found := outcome.singular(self, t, x, R, p)) else ""

    def derived(self):
        return derived(self.model, self.formulation, dict(self.model.signals) | self.signals)

    def judged(self, system, data, count, folder=None):
        """The data of a run, or an error that holds it."""
        status, reached = data.attrs["status"], data.attrs["time_reached"]
        kept = "" if folder is None else f" Everything is in {folder!r} too."
        owner = f"model {self.model.name!r}"
        if status == "interrupted":
            more = "" if folder is None else f"; go on with torsor.resume({folder!r}, model)"
            level = 3 if folder is None else 5
            warnings.warn(f"interrupted at t = {reached:.6g} s; what was computed is returned{more}", stacklevel=level)
            return data
        if "interrupted_by" in data.attrs:  # too late to stop it
            warnings.warn("interrupted when the run was over; its result is returned", stacklevel=4)
        if status != "finished" and not status.startswith("ended"):
            steps, found = data.attrs["steps"], "" if "singular" in status else outcome.singular_start(self, data)
            status += f". {found}" if found else ""
            raise RunError(
                f"{owner}: stopped at t = {reached:.6g} s of {self.until:g} s: {status}. {steps} steps, {count} outputs kept in "
                f"`data` of this error.{kept}",
                data,
            ) from (self.controllers and self.controllers.failure)
        elif jumped := outcome.jumped(self, system, data):
            joint, when = jumped
            raise RunError(
                f"{owner}: {joint.owner} came together the wrong way round before t = {when:.6g} s: its constraints hold, but "
                "an axis points the other way, or a part is turned by 180 degrees; take smaller steps. The run is kept in "
                f"`data` of this error.{kept}",
                data,
            )
        elif contradicted := outcome.contradicted(self, system, data):
            names, off = contradicted
            if found := outcome.singular_start(self, data):
                raise RunError(
                    f"{owner}: {found}. {names} are violated by up to {off:.3g} later. The run is kept in `data` of this "
                    f"error.{kept}",
                    data,
                )
            raise RunError(
                f"{owner}: contradictory constraints: {names} were taken for redundant at the start, but are violated by up to "
                f"{off:.3g} later, although all other constraints hold; make the prescribed motions agree. The run is kept in "
                f"`data` of this error.{kept}",
                data,
            )
        return data

    def doubted(self, data, level=3):
        """The data of a run, with a warning where it is wrong as its energy balance says, or may be."""
        a = data.attrs
        warn_of_loads(self.model, data, "the motion is", level + 2)
        if a.get("cut_steps"):
            warnings.warn(
                f"model {self.model.name!r}: {a['cut_steps']} of the steps of {self.step:g} s were cut into shorter ones, since "
                f"Newton's method did not solve the equations of method {a['method']!r} in them. The result has other steps than "
                "were asked for: take a smaller step",
                AccuracyWarning,
                stacklevel=level + 1,
            )
        if "energy_balance_lost" in a and a["status"] != "interrupted":
            what = "a smaller tolerance" if self.step is None else "a smaller step"
            advice = outcome.singular_start(self, data) or f"take {what}, and measure the error with certify=True"
            warnings.warn(
                f"model {self.model.name!r}: the energy balance is lost from t = {a['energy_balance_lost']:.6g} s on: it is off by "
                f"up to {a['energy_balance_error']:.3g} J, {a['energy_balance_relative']:.2g} of the energy turned over. The "
                f"result is not to be trusted from there on: {advice}",
                AccuracyWarning,
                stacklevel=level + 1,
            )
        return data


def warn_of_loads(model, data, what, level):
    """Warn of dry friction in joints, under reactions that are not unique; what: that is not unique with them."""
    unique = (data["reaction_unique"] & data["reaction_torque_unique"]).all("axis").values
    if text := doubt_of_loads(model, data["joint"].values[~unique].tolist(), what):
        warnings.warn(text, AccuracyWarning, stacklevel=level)


def doubt_of_loads(model, shared, what="the motion is"):
    """What is doubtful about dry friction in joints of which some have reactions that are not unique, in words; empty: nothing."""
    rubbing = [c for c in model.constraints if isinstance(getattr(c, "on", None), Joint) and c.normal is None]
    doubtful = [c.owner for c in rubbing if c.on.name in shared]
    return doubtful and (
        f"model {model.name!r}: {', '.join(doubtful)}: its load is the reaction of a joint that is not unique, since "
        f"constraints are redundant, so that {what} not either. Give its `normal`, or free the loop of redundant constraints"
    )


def refuse_endless(model, system, until, ranks=ALONE):
    """Refuse a start so fast that its way through the run cannot be told from its rounding."""
    sizes = np.where(np.array(system.linear, bool), system.length, 1.0)
    (rate,) = ranks.largest(np.abs(np.array(system.v) / sizes).max(initial=0.0))
    if not rate * until <= FARTHEST:
        raise ModelError(
            f"model {model.name!r}: the start is too fast: in {until:g} s something would move by {rate * until:.1e} times the "
            f"model's size, or turn by as many radians; up to {FARTHEST:g} can be told from rounding"
        )
