"""What events do: one registered class each, and a function of the same name that makes it, as in `torsor.actions.release`."""

from .assignment import assign, enter, switch
from .base import Action, Step
from .engage_release import engage, release
from .impact import strike
from .record_and_end import end, record

__all__ = ["Action", "Step", "assign", "end", "engage", "enter", "record", "release", "strike", "switch"]


def _makers():
    """Functions of the package that make actions, by name: those of the keys of all registered ones."""
    from sys import modules

    from ...registry import registered

    named = {cls.key.replace("-", "_"): modules[cls.__module__] for cls in registered("action").values()}
    return {name: getattr(module, name) for name, module in named.items() if hasattr(module, name)}


def __getattr__(name):
    if name.startswith("_") or name not in (makers := _makers()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return makers[name]


def __dir__():
    return sorted({"Action", "Step", *_makers()})
