"""Components in files: for those who use a component and do not have its source.

A file holds what a model consists of as plain data (`description.py`): it is read without running anything. It may also hold the
kernels of the component, compiled for one kind of machine; these are machine code, and taken only from files that are trusted.

    torsor component 1 <sha256 of all that follows>
    one line of JSON: name, interface, versions, lengths of what follows
    the description (JSON), the numbers in it (little-endian), the compiled kernels
"""

import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from .. import kernels
from ..describe import quantity
from ..describe.body import Body, Frame
from ..describe.model import Model
from ..errors import ModelError, OptionError, TorsorError
from ..formulations.fingerprint import fingerprint, sources
from ..joints import Joint
from ..kernels.backends.llvm import LLVM
from ..run import automatic
from . import description, files

FORMAT = 1
SUFFIX = ".tsc"
FORMULATIONS = ("auto", "absolute")
_FIRST = re.compile(rb"torsor component (\d+) ([0-9a-f]{64})\Z")
TYPES = {"float64": "<f8", "int64": "<i8", "bool": "|b1"}


class Parts(NamedTuple):
    """What a file holds."""

    header: dict
    text: bytes
    numbers: bytes
    code: bytes


def interface(component: Model | str | os.PathLike) -> dict[str, dict[str, str]]:
    """What a component, or one in a file, promises: its ports and its parameters by name, each with what it is in words."""
    if not isinstance(component, Model):
        return _parts(component).header["interface"]
    model = component
    return {
        "ports": {name: _kind(thing) for name, thing in model.ports.items()},
        "parameters": {name: "positive" if p.positive else "any number" for name, p in model.parameters.items()},
    }


def _kind(thing):
    if isinstance(thing, Frame):
        return "frame of a body" if isinstance(thing.body, Body) else "frame of a ground"
    if isinstance(thing, Joint):
        return f"joint with {thing.dof} coordinates"
    if isinstance(thing, ca.SX):
        return f"signal of {thing.numel()} components"
    return getattr(thing, "kind", None) or type(thing).__name__.lower()


def save_component(model: Model, path: str | os.PathLike, formulations: Sequence[str] = FORMULATIONS) -> None:
    """Write a component, `model`, to the file `path`, from which `load_component` reads it without the Python code that built it.

    formulations   for which its kernels, compiled for machines like this one, go along; by default the cheapest ("auto") and
                   absolute coordinates; () for none

    The file is read once before it gets its name, so that what is there can be read. Elements of classes that are defined outside
    torsor are recorded as the expressions that they declare; shapes of bodies go along where they are plain data.
    """
    if not isinstance(model, Model):
        raise OptionError(f"save_component: give a torsor.Model, got {quantity.show(model)}")
    if isinstance(formulations, str) or not isinstance(formulations, Sequence):
        raise OptionError(
            f"save_component: formulations must be a list of their names, got {quantity.show(formulations)}"
        )
    files.refuse_unwritable(path)
    data, arrays, exact = description.written(model)
    text = json.dumps(data).encode()
    twin = description.read(json.loads(text), arrays, f"component {model.name!r}")
    mark = fingerprint(twin, twin.signals)
    if exact and mark != fingerprint(model, model.signals):
        raise ModelError(f"model {model.name!r}: cannot be saved: what would be read is not what was described")
    code = _compiled(twin, formulations)
    numbers = b"".join(a.astype(TYPES[a.dtype.name]).tobytes() for a in arrays)
    header = {
        "component": model.name,
        "interface": interface(model),
        "fingerprint": mark,
        "sources": sources(),
        "torsor": _version(),
        "machine": _machine(),
        "arrays": [[a.dtype.name, *a.shape] for a in arrays],
        "kernels": {name: len(entry) for name, entry in code.items()},
        "lengths": [len(text), len(numbers), sum(map(len, code.values()))],
    }
    body = b"\n".join([json.dumps(header).encode(), b"".join([text, numbers, *code.values()])])
    first = f"torsor component {FORMAT} {hashlib.sha256(body).hexdigest()}\n".encode()
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(os.fsdecode(path))), suffix=".part")
    with files.written(temporary, path, sealed=True), os.fdopen(handle, "wb") as file:
        file.write(first + body)


def _compiled(model, formulations):
    """What the cache keeps of a component that is prepared to run."""
    with kernels.cache.noted() as entries:
        for formulation in formulations if model.bodies else ():
            automatic.prepared(model, formulation)
    return entries


def _version():
    from .. import __version__

    return __version__


def _machine():
    """What compiled kernels depend on besides the component."""
    return kernels.cache.digest(kernels.cache.versions(), LLVM().target())


