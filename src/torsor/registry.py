"""One place that knows every registered joint, force, group, integrator, projection, formulation and backend.

A base class names its `kind`; `@register("revolute")` files the class below it under that key. Model files, docs
tables, contract tests and the command line iterate over `registered(kind)`.
"""

from difflib import get_close_matches
from importlib import import_module

from .errors import OptionError

_TABLE: dict[str, dict[str, type]] = {}
_HOMES = {  # of kinds that `import torsor` leaves alone: where their classes register themselves
    "backend": "kernels", "case": "cases", "formulation": "formulations", "group": "lie", "integrator": "run.integrators",
    "projection": "run.projections",
}  # fmt: skip


def register(key):
    """File the decorated class under `key` in the table of its `kind`."""

    def decorate(cls):
        table = _TABLE.setdefault(cls.kind, {})
        table[key] = cls
        cls.key = key
        return cls

    return decorate


def registered(kind):
    """All registered classes of a kind, by key, in the order of their definition."""
    return dict(_table(kind))


def _table(kind):
    """The table of a kind, with all classes of the package in it."""
    if not isinstance(kind, str):
        raise OptionError(
            f"a kind is a name, got {type(kind).__name__}. Known: {', '.join(sorted({*_TABLE, *_HOMES}))}."
        )
    if kind in _HOMES:
        import_module(f".{_HOMES[kind]}", __package__)
    if kind not in _TABLE:
        raise OptionError(f"unknown kind {kind!r}. Known: {', '.join(sorted({*_TABLE, *_HOMES}))}.")
    return _TABLE[kind]


def lookup(kind, key):
    """The class registered as `key`, or an error that lists what is known."""
    table = _table(kind)
    if isinstance(key, str) and key in table:
        return table[key]
    close = get_close_matches(str(key), table, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(f"unknown {kind} {key!r}.{hint} Known: {', '.join(sorted(table))}.")
