"""Digests of Python functions: what they do, and everything that they refer to.

Stored runs belong to the functions that they were made with. A digest changes where the code of a function changes, its default
values, variables that it encloses, the object that it is a method of, or a function, class or constant that it refers to by name,
in any module of the user. Of packages that are installed the names count. It does not depend on addresses or on the process.
"""

import dis
import functools
import hashlib
import inspect
import re
import sys
import sysconfig
import types
from collections.abc import Mapping

import casadi as ca
import numpy as np

from ..describe.element import Element
from ..describe.model import Model
from ..formulations.fingerprint import fingerprint

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
PLAIN = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    type(Ellipsis),
    type(NotImplemented),
    range,
    slice,
)
OWN = __package__.partition(".")[0]


def digest_of_laws(model):
    """Digest of the Python functions that are called while a model runs, with the states that they begin with; empty: there are
    none. It is found once for a model, before they are called: what a function changes later is its memory, not its definition."""
    if "laws" not in model.derived:
        called = [rule for rule in model.rules if getattr(rule, "answers", ())]
        told = [(rule.name, rule.function, rule.initial) for rule in called]
        model.derived["laws"] = digest(told) if told else ""
    return model.derived["laws"]


def digest(thing):
    """Digest of anything: numbers, texts, arrays, functions, objects."""
    content = hashlib.sha256()
    try:
        for part in _Walk().parts(thing):
            content.update(b"%d:" % len(part) + part)
    except RecursionError:
        content.update(b"too deep:" + _said(thing))
    return content.hexdigest()


class _Walk:
    """A walk through everything that an object consists of. seen: objects that were met, by identity, in their order."""

    def __init__(self):
        self.seen = {}
        self.held = []  # so that no identity is used twice

    def parts(self, thing):
        """Bytes that differ where the thing does."""
        if isinstance(thing, PLAIN) and type(thing) in PLAIN:
            yield f"{type(thing).__name__} {thing!r}".encode()
            return
        if isinstance(thing, (set, frozenset)):  # whose order is that of a process
            yield b"set"
            yield from sorted(digest(x).encode() for x in thing)
            return
        if isinstance(thing, (tuple, np.ndarray, np.generic, types.CodeType)):  # equal ones may be one object, or not
            yield from self._composed(thing)
            return
        if id(thing) in self.seen:
            yield b"met before: %d" % self.seen[id(thing)]
            return
        self.seen[id(thing)] = len(self.seen)
        self.held.append(thing)
        yield from self._composed(thing)

    def _composed(self, thing):
        if isinstance(thing, (np.ndarray, np.generic)):
            yield from self._array(np.asarray(thing))
        elif type(thing) in (list, tuple):
            yield b"%s of %d" % (type(thing).__name__.encode(), len(thing))
            for x in thing:
                yield from self.parts(x)
        elif type(thing) is dict:
            yield from self._named("dictionary", thing)
        elif isinstance(thing, (ca.SX, ca.MX, ca.DM)):
            yield str(thing).encode()
        elif isinstance(thing, ca.Function):
            yield thing.serialize().encode()
        elif isinstance(thing, types.CodeType):
            yield from self._code(thing)
        elif isinstance(thing, types.CellType):
            yield from self._cell(thing)
        elif isinstance(thing, (property, staticmethod, classmethod)):
            inner = (thing.fget, thing.fset) if isinstance(thing, property) else (thing.__func__,)
            yield from self.parts([type(thing).__name__, *inner])
        elif inspect.ismodule(thing):
            yield f"module {thing.__name__}".encode()
        elif inspect.isclass(thing):
            yield from self._class(thing)
        elif inspect.isfunction(thing):
            yield from self._function(thing)
        elif inspect.ismethod(thing):
            yield from self.parts([thing.__func__, thing.__self__])
        elif isinstance(thing, functools.partial):
            yield from self.parts([thing.func, thing.args, thing.keywords])
        elif isinstance(thing, Model):
            yield b"model"
            yield fingerprint(thing, dict(thing.signals)).encode()
            yield from self.parts([getattr(rule, "function", None) for rule in thing.rules])
        elif hasattr(type(thing), "data_vars"):
            yield from self.parts([(str(name), x.dims, x.values) for name, x in thing.variables.items()])
        elif (inner := _wrapped(thing)) is not None:
            yield f"wrapped by {type(thing).__qualname__}".encode()
            yield from self.parts(inner)
        elif inspect.isroutine(thing):  # of C, and bound to an object perhaps
            yield f"{getattr(thing, '__module__', '')} {thing.__qualname__}".encode()
            bound = getattr(thing, "__self__", None)
            if bound is not None and not inspect.ismodule(bound):
                yield from self.parts(bound)
        else:
            yield from self._object(thing)

    def _named(self, kind, mapping):
        yield f"{kind} of {len(mapping)}".encode()
        keyed = sorted((digest(name) if not isinstance(name, str) else name, k) for k, name in enumerate(mapping))
        names = list(mapping)
        for key, k in keyed:
            yield key.encode(errors="backslashreplace")
            yield from self.parts(mapping[names[k]])

    def _array(self, array):
        yield f"array {array.dtype.str} {array.shape}".encode()
        if array.dtype.hasobject:
            yield from self.parts(array.tolist())
        else:
            yield np.ascontiguousarray(array).tobytes()

    def _cell(self, cell):
        try:
            content = cell.cell_contents
        except ValueError:  # of a name that has no value yet
            yield b"empty"
        else:
            yield from self.parts(content)

    def _code(self, code):
        yield code.co_code
        yield from self.parts(
            [*code.co_names, *code.co_varnames, *code.co_freevars, code.co_flags & inspect.CO_GENERATOR]
        )
        yield from self.parts([code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount])
        for x in code.co_consts:
            yield from self.parts(x)

    def _function(self, function):
        """Code, defaults, enclosed variables, and what global names refer to."""
        if _installed(function):
            yield f"function {function.__module__}.{function.__qualname__}".encode()
            return
        yield f"function {function.__qualname__}".encode()
        code = function.__code__
        yield from self._code(code)
        yield from self.parts([function.__defaults__, function.__kwdefaults__, {**vars(function)}])
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            yield name.encode()
            yield from self._cell(cell)
        yield from self._globals(function.__globals__, *_names(code))

    def _globals(self, space, names, attributes):
        """What names refer to in a module; of another module of the user the attributes that are named."""
        for name in sorted(names & space.keys()):
            value = space[name]
            yield name.encode()
            if inspect.ismodule(value) and not _installed(value):
                if id(value) not in self.seen:
                    self.seen[id(value)] = len(self.seen)
                yield from self._globals(vars(value), attributes - {name}, attributes - {name})
            else:
                yield from self.parts(value)

    def _class(self, cls):
        """Methods and attributes of a class of the user, those that it inherits included."""
        for one in cls.__mro__:
            yield f"class {one.__module__ if _installed(one) else ''}.{one.__qualname__}".encode()
            if not _installed(one):
                own = {name: x for name, x in vars(one).items() if not _of_python(name, x)}
                yield from self._named("attributes", own)

    def _object(self, thing):
        """The class of an object, and its state."""
        cls = type(thing)
        yield from self.parts(cls)
        if cls.__module__.partition(".")[0] == OWN:
            yield from self._of_torsor(thing)
            return
        if isinstance(thing, Mapping) and not hasattr(thing, "__dict__"):
            yield from self._named("mapping", thing)
            return
        for part in _state(thing):
            yield from self.parts(part)

    def _of_torsor(self, thing):
        """What torsor has made: elements by their names, and what belongs to a model by the model."""
        if isinstance(thing, Element):
            yield thing.owner.encode()
        model = getattr(thing, "model", None)
        if isinstance(model, Model):
            yield from self.parts(model)
        elif (fields := getattr(thing, "__dataclass_fields__", None)) and not isinstance(thing, Element):
            yield from self.parts([getattr(thing, name, None) for name in fields])
        elif not isinstance(thing, Element):
            yield _said(thing)


