"""The public interface says what it takes and what it gives: every argument and every result is annotated."""

import inspect
from functools import cached_property

import torsor as ts
from torsor.dynamics.compiled_model import Dynamics

PUBLIC = [name for name in dir(ts) if not name.startswith("_") and not inspect.ismodule(getattr(ts, name))]
MODULES = [ts.inertia, ts.cases, ts.exchange]


def things():
    """Public functions and classes, by name."""
    named = {f"ts.{name}": getattr(ts, name) for name in PUBLIC}
    for module in MODULES:
        own = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        named |= {f"{module.__name__}.{name}": getattr(module, name) for name in own}
    named["Dynamics"] = Dynamics
    return {name: x for name, x in named.items() if callable(x) and x.__module__.startswith("torsor")}


def missing(function):
    """What of a function is not annotated."""
    signature = inspect.signature(function)
    found = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
    gives = signature.return_annotation is not signature.empty or function.__name__ == "__init__"
    return found if gives else [*found, "return"]


def methods(cls):
    """Public methods and properties that a class defines, and how it is made, where that is no dataclass."""
    for name, x in vars(cls).items():
        x = x.fget if isinstance(x, property) else x.func if isinstance(x, cached_property) else x
        x = x.__func__ if isinstance(x, (staticmethod, classmethod)) else x
        made = name == "__init__" and "__dataclass_fields__" not in vars(cls)
        if inspect.isfunction(x) and (made or not name.startswith("_")):
            yield name, x


def test_every_public_function_is_annotated():
    found = [f"{name}: {', '.join(missing(x))}" for name, x in things().items() if inspect.isfunction(x) and missing(x)]
    assert found == []


def test_every_public_method_is_annotated():
    classes = [x for x in things().values() if inspect.isclass(x)]
    classes = {c for cls in classes for c in cls.__mro__ if c.__module__.startswith("torsor")}
    found = [
        f"{cls.__module__}.{cls.__name__}.{name}: {', '.join(missing(x))}"
        for cls in sorted(classes, key=lambda c: (c.__module__, c.__name__))
        for name, x in methods(cls)
        if missing(x)
    ]
    assert found == []