def load_component(
    path: str | os.PathLike, like: Model | Mapping[str, Any] | None = None, trusted: bool = False
) -> Model:
    """Read a component that `save_component` wrote to `path`: a new model with the same bodies, joints, ports and parameters.

    like      a model, or an `interface` of one, whose ports and parameters it must have
    trusted   take its compiled kernels, too, where they fit this machine, so that its first run compiles nothing. They are
              machine code: do so with files of people whose programs you would run

    Without `trusted`, a file is data, and whatever is in it cannot do anything but describe a mechanism.
    """
    if not isinstance(trusted, (bool, np.bool_)):
        raise OptionError(f"load_component: trusted must be True or False, got {quantity.show(trusted)}")
    parts = _parts(path)
    owner = _owner(path, parts.header)
    _refuse_other_interface(owner, parts.header["interface"], like)
    with _sensible(owner):
        model = description.read(_json(parts.text, owner), _arrays(parts, owner), owner)
        _refuse_other_model(model, owner, parts.header)
    if interface(model) != parts.header["interface"]:
        raise ModelError(f"{owner}: its interface is not the one that it tells; it was not written by torsor")
    if trusted and parts.header["machine"] == _machine():
        kernels.cache.adopt(_entries(parts))
    return model


def _refuse_other_model(model, owner, header):
    """Refuse a description that is not that of the model that was saved; all that a model is asked for is asked here once."""
    interface(model)
    mark = fingerprint(model, model.signals)
    Model("trial").include("component", model)
    if header.get("sources") == sources() and mark != header["fingerprint"]:
        raise ModelError(f"{owner}: its description is not that of the model that was saved; it was changed since")


@contextmanager
def _sensible(owner):
    """Refuse a description whose parts are there but do not fit each other."""
    try:
        yield
    except TorsorError:
        raise
    except Exception as error:  # whatever parts raise that somebody else has put together
        why = f"{type(error).__name__}: {error}"
        raise ModelError(f"{owner}: its parts do not fit each other; it was not written by torsor ({why})") from None


def fits(path: str | os.PathLike) -> bool:
    """Whether the compiled kernels in a file, if there are any, are for machines like this one."""
    header = _parts(path).header
    return bool(header["kernels"]) and header["machine"] == _machine()


def _owner(path, header):
    return f"{os.fspath(path)!r}: component {header['component']!r}"


def _parts(path):
    """What is in a file that is whole."""
    shown = repr(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else quantity.show(path)
    refuse = lambda why: ModelError(f"cannot read {shown}: {why}")
    try:
        if os.path.exists(os.fspath(path)) and not os.path.isfile(path):
            raise refuse("it is not a regular file")
        with open(os.fspath(path), "rb") as file:
            first, _, body = file.read().partition(b"\n")
    except (OSError, ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise refuse(getattr(error, "strerror", None) or error) from None
    found = _FIRST.match(first)
    if found is None:
        raise refuse("it is not a component that torsor saved, or its beginning is damaged")
    if int(found[1]) != FORMAT:
        raise refuse(f"it has format {int(found[1])}, and this version of torsor, {_version()}, reads format {FORMAT}")
    if hashlib.sha256(body).hexdigest() != found[2].decode():
        raise refuse("it is damaged: its content is not the one that was written")
    line, _, rest = body.partition(b"\n")
    try:
        header = json.loads(line)
        ends = np.cumsum([0, *header["lengths"]]).tolist()
        if ends[-1] != len(rest) or not isinstance(header["component"], str):
            raise ValueError
        text, numbers, code = (rest[a:b] for a, b in zip(ends, ends[1:]))
        told = (
            *header["interface"]["ports"],
            *header["interface"]["parameters"],
            *header["kernels"],
            header["machine"],
        )
        if not all(isinstance(x, str) for x in told) or not isinstance(header["arrays"], list):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise refuse("its header makes no sense; it was not written by torsor") from None
    return Parts(header, text, numbers, code)


def _json(text, owner):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{owner}: its description makes no sense; it was not written by torsor") from None


def _arrays(parts, owner):
    """The numbers of a description."""
    found, at = [], 0
    try:
        for kind, *shape in parts.header["arrays"]:
            if not all(type(n) is int and n >= 0 for n in shape):
                raise ValueError(shape)
            count = math.prod(shape)
            array = np.frombuffer(parts.numbers, TYPES[kind], count, at)
            at += array.nbytes
            found.append(array.reshape(shape).astype(kind))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise ModelError(f"{owner}: its numbers make no sense; it was not written by torsor") from None
    return found


def _entries(parts):
    """The compiled kernels, as entries of the cache."""
    found, at = {}, 0
    for name, length in parts.header["kernels"].items():
        found[name] = parts.code[at : at + length]
        at += length
    return found


def _refuse_other_interface(owner, has, like):
    """Refuse a component that has not what is expected of it."""
    if like is None:
        return
    wanted = interface(like) if isinstance(like, Model) else like
    if not isinstance(wanted, Mapping) or not all(
        isinstance(wanted.get(what, {}), Mapping) for what in ("ports", "parameters")
    ):
        raise OptionError(f"load_component: like must be a model or an interface of one, got {quantity.show(like)}")
    for what in ("ports", "parameters"):
        for name, kind in wanted.get(what, {}).items():
            if name not in has[what]:
                known = ", ".join(has[what]) or "none"
                raise ModelError(
                    f"{owner} has no {what[:-1]} {name!r}: its interface has changed. {what.capitalize()}: {known}."
                )
            if has[what][name] != kind:
                raise ModelError(
                    f"{owner}: {what[:-1]} {name!r} is {has[what][name]}, and {kind} is expected: its interface has changed"
                )
