"""Elements begin or cease to act. One rule holds for all of them: what is inactive neither acts nor is watched.

At the engagement of a constraint the impulses Λ act that change the velocities least in the mass metric ([aslanov2011] leaves
the jump open; it follows from integrating (1) there over the instant):

    M (v⁺ − v⁻) = Gᵀ Λ,     G v⁺ + g_t = 0                                                            (1)

What watches the motion is armed instead: a contact or a stop acts from when its gap closes, dry friction sticks or slides at once,
a breakable breaks where its load is too large, a controller samples at its next instant.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...errors import ModelError
from ...registry import register
from .base import Action, Step


def engage_steps(element: Any, snap: bool = False) -> list[Step]:
    """The elementary steps with which an element begins to act."""
    captured = [Step("set", memory, (value,)) for memory, value in element.captures()]
    if element.armable:
        decides = [Step("decide", element)] if element.dry_friction else []
        return [*captured, Step("set", element.armed, (ca.SX(1),)), *decides]
    if element.kind == "force":
        return [*captured, Step("set", element.active, (ca.SX(1),))]
    return [*captured, Step("engage", element, (ca.SX(float(snap)),))]


def release_steps(element: Any) -> list[Step]:
    """The elementary steps with which an element ceases to act."""
    reset = [Step("set", memory, (value,)) for memory, value in element.resets()]
    disarmed = [Step("set", element.armed, (ca.SX(0),))] if element.armable else []
    if element.kind == "force" and not element.armable:
        return [*reset, Step("set", element.active, (ca.SX(0),))]
    return [*reset, *disarmed, *([] if element.kind == "rule" else [Step("release", element)])]


def elements(model: Any) -> Iterable[Any]:
    """Everything in a model that can be engaged and released."""
    return [*model.constraints, *model.forces, *model.rules]


def refuse_parts(key: str, model: Any, target: Any, owner: str) -> None:
    """Refuse an element for which its parts act, and name these."""
    if target.acts_by_parts:
        parts = [e.name for e in elements(model) if e.name.startswith(f"{target.name}.")]
        raise ModelError(
            f"{owner}: action {key!r}: {target.owner} acts by its parts; give these: {', '.join(map(repr, parts))}"
        )


@register("release")
@dataclass(frozen=True, eq=False)
class Release(Action):
    """Elements cease to act, and are not watched any more."""

    acts_on = "joints, constraints, forces or rules"
    engages = False

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of(elements(model), target, owner)
        refuse_parts(self.key, model, target, owner)

    def switches(self) -> tuple:
        return self.targets

    def arms(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        return [step for element in self.targets for step in release_steps(element)]


@register("engage")
@dataclass(frozen=True, eq=False)
class Engage(Action):
    """Elements begin to act: the velocities jump as momentum demands where a constraint begins to hold, and what watches the
    motion is armed.

    snap   whether a constraint that is far from satisfied may move the bodies; False: that is an error
    """

    acts_on = "joints, constraints, forces or rules"
    engages = True
    snap: bool = False

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of(elements(model), target, owner)
        refuse_parts(self.key, model, target, owner)
        self.flag("snap", owner)
        if self.snap and (target.armable or target.kind == "force"):
            raise ModelError(
                f"{owner}: action 'engage': snap=True moves bodies onto a joint or a constraint; it is not supported for "
                f"{target.owner}"
            )

    def switches(self) -> tuple:
        return self.targets

    def arms(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        every = [engage_steps(element, self.snap) for element in self.targets]
        first = [step for steps in every for step in steps if step.kind == "set"]
        return [*first, *[step for steps in every for step in steps if step.kind != "set"]]


@register("lift")
@dataclass(frozen=True, eq=False)
class Lift(Action):
    """A closed one-sided constraint that would pull opens. It stays armed, and closes again where its gap does."""

    acts_on = "one-sided constraints"

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of([c for c in model.constraints if c.one_sided], target, owner)

    def switches(self) -> tuple:
        return self.targets

    def steps(self, model: Any) -> list[Step]:
        return [Step("release", constraint) for constraint in self.targets]


def release(*elements: Any) -> Release:
    """Joints, constraints, forces or rules cease to act; a contact or a stop is open from then on, whatever presses on it."""
    return Release(elements)


def engage(*elements: Any, snap: bool = False) -> Engage:
    """Joints, constraints, forces or rules begin to act; a contact or a stop acts from when its gap closes. With `snap` joints and
    constraints may be engaged from far off."""
    return Engage(elements, snap)
