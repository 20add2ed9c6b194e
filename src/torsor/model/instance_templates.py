"""Copies of what is made of numbers: what all copies share is found once for a component, not for each of its instances."""

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..elements import quantity
from ..elements.element import Element, Owned, initial
from ..elements.placing import EYE, product, total
from ..joints.constraint import Constraint
from .body import Body, Frame, Ground

INITS = (None, Constraint.__post_init__)  # that give an element nothing of its own


def recipes(model):
    """How copies are made, by identity: of bodies and grounds that stand still, and of elements that contain no symbols,
    remember nothing and bring no events."""
    if "recipes" not in model.derived:
        found: dict[int, Any] = {id(x): Place(x) for x in [*model.grounds, *model.bodies] if _numeric(x)}
        for element in {id(e): e for e in [*model.constraints, *model.forces, *model.rules]}.values():
            if _light(element):
                found[id(element)] = Fields(element)
        model.derived["recipes"] = found
    return model.derived["recipes"]


def _numeric(placed):
    if isinstance(placed, Ground):
        return placed.is_fixed
    return placed.numbers is not None and all(quantity.is_number(x) for x in _speeds(placed))


def _speeds(body):
    return body._start_velocity, body._start_angular_velocity


def _light(element):
    """True if an element can be copied by its fields alone."""
    cls = type(element)
    ordinary = (
        "__dataclass_params__" in vars(cls) and cls.__dataclass_params__.init
    )  # its fields are what it is made of
    still = cls.memories is Element.memories and cls.events is Element.events
    own = getattr(cls, "__post_init__", None) not in INITS
    same = element._active is None and element._armed is None and not element.inactive
    return ordinary and still and not own and same and not any(map(_symbolic, _fields(element).values()))


def _fields(element):
    return {attribute: getattr(element, attribute) for name, attribute in initial(element) if name != "name"}


def _symbolic(value):
    if isinstance(value, (tuple, list)):
        return any(map(_symbolic, value))
    value = value._pose if isinstance(value, Frame) else value
    return isinstance(value, ca.SX) and not value.is_constant()


def _refers(value):
    """True if a field names something of the model."""
    return any(map(_refers, value)) if isinstance(value, (tuple, list)) else isinstance(value, (Owned, Frame))


@dataclass(slots=True)
class Fields:
    """An element: what all of its copies share, and what is another thing in each."""

    element: Any
    shared: dict
    own: list

    def __init__(self, element):
        found = _fields(element)
        self.element = element
        self.shared = {name: value for name, value in found.items() if not _refers(value)} | {"acts": element.acts}
        if isinstance(element, Constraint):
            self.shared["rows_kept"] = element.rows_kept
        element.shared_data()
        if "_shared_data" in vars(element):
            self.shared["_shared_data"] = vars(element)["_shared_data"]
        self.own = [(name, value) for name, value in found.items() if _refers(value)] + [("world", element.world)]

    def copy(self, copying, model, name):
        """A copy in a model; copying: what stands for what in it."""
        twin = object.__new__(type(self.element))
        held = vars(twin)
        held.update(self.shared)
        held["name"], held["_home"] = name, model
        for attribute, value in self.own:
            held[attribute] = copying.counterpart(value)
        return twin


@dataclass(slots=True)
class Place:
    """A body or a ground that is made of numbers."""

    original: Any
    shared: dict

    def __init__(self, original):
        signals = {f"_{signal}" for signal in original._signals}
        out = {"name", "_home", "_signals", "_expressions", *signals}
        self.original, self.shared = original, {k: x for k, x in vars(original).items() if k not in out}

    def copy_to(self, model, name, shift, R):
        """A copy in a model, with the world of the component at a place in it."""
        original = self.original
        twin = object.__new__(type(original))
        held = vars(twin)
        held.update(self.shared)
        held["name"] = name
        x, turn = original.reference
        held["_start_position"] = total(shift, product(R, x))
        if R is EYE:
            held["_home"] = model
            return twin
        held["_start_rotation"] = product(R, turn)
        if isinstance(twin, Body):
            velocity, _ = _speeds(original)
            held["_start_velocity"] = None if velocity is None else product(R, velocity)
        else:
            twin.path = twin.reference
        held["_home"] = model
        return twin
