"""The symbols of a model: what each of them stands for."""

from typing import Any

import casadi as ca

from ..elements.element import Element, Owned, fill_in
from ..elements.lazy_attributes import CREATION_LOCK, symbols_of
from ..events import Memory
from .parameters import Parameter


class WithSymbols:
    """The part of a model that knows its symbols: those that are in use, by their identity."""

    _symbols: dict[int, str]
    derived: dict

    def kind_of(self, symbol: ca.SX) -> str | None:
        """The kind of quantity of a scalar symbol: "pose", "velocity", "reaction" …; None if the symbol is not of this model."""
        return self._symbols.get(symbol.element_hash())

    def knows(self, symbol: ca.SX) -> bool:
        """True if a scalar symbol is one of this model's."""
        return symbol.element_hash() in self._symbols

    def activity(self, element: Any) -> Memory:
        """The memory that is 1 while an element of the model acts."""
        with CREATION_LOCK:
            if element._active is None:
                memory = Memory(f"{element.name}.active", float(element.acts))
                self._symbols[memory.symbol.element_hash()] = "memory"
                fill_in(element, _active=memory)
        return element._active

    def arming(self, element: Any) -> Memory:
        """The memory that is 1 while an armable element of the model is armed."""
        with CREATION_LOCK:
            if element._armed is None:
                memory = Memory(f"{element.name}.armed", float(element.starts_armed))
                self._symbols[memory.symbol.element_hash()] = "memory"
                fill_in(element, _armed=memory)
        return element._armed

    def _note(self, thing):
        """Take note of the symbols of a thing that were made before it was added; it registers later ones itself."""
        if isinstance(thing, Owned):
            self._symbols.update(symbols_of(thing))
        elif isinstance(thing, Parameter):
            self._symbols[thing.symbol.element_hash()] = thing.kind

    def _forget(self, thing):
        """Take the symbols of a thing, which was not added after all, for strangers."""
        for known in symbols_of(thing) if isinstance(thing, Owned) else [thing.symbol.element_hash()]:
            self._symbols.pop(known, None)
        if isinstance(thing, Element) and thing.acts is not None:
            for memory in [*thing.memories(), thing._active, thing._armed]:
                if memory is not None:
                    self._forget(memory)

    def _shorten(self, lengths):
        """Take back everything that was added to parts of the model, lists and dictionaries, since they had these lengths."""
        for part, length in lengths.items():
            held = getattr(self, part)
            if isinstance(held, list):
                list.__delitem__(held, slice(length, None))
                continue
            while len(held) > length:
                _, thing = dict.popitem(held)
                if isinstance(thing, (Owned, Parameter, Memory)):
                    self._forget(thing)
        self.derived.clear()
