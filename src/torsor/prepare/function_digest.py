"""Digests of Python functions, including everything that they refer to.

A stored run is valid only for the functions it was computed with. A digest changes if one of these changes: the code of a function,
its default values, variables that it encloses, the object that it is a method of, or a function, class or constant that it refers
to by name, in any module of the user. For installed packages only names count. A digest depends neither on addresses nor on the
process.
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

from ..elements.element import Element
from ..formulations.fingerprint import fingerprint
from ..model.model import Model

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
SIMPLE_TYPES = (
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
PACKAGE = __package__.partition(".")[0]


def digest_of_laws(model):
    """Digest of the Python functions that are called while a model runs, with their initial states; empty if there are none.

    It is computed once for a model, before the functions are called: later changes are memory of a function, not its definition.
    """
    if "laws" not in model.derived:
        called = [rule for rule in model.rules if getattr(rule, "answers", ())]
        functions = [(rule.name, rule.function, rule.initial) for rule in called]
        model.derived["laws"] = digest(functions) if functions else ""
    return model.derived["laws"]


def digest(thing):
    """Digest of any object: numbers, texts, arrays, functions, instances of classes."""
    content = hashlib.sha256()
    try:
        for part in _ObjectWalk().parts(thing):
            content.update(b"%d:" % len(part) + part)
    except RecursionError:
        content.update(b"too deep:" + _text(thing))
    return content.hexdigest()


class _ObjectWalk:
    """A walk through all parts of an object.

    seen         numbers of the objects so far, by identity
    references   the same objects, kept alive so that no identity is used twice
    """

    def __init__(self):
        self.seen = {}
        self.references = []

    def parts(self, thing):
        """Yield bytes that differ if the objects differ."""
        if isinstance(thing, SIMPLE_TYPES) and type(thing) in SIMPLE_TYPES:
            yield f"{type(thing).__name__} {thing!r}".encode()
            return
        if isinstance(thing, (set, frozenset)):  # their order depends on the process
            yield b"set"
            yield from sorted(digest(x).encode() for x in thing)
            return
        if isinstance(
            thing, (tuple, np.ndarray, np.generic, types.CodeType)
        ):  # equal ones may or may not be the same object
            yield from self._content(thing)
            return
        if id(thing) in self.seen:
            yield b"met before: %d" % self.seen[id(thing)]
            return
        self.seen[id(thing)] = len(self.seen)
        self.references.append(thing)
        yield from self._content(thing)

    def _content(self, thing):
        """Yield the bytes of an object by its type."""
        if isinstance(thing, (np.ndarray, np.generic)):
            yield from self._array(np.asarray(thing))
        elif type(thing) in (list, tuple):
            yield b"%s of %d" % (type(thing).__name__.encode(), len(thing))
            for x in thing:
                yield from self.parts(x)
        elif type(thing) is dict:
            yield from self._mapping_items("dictionary", thing)
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
        elif (inner := _wrapped_function(thing)) is not None:
            yield f"wrapped by {type(thing).__qualname__}".encode()
            yield from self.parts(inner)
        elif inspect.isroutine(thing):  # of C, possibly bound to an object
            yield f"{getattr(thing, '__module__', '')} {thing.__qualname__}".encode()
            bound = getattr(thing, "__self__", None)
            if bound is not None and not inspect.ismodule(bound):
                yield from self.parts(bound)
        else:
            yield from self._object(thing)

    def _mapping_items(self, kind, mapping):
        """Yield the items of a mapping in the order of their keys."""
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
        except ValueError:  # the name has no value yet
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
        """Yield code, defaults, enclosed variables, and the values of global names."""
        if _is_installed(function):
            yield f"function {function.__module__}.{function.__qualname__}".encode()
            return
        yield f"function {function.__qualname__}".encode()
        code = function.__code__
        yield from self._code(code)
        yield from self.parts([function.__defaults__, function.__kwdefaults__, {**vars(function)}])
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            yield name.encode()
            yield from self._cell(cell)
        yield from self._globals(function.__globals__, *_referenced_names(code))

    def _globals(self, space, names, attributes):
        """Yield the values of names in a module; for another module of the user, the attributes that are named."""
        for name in sorted(names & space.keys()):
            value = space[name]
            yield name.encode()
            if inspect.ismodule(value) and not _is_installed(value):
                if id(value) not in self.seen:
                    self.seen[id(value)] = len(self.seen)
                yield from self._globals(vars(value), attributes - {name}, attributes - {name})
            else:
                yield from self.parts(value)

    def _class(self, cls):
        """Yield methods and attributes of a class of the user, including inherited ones."""
        for one in cls.__mro__:
            yield f"class {one.__module__ if _is_installed(one) else ''}.{one.__qualname__}".encode()
            if not _is_installed(one):
                own = {name: x for name, x in vars(one).items() if not _is_of_python(name, x)}
                yield from self._mapping_items("attributes", own)

    def _object(self, thing):
        """Yield the class of an object and its state."""
        cls = type(thing)
        yield from self.parts(cls)
        if cls.__module__.partition(".")[0] == PACKAGE:
            yield from self._of_torsor(thing)
            return
        if isinstance(thing, Mapping) and not hasattr(thing, "__dict__"):
            yield from self._mapping_items("mapping", thing)
            return
        for part in _state(thing):
            yield from self.parts(part)

    def _of_torsor(self, thing):
        """Yield an object of torsor: an element by its name, an object that belongs to a model by the model."""
        if isinstance(thing, Element):
            yield thing.owner.encode()
        model = getattr(thing, "model", None)
        if isinstance(model, Model):
            yield from self.parts(model)
        elif (fields := getattr(thing, "__dataclass_fields__", None)) and not isinstance(thing, Element):
            yield from self.parts([getattr(thing, name, None) for name in fields])
        elif not isinstance(thing, Element):
            yield _text(thing)


def _wrapped_function(thing):
    """The Python function inside a cache or a function that Numba compiles; None if there is none."""
    try:
        function = getattr(thing, "__wrapped__", None) or getattr(thing, "py_func", None)
    except Exception:  # a class of the user may raise any error
        return None
    return function if inspect.isfunction(function) or inspect.ismethod(function) else None


def _state(thing):
    """The data from which `copy` would rebuild an object; if it cannot be copied, its attributes or its text."""
    try:
        reduced = thing.__reduce_ex__(2)
    except Exception:  # a class of the user may raise any error: the object cannot be copied
        reduced = None
    if not isinstance(reduced, tuple):
        return [vars(thing) if hasattr(thing, "__dict__") else _text(thing)]
    _, arguments, *rest = reduced
    items = [list(x) if x is not None else None for x in rest[1:3]]
    return [arguments, rest[0] if rest else None, *items]


def _text(thing):
    """The text of an object (`repr`), without addresses."""
    try:
        return ADDRESS.sub("", repr(thing)).encode(errors="backslashreplace")
    except Exception:  # a class of the user may raise any error
        return type(thing).__qualname__.encode()


def _is_of_python(name, value):
    """True if Python itself maintains an attribute of a class: a slot, a descriptor, a dunder attribute that is not a method."""
    internal = name == "_abc_impl" or (name.startswith("__") and name.endswith("__"))
    slot = inspect.ismemberdescriptor(value) or inspect.isgetsetdescriptor(value)
    return slot or (internal and not isinstance(value, (types.FunctionType, staticmethod, classmethod, property)))


def _referenced_names(code):
    """Names of globals and of attributes that code refers to, including functions inside it."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = [_referenced_names(x) for x in code.co_consts if isinstance(x, types.CodeType)]
    return own.union(*[x for x, _ in inner]), {*code.co_names}.union(*[x for _, x in inner])


@functools.cache
def _package_folders():
    """Folders of installed packages."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{path}/" for path in paths if path)


def _is_installed(thing):
    """True if a module, function or class belongs to Python, to an installed package or to torsor, not to the user."""
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None)
    top = str(module).partition(".")[0]
    if top in (PACKAGE, "builtins") or top in sys.stdlib_module_names - {"__main__"}:
        return True
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    return file is not None and (file.startswith(_package_folders()) or "site-packages" in file)
