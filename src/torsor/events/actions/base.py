"""The base class of actions of events. An action is one class that declares its elementary steps:

    set       a memory or a parameter takes the value of an expression, as it is just before the event
    engage    a constraint begins to hold: the velocities jump as momentum demands
    release   a constraint ceases to hold, a contact opens; nothing jumps
    strike    a one-sided constraint is hit: rebound or contact
    land      dry friction decides between sticking and sliding
    decide    likewise, after the other steps of the event: dry friction was engaged
    record    the value of an expression is kept with the event
    end       the run ends here

A step of another kind has its own compiled code, and names it in `loop` (`run/events/actions/`). A new action is one file in this
folder, or in that one; see docs/extend.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from ...elements import quantity
from ...errors import ModelError


@dataclass(frozen=True, eq=False)
class Step:
    """An elementary step: what it is, on what, with which expressions.

    loop   module and name of its compiled code, where it has its own: an entry (run, operation, time, 0) → status that acts on
           `run.trial`. The target is then a tuple of memories, one after the other in p, or empty
    """

    kind: str
    target: object = None
    values: tuple = ()
    loop: tuple | None = None


@dataclass(frozen=True, eq=False)
class Action:
    """Base of all actions.

    acts_on   what its targets are, in words, where it needs any
    loop      module and name of the compiled code of its step, where it has its own
    engages   True: its targets act after the event; False: they do not; None: the action leaves that as it is
    """

    kind = key = "action"
    acts_on: ClassVar[str | None] = None
    loop: ClassVar[tuple | None] = None
    engages: ClassVar[bool | None] = None
    targets: tuple = ()

    @property
    def result_name(self) -> str:
        """The variable of a result in which a value of the action is recorded; empty: there is none."""
        return ""

    def switches(self) -> tuple:
        """Constraints and forces that it engages, releases or switches."""
        return ()

    def arms(self) -> tuple:
        """Elements that it arms or disarms, where they can be."""
        return ()

    def steps(self, model: Any) -> list[Step]:
        """The elementary steps, in order."""
        raise NotImplementedError

    def join(self, model: Any, name: str) -> None:
        """Add to the model what the action needs there, memories and forces, under a name; also called for a copy that has it."""

    def expressions(self) -> tuple:
        """What it evaluates."""
        return ()

    def refers(self, model: Any, owner: str) -> None:
        """Refuse targets that are not the model's, and no targets where some are needed."""
        if self.acts_on is not None and not self.targets:
            raise ModelError(f"{owner}: action {self.key!r}: acts on nothing; give {self.acts_on}")
        named = tuple(model[x] if isinstance(x, str) and x in model else x for x in self.targets)
        object.__setattr__(self, "targets", named)  # elements in the place of their names
        for target in self.targets:
            if not any(target is known for known in model._names.values()):
                if not isinstance(name := getattr(target, "name", None), str):
                    allowed = self.acts_on or "elements of the model"
                    raise ModelError(f"{owner}: action {self.key!r}: give {allowed}, got {quantity.show(target)}")
                raise ModelError(f"{owner}: action {self.key!r}: {name!r} does not belong to model {model.name!r}")
            self.accepts(model, target, owner)

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        """Refuse a target of the wrong kind."""

    def one_of(self, known: Iterable[Any], target: Any, owner: str) -> None:
        """Refuse a target that is none of the known elements."""
        if not any(target is one for one in known):
            raise ModelError(f"{owner}: action {self.key!r}: give {self.acts_on}, got {quantity.show(target)}")

    def flag(self, what: str, owner: str) -> None:
        """Refuse an option that is neither True nor False."""
        if not isinstance(given := getattr(self, what), (bool, np.bool_)):
            raise ModelError(f"{owner}: action {self.key!r}: {what} must be True or False, got {quantity.show(given)}")

    def bounds(self) -> tuple:
        """Expressions that have to lie between two numbers, as (what, expression, least, most)."""
        return ()

    def check(self, model: Any, values: Mapping[str, Any], owner: str) -> None:
        """Refuse what it cannot do with the values of parameters of a run; what else is in it is known when it happens."""
        for what, e, least, most in self.bounds():
            symbols = [] if e.is_constant() else ca.symvar(e)
            if any(model.kind_of(s) != "parameter" or s.name() not in values for s in symbols):
                continue
            if not least <= (value := quantity.numbers(e, values).item()) <= most:
                raise ModelError(f"{owner}: {what} must lie between {least:g} and {most:g}, got {value:g}")
