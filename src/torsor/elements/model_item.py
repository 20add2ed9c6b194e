"""Base class of the items of a model. An item has a name in its model; its attributes cannot be assigned."""

from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

from .assignments import refuse
from .lazy_attributes import Signal


class Owned:
    """A named item of a model. Pickled or copied together with its model, it stays an item of it.

    Once it belongs to a model its attributes cannot be assigned.
    """

    name: str
    _home: Any = None
    _frozen: ClassVar[bool] = False  # True: its attributes cannot be assigned before it belongs to a model, either
    _signals: tuple[str, ...] = ()  # names of its symbols that were created so far, see `lazy_attributes.py`
    _expressions: dict | None = None  # expressions of its numbers that were created so far

    def __setattr__(self, name, value):
        if self._home is not None or self._frozen:
            self._refuse(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self._refuse(name)

    def _refuse(self, name):
        """Refuse an assignment."""
        cls = type(self)
        refuse(self, name, self._arguments(), [x for x in dir(cls) if isinstance(getattr(cls, x), Signal)])

    def _arguments(self):
        """Names of the arguments of its constructor."""
        return [f.name for f in fields(self) if f.init] if is_dataclass(self) else []

    @property
    def owner(self) -> str:
        """Kind and name, as messages give them."""
        return f"{type(self).__name__.lower()} {self.name!r}"

    def __reduce_ex__(self, protocol):
        if not self._set_owner():
            return super().__reduce_ex__(protocol)
        return _element, (self._home, self.name)

    def __getstate__(self):
        return {
            name: value for name, value in vars(self).items() if name != "_shared_data"
        }  # computed again when needed

    def __copy__(self):
        """Return a shallow copy that belongs to no model."""
        twin = object.__new__(type(self))
        for name, value in vars(self).items():
            if name != "_home":
                object.__setattr__(twin, name, value)
        return twin

    def copy_as(self, name: str) -> Self:
        """Return a copy with another name and with symbols of its own that belongs to no model."""
        twin = object.__new__(type(self))
        own = {"_home", "_signals", "_expressions", *(f"_{signal}" for signal in self._signals)}
        for what, value in vars(self).items():
            if what not in own:
                object.__setattr__(twin, what, value)
        return fill_in(twin, name=name)

    def __deepcopy__(self, memo):
        if self._set_owner() and id(self._home) not in memo:
            return deepcopy(self._home, memo)[self.name]
        twin = memo[id(self)] = object.__new__(type(self))
        twin.__dict__.update(deepcopy(vars(self), memo))
        return twin

    def _set_owner(self):
        return self._home is not None and self._home._names.get(self.name) is self


def _element(model, name):
    return model[name]


UNSHARED_ATTRIBUTES = frozenset(
    ("_home", "_active", "_armed", "acts", "starts_armed", "rows_kept")
)  # attributes whose change leaves `_shared_data` valid


def fill_in(element, **values):
    """Set attributes of a frozen element: the package itself does so when the element is added. Returns the element."""
    if not values.keys() <= UNSHARED_ATTRIBUTES:
        vars(element).pop("_shared_data", None)  # it may depend on the new values
    for name, value in values.items():
        object.__setattr__(element, name, value)
    return element
