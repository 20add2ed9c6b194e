"""The part of a model that consists of other models, and that others see of it."""

from typing import Any, overload

from ..elements import quantity
from ..elements.quantity import Vector
from ..errors import ModelError
from . import element_checks
from .component_rows import Row
from .elimination_request import elimination_order
from .include import transplant
from .instance import Instance
from .nesting import Lineage
from .parameters import Parameter

PARTS = (  # of a model, all that `include` adds to
    "grounds", "bodies", "constraints", "forces", "rules", "parameters", "signals", "memory", "events", "machines", "_names",
    "eliminations",
)  # fmt: skip


class WithInstances:
    """The part of a Model that is about components: including others, and being included."""

    name: str
    parameters: dict[str, Parameter]
    ports: dict[str, object]
    eliminations: dict[str, tuple]
    derived: dict
    owner: Any
    _compiled: Any
    _lineage: Lineage
    _check_name: Any
    _free: Any
    _shorten: Any

    def expose(self, port: str, thing: Any) -> None:
        """Make a body, a frame, a joint or a signal reachable from outside under the name of a port."""
        self._check_name(port, "port")
        if port in self.ports:
            raise ModelError(f"model {self.name!r}: port {port!r} exists already")
        if hasattr(Instance, port) or port == "name":
            raise ModelError(
                f"model {self.name!r}: port {port!r}: every instance has something of that name; choose another"
            )
        element_checks.port(self, port, thing)
        dict.__setitem__(self.ports, port, thing)
        self.derived.clear()

    def eliminate(self, order: Any) -> None:
        """Give the order in which the hierarchical formulation joins the components and bodies of this model.

        order   names, or the components and bodies themselves: the second is joined with the first and both are reduced to their
                border, then the third is joined with these, and so on; a list in the list is a group that is reduced by itself.
                It contains every component of the model once; bodies that it does not contain come last

        Accelerations do not depend on it, the effort does. The order inside a component is given in its own model. An order that is
        given again replaces the former one.

        >>> import torsor as ts
        >>> link = ts.Model("link")
        >>> rod = link.body("rod", mass=1.0, inertia=(1, 1, 1))
        >>> robot = ts.Model("robot")
        >>> parts = [robot.include(name, link) for name in ("left", "right", "trunk")]
        >>> robot.eliminate(["left", "trunk", "right"])
        """
        if self._compiled:
            raise ModelError(
                f"{self.owner} has been compiled and cannot change; its order of elimination stays as it is"
            )
        dict.__setitem__(self.eliminations, "", elimination_order(self, order))
        self.derived.clear()

    @overload
    def include(
        self,
        name: str,
        other: Any,
        at: Any = ...,
        rotation: Any = ...,
        count: None = ...,
        pitch: None = ...,
        **parameters: Any,
    ) -> Instance: ...
    @overload
    def include(
        self,
        name: str,
        other: Any,
        at: Any = ...,
        rotation: Any = ...,
        *,
        count: int,
        pitch: Any = ...,
        **parameters: Any,
    ) -> list[Instance]: ...
    def include(
        self,
        name: str,
        other: Any,
        at: Any = (0, 0, 0),
        rotation: Any = None,
        count: int | None = None,
        pitch: Vector | None = None,
        **parameters: Any,
    ) -> Instance | list[Instance]:
        """Place a copy of another model in this one, under its own name, with parameters overridden; or a row of copies.

        at, rotation   where the other model's world frame sits in this one
        count          how many: `car0`, `car1`, … are then the names of `car`, and a list of all instances is returned
        pitch          in a row, the way from each to the next
        parameters     values of the other's parameters: numbers, or expressions of this model's parameters

        In a row, `at`, `rotation` and parameters may be functions of the index 0, 1, …; `at` may also be an array with a row
        of three numbers for each, and a parameter a list with a value for each.

        The component keeps its meaning: what it says about world axes and world positions (forces, imposed motions,
        expressions of signals) refers to its own world frame, and turns with it. Its gravity does not come along; this
        model's acts on its bodies.
        """
        self._includable(name, other, parameters)
        if count is None and pitch is not None:
            raise ModelError(f"instance {name!r}: pitch is the way from one of a row to the next: give `count`, too")
        if count is None:
            return self._include_all([(name, at, rotation, parameters)], other)[0]
        return self._include_all(Row(name, count, at, rotation, pitch, parameters), other)

    def _includable(self, name, other, parameters):
        """Refuse what is no model, would contain itself, or has no such parameters."""
        self._check_name(name, "instance")
        if not isinstance(other, WithInstances):
            raise ModelError(f"instance {name!r}: give a model to include, got {quantity.show(other)}")
        self._lineage.refuse(name, self.name, other._lineage, other.name)
        unknown = set(parameters) - set(other.parameters)
        if unknown:
            known = ", ".join(other.parameters) or "none"
            raise ModelError(
                f"instance {name!r}: unknown parameter {sorted(unknown)[0]!r} of {other.name!r}. Known: {known}."
            )

    def _lengths(self):
        """How much there is in each part of the model, for `_shorten`."""
        return {part: len(getattr(self, part)) for part in PARTS}

    def _include_all(self, places, other):
        """Instances at places: tuples of a name, where it sits, and parameters. All of them, or none."""
        before = self._lengths()
        found = []
        try:
            for name, at, rotation, parameters in places:
                self._free(name, "instance")
                found.append(transplant(self, name, other, at, rotation, parameters))
        except ModelError:  # nothing of it stays
            self._shorten(before)
            raise
        self._lineage.include(found[0].name, other._lineage)
        return found
