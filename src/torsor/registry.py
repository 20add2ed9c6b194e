"""One place that knows every registered joint, constraint, force, action, group, integrator, projection, formulation, backend,
file format and case.

A base class names its `kind`; `@register("revolute")` files the class below it under that key. Each kind has a folder, and
every file in it is found by itself: a new one is one file. Model files, docs tables, contract tests and the command line
iterate over `registered(kind)`.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from .errors import OptionError

Class = TypeVar("Class", bound=type)

_TABLE: dict[str, dict[str, Any]] = {}
_HOMES = {  # folders, or files, whose classes register themselves, by kind
    "action": ["events.actions", "run.events.actions"], "backend": ["kernels.backends"], "case": ["cases"], "constraint": ["joints",
    "constraints", "forces"],
    "force": ["forces"], "format": ["exchange", "exchange.sdf.sdf_format", "store.model_files.yaml_format", "cad.step_format"],
    "formulation": ["formulations"], "group": ["lie"],
    "integrator": ["methods.integrators"], "joint": ["joints"], "projection": ["methods.projections"],
    "rule": ["constraints", "forces", "events", "fmus.fmu"],
}  # fmt: skip


def register(key: str) -> Callable[[Class], Class]:
    """File the decorated class under `key` in the table of its `kind`."""

    def decorate(cls: Class) -> Class:
        filed: Any = cls
        _TABLE.setdefault(filed.kind, {})[key] = filed
        filed.key = key
        return cls

    return decorate


def registered(kind: str) -> dict[str, Any]:
    """All registered classes of a kind, by key: file by file, in the order of their definition."""
    return dict(sorted(_table(kind).items(), key=lambda item: item[1].__module__))


def lookup(kind: str, key: str, also: tuple[str, ...] = ()) -> Any:
    """The class registered as `key`, or an error that lists what is known; also: further words that are allowed there."""
    table = _table(kind)
    if isinstance(key, str) and key in table:
        return table[key]
    known = sorted([*table, *also])
    close = get_close_matches(str(key), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(f"unknown {kind} {key!r}.{hint} Known: {', '.join(known)}.")


def parse_key(kind: str, given: str, also: tuple[str, ...] = ()) -> tuple[Any, dict[str, Any]]:
    """The class of a key with options, as in "baumgarte:alpha=20,beta=20", and these options: numbers where they are numbers."""
    key, _, rest = str(given).partition(":")
    cls = lookup(kind, key, also)
    known = [field.name for field in fields(cls)] if is_dataclass(cls) else []
    options: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise OptionError(f"{kind} {given!r}: write options as NAME=VALUE, got {item!r}")
        if name not in known:
            has = f"Known: {', '.join(known)}." if known else "It has none."
            raise OptionError(f"{kind} {key!r}: unknown option {name!r}. {has}")
        try:
            options[name] = float(value)
        except ValueError:
            options[name] = value
    return cls, options


def _table(kind):
    """The table of a kind, with all classes of the package in it."""
    if not isinstance(kind, str):
        raise OptionError(f"a kind is a name, got {type(kind).__name__}. Known: {', '.join(_kinds())}.")
    for place in _HOMES.get(kind, ()):
        discover(place)
    if kind not in _TABLE:
        raise OptionError(f"unknown kind {kind!r}. Known: {', '.join(_kinds())}.")
    return _TABLE[kind]


def _kinds():
    return sorted({*_TABLE, *_HOMES})


@cache
def discover(place: str) -> None:
    """Import a file of this package, or every file of a folder and of the folders in it, so that the classes in it are
    registered."""
    home = import_module(f"{__package__}.{place}")
    for found in pkgutil.iter_modules(getattr(home, "__path__", ())):
        import_module(f"{home.__name__}.{found.name}")
        if found.ispkg and place in ("forces", "cases"):
            discover(f"{place}.{found.name}")
