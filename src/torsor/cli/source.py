"""What CASE|FILE on the command line stands for: a model, and how to run it."""

import inspect
import os
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..errors import OptionError, TorsorError
from ..model import Model

ROBOTS = (".urdf", ".xml", ".mjcf")


@dataclass
class Source:
    """A model with values for its parameters and arguments of `simulate` that suit it."""

    model: Model
    parameters: dict = field(default_factory=dict)
    recommended: dict = field(default_factory=dict)
    file: str | None = None
    notes: list = field(default_factory=list)


def assignments(items):
    """NAME=VALUE given several times, as a dictionary; a value is a number where it reads as one."""
    found = {}
    for item in items or []:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not (name and equals and value):
            raise OptionError(f"--set {item!r}: write NAME=VALUE")
        found[name] = number(value)
    return found


def number(text):
    """A whole number, a number, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def load(given, settings):
    """The source that `given` names. `settings` go to the builder where it has an argument of that name, else to the
    model's parameters."""
    if given.lower().endswith(ROBOTS):
        return _robot(given, settings)
    if given.endswith(".py") or os.path.isfile(given):
        return _file(given, settings)
    from .. import cases

    if given not in cases.names():
        if os.path.isdir(given):
            raise OptionError(f"{given!r} is a folder; give a case, or a Python, URDF or MJCF file")
        raise OptionError(f"{given!r} is neither a case nor a file. Cases: {', '.join(cases.names())}.")
    ours, theirs = _split(settings, cases.options(given))
    model = cases.load(given, **ours)
    _known(model, theirs, cases.options(given))
    return Source(model, theirs, cases.recommended(given))


def _robot(path, settings):
    """A URDF or MJCF file; `notes` say what of it the model does not hold."""
    from ..exchange import read

    found = read(path)
    _known(found.model, settings, {})
    return Source(found.model, settings, notes=found.report)


def _file(path, settings):
    if os.path.splitext(path)[1] in (".nc", ".h5"):
        raise OptionError(f"{path!r} is a result, not a model; `torsor plot {path} DIR` draws it")
    try:
        with open(path, "rb") as stream:
            code = stream.read()
    except OSError as error:
        raise OptionError(f"cannot read {path!r}: {error.strerror}") from None
    names = {"__name__": "torsor_model", "__file__": os.path.abspath(path)}
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    with blamed(path):
        exec(compile(code, path, "exec"), names)
    model, builder, options, theirs = names.get("model"), names.get("build"), {}, settings
    if model is None and callable(builder):
        options = inspect.signature(builder).parameters
        ours, theirs = _split(settings, options)
        with blamed(path):
            model = builder(**ours)
    if not isinstance(model, Model):
        missing = model is None and builder is None
        found = "no `model` and no function `build()`" if missing else f"a {type(model).__name__}"
        allowed = "`model`, a torsor.Model, or a function `build()` that returns one"
        raise OptionError(f"{path}: must define {allowed}; found {found}")
    _known(model, theirs, options)
    end = names.get("until")
    return Source(model, theirs, {} if end is None else {"until": end}, path)


def _split(settings, options):
    return {k: v for k, v in settings.items() if k in options}, {k: v for k, v in settings.items() if k not in options}


def _known(model, settings, options):
    """Refuse a name that neither the model nor its builder has."""
    known = [*options, *model.parameters]
    for name in settings:
        if name not in model.parameters:
            allowed = ", ".join(known) or "none"
            raise OptionError(f"--set {name}: model {model.name!r} has nothing of that name to set. Known: {allowed}.")


@contextmanager
def blamed(path):
    """An error in the user's file becomes one message with its place there; without torsor's own frames.

    With `path` None, or where the file takes no part in the error, nothing changes.
    """
    try:
        yield
    except SystemExit as error:
        raise OptionError(f"{path}: called exit({error.code!r}) before it defined a model") from None
    except SyntaxError as error:
        raise OptionError(f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}") from None
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        if not lines:
            raise
        kind = "" if isinstance(error, TorsorError) else f"{type(error).__name__}: "
        raise OptionError(f"{path}:{lines[-1]}: {kind}{error}") from None
