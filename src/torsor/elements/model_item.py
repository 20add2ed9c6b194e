"""What belongs to a model: it has a name there, and nothing can be assigned to it."""

from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

from .assignments import refuse
from .lazy_attributes import Signal


class Owned:
    """Something with a name that belongs to a model. Pickled or copied together with its model, it stays an item of it.
    Nothing can be assigned to it from then on."""

    name: str
    _home: Any = None
    _frozen: ClassVar[bool] = False  # True: nothing can be assigned to it before either
    _signals: tuple[str, ...] = ()  # its symbols that were used so far, see `lazy_attributes.py`
    _expressions: dict | None = None  # and expressions of its numbers

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
        """Names of the arguments that it is made with."""
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
        return {name: value for name, value in vars(self).items() if name != "_alike"}  # found again where it is needed

    def __copy__(self):
        """A copy that shares everything, and belongs to nothing yet."""
        twin = object.__new__(type(self))
        for name, value in vars(self).items():
            if name != "_home":
                object.__setattr__(twin, name, value)
        return twin

    def copy_as(self, name: str) -> Self:
        """A copy under another name, with symbols of its own, that belongs to nothing yet."""
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


ASIDE = frozenset(
    ("_home", "_active", "_armed", "acts", "starts_armed", "rows_kept")
)  # what changes nothing of what an element says


def fill_in(element, **values):
    """Write what an element that cannot be changed otherwise worked out about itself when it was added."""
    if not values.keys() <= ASIDE:
        vars(element).pop("_alike", None)  # what others of its kind share may change with it
    for name, value in values.items():
        object.__setattr__(element, name, value)
    return element
