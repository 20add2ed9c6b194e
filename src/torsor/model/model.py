"""The description of a mechanism: bodies, joints, forces, parameters, and models inside models."""

import re
from copy import deepcopy
from difflib import get_close_matches
from typing import Any, TypeVar

import casadi as ca

from ..elements import quantity
from ..elements.assignments import explain_assignments, freeze_entries, part, refuse
from ..elements.element import CONSTANT, TIME_DEPENDENT, WITH_INPUTS, Owned, Rule, fill_in
from ..elements.names import LONGEST, unstorable
from ..elements.quantity import Number, Rotation, Vector
from ..errors import ModelError
from ..events import Event, Memory, Modes
from ..forces import Force
from ..forces.loads_and_springs import Gravity
from ..joints import Constraint, Joint
from . import element_checks, pickling
from .body import Body, Ground
from .composition import WithInstances
from .display import Shown
from .hints import hint_at_angles, hint_at_description, hint_at_joint
from .instance import Instance
from .model_events import WithEvents
from .nesting import Lineage
from .parameters import Parameter, WithParameters
from .symbols import WithSymbols

INSTEAD = "add with model.body, model.add, model.include …, assign model.gravity before the first run, or build the model again"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Added = TypeVar("Added", bound=Owned)


class Model(Shown, WithInstances, WithParameters, WithEvents, WithSymbols):
    """A mechanism, described in one world frame in its reference configuration.

    gravity   acceleration of gravity [m/s²]
    hints     whether likely mistakes are pointed out by warnings (`ts.HintWarning`)
    shape     how a viewer draws the ground, see `ts.shapes`

    >>> import torsor as ts
    >>> model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    >>> hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    """

    name: str
    ground: Ground
    grounds: list[Ground]
    bodies: list[Body]
    constraints: list[Constraint]
    forces: list[Force]
    rules: list[Rule]
    parameters: dict[str, Parameter]
    signals: dict[str, ca.SX]
    memory: dict[str, Memory]
    events: list[Event]
    machines: dict[str, Modes]
    ports: dict[str, object]
    eliminations: dict[str, tuple]

    hints: bool = True
    _accepts_paths: bool = False  # True while a file is read whose names are those of included models

    def __init__(self, name: str, gravity: Vector | None = (0.0, 0.0, 0.0), hints: bool = True, shape: Any = None):
        if not isinstance(hints, bool):
            raise ModelError(f"model {name!r}: hints must be True or False, got {quantity.show(hints)}")
        ground = Ground("ground", shape=shape)
        lists = {what: part(what) for what in ("bodies", "constraints", "forces", "rules", "events")}
        dictionaries = ("parameters", "signals", "memory", "machines", "ports", "eliminations")
        named = {what: part(what, {}) for what in dictionaries}
        vars(self).update(
            name=self._check_name(name, "model"),
            ground=ground,
            grounds=part("grounds", [ground]),
            **lists,
            **named,
            hints=hints,
        )
        self._names: dict[str, object] = {}
        self._symbols: dict[int, str] = {quantity.time.element_hash(): "time"}  # identity of a symbol -> its kind
        self._lineage = Lineage()
        self._compiled = False
        self.derived: dict = {}  # from this description, in this process; a change of the description empties it
        self._enter("ground", self.ground)
        self.gravity = gravity

    @property
    def gravity(self) -> ca.SX:
        """Acceleration of gravity [m/s²], three numbers or expressions of time, parameters and inputs, None for none; may be set
        again."""
        return self._gravity

    @gravity.setter
    def gravity(self, given):
        if self._compiled:
            raise ModelError(
                f"{self.owner} has been compiled and cannot change; gravity stays as it was. Write "
                "gravity=(0, 0, -model.parameter('g', 9.81)) and parameters={'g': …} for a run, or build the model again"
            )
        value = quantity.vector((0, 0, 0) if given is None else given, "gravity", self.owner)
        element_checks.contents(self, self.owner, "gravity", value, WITH_INPUTS)
        self._gravity = freeze_entries(ca.SX(value))
        self.derived.clear()

    def body(
        self,
        name: str,
        mass: Number | None = None,
        inertia: Any = None,
        at: Vector = (0, 0, 0),
        rotation: Rotation | None = None,
        velocity: Vector | None = None,
        angular_velocity: Vector | None = None,
        shape: Any = None,
    ) -> Body:
        """Add a rigid body; see `torsor.Body` for what the arguments mean."""
        self._free(name, "body")
        body = Body(name, mass, inertia, at, rotation, velocity, angular_velocity, shape)
        hint_at_angles(self, body.owner, "rotation", rotation)
        return self._add_body(body)

    def _add_body(self, body):
        """Add a body, whose expressions are checked."""
        for what, expression in body.expressions.items():
            element_checks.contents(self, body.owner, what, expression, CONSTANT)
        list.append(self.bodies, body)
        return self._enter(body.name, body)

    def add(self, element: Added, active: bool | None = None) -> Added:
        """Add a joint, a constraint, a force, a rule or a further ground, and return it; `active=False`: it does not act
        until an event engages it."""
        known = (Constraint, Force, Ground, Rule)
        if not isinstance(element, known):
            given = quantity.show(element)
            raise ModelError(
                f"model {self.name!r}: cannot add {given}; give a joint, a constraint, a force, a rule or a Ground"
            )
        self._free(element.name, getattr(element, "key", "ground"))
        vars(self).get("_made", {}).pop(element.name, None)
        before = self._lengths()
        added = self._join(element, active)
        try:
            self._join_companions(added)
        except ModelError:  # nothing of it stays
            self._shorten(before)
            fill_in(element, _home=None, acts=None)
            raise
        return added

    def _join_companions(self, added):
        """Add what an element brings along, and what that brings along."""
        if isinstance(added, Ground):
            return
        active = False if added.acts_by_parts and added.inactive else None
        for companion in added.companions():
            self._join_companions(self._join(fill_in(companion, world=added.world), active))

    def _join(self, element, active=None):
        """An element, checked and in the lists of the model."""
        if isinstance(element, Ground):
            for expression in () if element.is_fixed else element.path:
                element_checks.contents(self, element.owner, "its motion", expression, TIME_DEPENDENT)
                element_checks.smooth(element.owner, expression, 2, self._symbols)
        else:
            element = self._sound(element, active)
            hint_at_joint(self, element)
        lists: dict[type, list] = {
            Constraint: self.constraints, Force: self.forces, Ground: self.grounds, Rule: self.rules
        }  # fmt: skip
        for cls, where in lists.items():
            if isinstance(element, cls):
                list.append(where, element)
        self._enter(element.name, element)
        if not isinstance(element, Ground):
            self._events_of(element)
        return element

    def _sound(self, element, active):
        """The element, at home here and with its equations checked; where they are wrong it is as before."""
        explain_assignments(type(element))
        element_checks.members(self, element)
        before = {"_home": element._home, "acts": element.acts}
        self._note(element)
        try:
            described_in = element.world if self._owns(element.world) else self.ground
            element = element_checks.call_element(element, fill_in(element, world=described_in, _home=self).attach)
            self._prepare(element, active)
            element_checks.declaration(self, element)
            self._complete(element)
        except ModelError:
            self._forget(element)
            fill_in(element, **before)
            raise
        return element

    def _owns(self, thing):
        """True if a thing is one of this model's."""
        return thing is not None and self._names.get(thing.name) is thing

    def signal(self, name: str, expression: Number | Vector) -> ca.SX:
        """A named expression of time, state and multipliers that is recorded in every run; a vector by its components, as
        `name[0]`, `name[1]` …"""
        self._free(name, "signal")
        value = quantity.column(expression, "expression", f"signal {name!r}")
        element_checks.contents(self, f"signal {name!r}", "expression", value, tuple(self._symbols.values()))
        for k in range(value.shape[0]):
            dict.__setitem__(self.signals, name if value.is_scalar() else f"{name}[{k}]", value[k])
        return self._enter(name, value)

    @property
    def time(self) -> ca.SX:
        return quantity.time

    @property
    def joints(self) -> list[Joint]:
        if "joints" not in self.derived:
            self.derived["joints"] = [c for c in self.constraints if isinstance(c, Joint)]
        return part("constraints", self.derived["joints"])

    @property
    def all_forces(self) -> list[Force]:
        """The forces and, where there is any, gravity."""
        heavy = not ca.sparsify(self.gravity).nnz() == 0
        return ([Gravity("gravity", self.gravity, tuple(self.bodies))] if heavy else []) + self.forces

    def __getitem__(self, path: str) -> Any:
        if isinstance(path, str) and path in self._names:
            return self._names[path]
        owner, port = self._port(path)
        if port:
            return owner.ports[port] if owner is self else getattr(owner, port)
        ports = [] if owner is self else [f"{owner.name}.{port}" for port in owner._ports]
        close = get_close_matches(path, [*self._names, *ports], n=1) if isinstance(path, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        hint += f" Ports: {', '.join(ports)}." if ports else ""
        raise ModelError(
            f"model {self.name!r} has nothing called {quantity.show(path)}.{hint} Known: {', '.join(self._names)}."
        )

    def _port(self, path):
        """The instance that a path begins with, or the model itself, and its port; the port is empty where there is none."""
        whole, _, port = path.rpartition(".") if isinstance(path, str) else ("", "", "")
        owner: Any = self._names.get(whole, self)
        if not isinstance(owner, Instance):
            return self, path if isinstance(path, str) and path in self.ports else ""
        return owner, port if port in owner._ports else ""

    def __contains__(self, path) -> bool:
        return isinstance(path, str) and (path in self._names or bool(self._port(path)[1]))

    @property
    def owner(self) -> str:
        """Kind and name, as messages give them."""
        return f"model {self.name!r}"

    def __setattr__(self, name, value):
        if not name.startswith("_") and name not in ("gravity", "derived"):
            own = type(self) is not Model and name not in vars(self) and not hasattr(Model, name)
            if not own:  # else an attribute of its author, whose class is derived from this one
                refuse(self, name, self.__annotations__, hint=INSTEAD)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        refuse(self, name, self.__annotations__, hint=INSTEAD)

    def __reduce__(self):
        return pickling.unpack_model, (type(self), *pickling.pack_model(self))

    def __deepcopy__(self, memo):
        twin = memo[id(self)] = type(self).__new__(type(self))
        twin.derived, twin._compiled, twin._symbols = {}, False, dict(self._symbols)
        twin.__dict__.update(deepcopy(pickling.state(self), memo))
        return twin

    def seal(self) -> None:
        """From now on the description does not change: kernels were made from it."""
        if not self._compiled and self.hints:
            hint_at_description(self)
        self._compiled = True

    def _check_name(self, name, what):
        parts = name.split(".") if self._accepts_paths and isinstance(name, str) else [name]
        if not all(isinstance(part, str) and NAME.match(part) for part in parts):
            raise ModelError(
                f"{what} {name!r}: a name is letters (a to z, A to Z), digits, '_' and '-', and starts with a letter or '_' "
                "(dots separate the names of included models)"
            )
        if len(name) > LONGEST // 2:  # room for the names of elements' events and of models around
            raise ModelError(
                f"{what} {name[:30] + '...'!r}: a name has at most {LONGEST // 2} characters, this one {len(name)}"
            )
        return name

    def _free(self, name, what):
        self._check_name(name, what)
        if self._compiled:
            raise ModelError(f"model {self.name!r} has been compiled and cannot change; {what} {name!r} was not added")
        if name in self._names or name == "time":
            known = self._names.get(name, quantity.time)
            kind = "signal" if isinstance(known, ca.SX) else type(known).__name__
            raise ModelError(
                f"{what} {name!r}: model {self.name!r} has something of that name already ({kind}); names must differ"
            )

    def _storable(self, name):
        """Refuse a path, which is longer than the name that was checked, where no result can hold it."""
        if why := unstorable(name):
            raise ModelError(f"model {self.name!r}: {quantity.show(name)} cannot be a name: {why}")

    def _enter(self, name, thing):
        self._storable(name)
        self.derived.clear()
        self._names[name] = fill_in(thing, _home=self) if isinstance(thing, Owned) else thing
        self._note(thing)
        return thing