def _wrapped(thing):
    """The Python function in a cache, or in a function that Numba compiles; None where there is none."""
    try:
        found = getattr(thing, "__wrapped__", None) or getattr(thing, "py_func", None)
    except Exception:  # whatever a stranger's class raises
        return None
    return found if inspect.isfunction(found) or inspect.ismethod(found) else None


def _state(thing):
    """What an object is made from again, as `copy` finds it; else what it says of itself."""
    try:
        made = thing.__reduce_ex__(2)
    except Exception:  # whatever a stranger's class raises: it cannot be copied
        made = None
    if not isinstance(made, tuple):
        return [vars(thing) if hasattr(thing, "__dict__") else _said(thing)]
    _, arguments, *rest = made
    listed = [list(x) if x is not None else None for x in rest[1:3]]
    return [arguments, rest[0] if rest else None, *listed]


def _said(thing):
    """What an object says of itself, without addresses."""
    try:
        return ADDRESS.sub("", repr(thing)).encode(errors="backslashreplace")
    except Exception:  # whatever a stranger's class raises
        return type(thing).__qualname__.encode()


def _of_python(name, value):
    """Whether Python itself keeps an attribute of a class: a place in its objects, its name, what it remembers of it."""
    kept = name == "_abc_impl" or (name.startswith("__") and name.endswith("__"))
    slot = inspect.ismemberdescriptor(value) or inspect.isgetsetdescriptor(value)
    return slot or (kept and not isinstance(value, (types.FunctionType, staticmethod, classmethod, property)))


def _names(code):
    """Names of globals and of attributes that code refers to, functions within it included."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = [_names(x) for x in code.co_consts if isinstance(x, types.CodeType)]
    return own.union(*[x for x, _ in inner]), {*code.co_names}.union(*[x for _, x in inner])


@functools.cache
def _places():
    """Folders of packages that are installed."""
    found = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{path}/" for path in found if path)


def _installed(thing):
    """Whether a module, function or class comes with Python, a package or torsor, and not from the user."""
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None)
    top = str(module).partition(".")[0]
    if top in (OWN, "builtins") or top in sys.stdlib_module_names - {"__main__"}:
        return True
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    return file is not None and (file.startswith(_places()) or "site-packages" in file)
