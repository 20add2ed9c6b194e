"""Component files: a component can be used without the Python code that built it.

A file contains the model as plain data (`model_data.py`); reading it runs no code. It may also contain the kernels of the
component, compiled for one kind of machine; these are machine code, and used only from files that the user trusts.

    torsor component 1 <sha256 of all that follows>
    one line of JSON: name, interface, versions, lengths of the parts that follow
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
from ..elements import quantity
from ..errors import ModelError, OptionError, TorsorError
from ..formulations.fingerprint import fingerprint, source_digest
from ..joints import Joint
from ..kernels.backends.llvm import LLVM
from ..model.body import Body, Frame
from ..model.model import Model
from ..prepare import auto_formulation
from . import model_data, result_files

FORMAT = 1
SUFFIX = ".tsc"
FORMULATIONS = ("auto", "absolute")
_FIRST_LINE = re.compile(rb"torsor component (\d+) ([0-9a-f]{64})\Z")
TYPES = {"float64": "<f8", "int64": "<i8", "bool": "|b1"}


class Parts(NamedTuple):
    """The parts of a component file."""

    header: dict
    text: bytes
    numbers: bytes
    code: bytes


def interface(component: Model | str | os.PathLike) -> dict[str, dict[str, str]]:
    """Ports and parameters of a component, or of a component file, by name, each with a description in words."""
    if not isinstance(component, Model):
        return _parts(component).header["interface"]
    model = component
    return {
        "ports": {name: _describe_port(port) for name, port in model.ports.items()},
        "parameters": {name: "positive" if p.positive else "any number" for name, p in model.parameters.items()},
    }


def _describe_port(port):
    """The kind of a port in words, as component files store it."""
    if isinstance(port, Frame):
        return "frame of a body" if isinstance(port.body, Body) else "frame of a ground"
    if isinstance(port, Joint):
        return f"joint with {port.dof} coordinates"
    if isinstance(port, ca.SX):
        return f"signal of {port.numel()} components"
    return getattr(port, "kind", None) or type(port).__name__.lower()


def save_component(model: Model, path: str | os.PathLike, formulations: Sequence[str] = FORMULATIONS) -> None:
    """Write a component, `model`, to the file `path`, from which `load_component` reads it without the Python code that built it.

    formulations   whose kernels, compiled for machines like this one, are included; by default the cheapest ("auto") and
                   absolute coordinates; () for none

    The content is read back before the file is written, so that a file can always be read. Elements of classes that are defined
    outside torsor are recorded as the expressions that they declare. Shapes of bodies are included if they are plain data.
    """
    if not isinstance(model, Model):
        raise OptionError(f"save_component: give a torsor.Model, got {quantity.show(model)}")
    if isinstance(formulations, str) or not isinstance(formulations, Sequence):
        raise OptionError(
            f"save_component: formulations must be a list of their names, got {quantity.show(formulations)}"
        )
    result_files.refuse_unwritable(path)
    data, arrays, exact = model_data.write(model)
    text = json.dumps(data).encode()
    copy = model_data.read(json.loads(text), arrays, f"component {model.name!r}")
    copy_fingerprint = fingerprint(copy, copy.signals)
    if exact and copy_fingerprint != fingerprint(model, model.signals):
        raise ModelError(f"model {model.name!r}: cannot be saved: the model that is read back differs from it")
    code = _compile_kernels(copy, formulations)
    numbers = b"".join(a.astype(TYPES[a.dtype.name]).tobytes() for a in arrays)
    header = {
        "component": model.name,
        "interface": interface(model),
        "fingerprint": copy_fingerprint,
        "sources": source_digest(),
        "torsor": _version(),
        "machine": _machine(),
        "arrays": [[a.dtype.name, *a.shape] for a in arrays],
        "kernels": {name: len(entry) for name, entry in code.items()},
        "lengths": [len(text), len(numbers), sum(map(len, code.values()))],
    }
    body = b"\n".join([json.dumps(header).encode(), b"".join([text, numbers, *code.values()])])
    first = f"torsor component {FORMAT} {hashlib.sha256(body).hexdigest()}\n".encode()
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(os.fsdecode(path))), suffix=".part")
    with result_files.replace_when_written(temporary, path, sealed=True), os.fdopen(handle, "wb") as file:
        file.write(first + body)


def _compile_kernels(model, formulations):
    """Entries of the cache of compiled kernels, by name, that preparing the component for a run uses."""
    with kernels.cache.record_entries() as entries:
        for formulation in formulations if model.bodies else ():
            auto_formulation.choose_and_prepare(model, formulation)
    return entries


def _version():
    from .. import __version__

    return __version__


def _machine():
    """Digest of what compiled kernels depend on besides the component: versions and processor."""
    return kernels.cache.digest(kernels.cache.versions(), LLVM().target())


def load_component(
    path: str | os.PathLike, like: Model | Mapping[str, Any] | None = None, trusted: bool = False
) -> Model:
    """Read a component that `save_component` wrote to `path`: a new model with the same bodies, joints, ports and parameters.

    like      a model, or an `interface` of one, whose ports and parameters the component must have
    trusted   True: also use its compiled kernels, if they fit this machine, so that the first run compiles nothing. They are
              machine code: trust only files of people whose programs you would run

    Without `trusted`, a file is data: it can only describe a mechanism, and runs no code.
    """
    if not isinstance(trusted, (bool, np.bool_)):
        raise OptionError(f"load_component: trusted must be True or False, got {quantity.show(trusted)}")
    parts = _parts(path)
    owner = _owner(path, parts.header)
    _refuse_other_interface(owner, parts.header["interface"], like)
    with _inconsistency_as_error(owner):
        model = model_data.read(_json(parts.text, owner), _arrays(parts, owner), owner)
        _refuse_other_model(model, owner, parts.header)
    if interface(model) != parts.header["interface"]:
        raise ModelError(f"{owner}: its interface differs from the one in its header; it was not written by torsor")
    if trusted and parts.header["machine"] == _machine():
        kernels.cache.adopt(_entries(parts))
    return model


def _refuse_other_model(model, owner, header):
    """Refuse a description that differs from the saved model. The model is used once here, so that invalid parts raise errors."""
    interface(model)
    model_fingerprint = fingerprint(model, model.signals)
    Model("trial").include("component", model)
    if header.get("sources") == source_digest() and model_fingerprint != header["fingerprint"]:
        raise ModelError(f"{owner}: its description differs from the model that was saved; it was changed since")


@contextmanager
def _inconsistency_as_error(owner):
    """Convert any error that parts which do not fit each other cause to a ModelError."""
    try:
        yield
    except TorsorError:
        raise
    except Exception as error:  # inconsistent parts may raise anything
        why = f"{type(error).__name__}: {error}"
        raise ModelError(f"{owner}: its parts do not fit each other; it was not written by torsor ({why})") from None


def kernels_fit_machine(path: str | os.PathLike) -> bool:
    """True if a file contains compiled kernels for machines like this one."""
    header = _parts(path).header
    return bool(header["kernels"]) and header["machine"] == _machine()


def _owner(path, header):
    """File and component in words, for messages."""
    return f"{os.fspath(path)!r}: component {header['component']!r}"


def _parts(path):
    """Read a file and verify its format and checksum."""
    shown = repr(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else quantity.show(path)

    def refusal(why):
        return ModelError(f"cannot read {shown}: {why}")

    try:
        if os.path.exists(os.fspath(path)) and not os.path.isfile(path):
            raise refusal("it is not a regular file")
        with open(os.fspath(path), "rb") as file:
            first, _, body = file.read().partition(b"\n")
    except (OSError, ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise refusal(getattr(error, "strerror", None) or error) from None
    match = _FIRST_LINE.match(first)
    if match is None:
        raise refusal("it is not a component that torsor saved, or its beginning is damaged")
    if int(match[1]) != FORMAT:
        raise refusal(f"it has format {int(match[1])}, and this version of torsor, {_version()}, reads format {FORMAT}")
    if hashlib.sha256(body).hexdigest() != match[2].decode():
        raise refusal("it is damaged: its checksum is wrong")
    line, _, rest = body.partition(b"\n")
    try:
        header = json.loads(line)
        ends = np.cumsum([0, *header["lengths"]]).tolist()
        if ends[-1] != len(rest) or not isinstance(header["component"], str):
            raise ValueError
        text, numbers, code = (rest[a:b] for a, b in zip(ends, ends[1:]))
        texts = (
            *header["interface"]["ports"],
            *header["interface"]["parameters"],
            *header["kernels"],
            header["machine"],
        )
        if not all(isinstance(x, str) for x in texts) or not isinstance(header["arrays"], list):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise refusal("its header is invalid; it was not written by torsor") from None
    return Parts(header, text, numbers, code)


def _json(text, owner):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{owner}: its description is invalid; it was not written by torsor") from None


def _arrays(parts, owner):
    """The arrays of numbers of a description."""
    arrays = []
    at = 0
    try:
        for kind, *shape in parts.header["arrays"]:
            if not all(type(n) is int and n >= 0 for n in shape):
                raise ValueError(shape)
            count = math.prod(shape)
            array = np.frombuffer(parts.numbers, TYPES[kind], count, at)
            at += array.nbytes
            arrays.append(array.reshape(shape).astype(kind))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise ModelError(f"{owner}: its numbers are invalid; it was not written by torsor") from None
    return arrays


def _entries(parts):
    """The compiled kernels, as entries of the cache by name."""
    entries = {}
    at = 0
    for name, length in parts.header["kernels"].items():
        entries[name] = parts.code[at : at + length]
        at += length
    return entries


def _refuse_other_interface(owner, has, like):
    """Refuse a component that lacks a port or parameter of the expected interface `like`, or has one of another kind."""
    if like is None:
        return
    expected = interface(like) if isinstance(like, Model) else like
    if not isinstance(expected, Mapping) or not all(
        isinstance(expected.get(what, {}), Mapping) for what in ("ports", "parameters")
    ):
        raise OptionError(f"load_component: like must be a model or an interface of one, got {quantity.show(like)}")
    for what in ("ports", "parameters"):
        for name, kind in expected.get(what, {}).items():
            if name not in has[what]:
                known = ", ".join(has[what]) or "none"
                raise ModelError(
                    f"{owner} has no {what[:-1]} {name!r}: its interface has changed. {what.capitalize()}: {known}."
                )
            if has[what][name] != kind:
                raise ModelError(
                    f"{owner}: {what[:-1]} {name!r} is {has[what][name]}, and {kind} is expected: its interface has changed"
                )
