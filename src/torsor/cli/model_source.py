"""What CASE|FILE on the command line stands for: a model, and how to run it."""

import hashlib
import inspect
import os
import shlex
import sys
import traceback
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import OptionError, ResultError, TorsorError
from ..model.model import Model
from ..registry import registered


@dataclass
class Source:
    """A model with values for its parameters and arguments of `simulate` that suit it.

    given, settings   what was typed; digest: of the file that it names, None for a case
    expect            values that a run must reproduce
    imported          what a file of a registered format gives
    """

    model: Model
    parameters: dict = field(default_factory=dict)
    recommended: dict = field(default_factory=dict)
    file: str | None = None
    notes: list = field(default_factory=list)
    hints: list = field(default_factory=list)
    given: str = ""
    settings: dict = field(default_factory=dict)
    digest: str | None = None
    expect: list = field(default_factory=list)
    imported: Any = None

    def until(self, given=None):
        """The end time that is given, or that the source recommends."""
        end = self.recommended.get("until") if given is None else given
        if end is None:
            way = "" if self.file is None else "define `until` in it, or "
            raise OptionError(f"{self.given}: does not say how long to run: {way}give --until SECONDS")
        return end

    def print_notes(self, shown=3):
        """What is worth knowing about it, on standard error: hints, and what an imported model does not say as its file does: how
        many notes, and the first ones."""
        lines = [f"{self.given}: {hint}" for hint in self.hints]
        if self.notes:
            count = f"{len(self.notes)} note{'s' if len(self.notes) > 1 else ''}"
            lines += [f"{self.given}: {count} on what the model leaves out or changes"]
            lines += [f"  {note}" for note in self.notes[:shown]]
        if len(self.notes) > shown:
            lines += [f"  and {len(self.notes) - shown} more: `torsor.read({self.given!r}).report`"]
        for line in lines:
            print(line, file=sys.stderr)

    def facts(self):
        """What a checkpoint keeps of it: enough to recognise it, and nothing that is ever run."""
        return {"given": self.given, "settings": self.settings, "digest": self.digest}


def assignments(items):
    """NAME=VALUE given several times, as a dictionary; a value is a number where it reads as one."""
    found: dict[str, Any] = {}
    for item in items or []:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not (name and equals and value):
            raise OptionError(f"--set {item!r}: write NAME=VALUE")
        if name in found:
            raise OptionError(f"--set {name}: it is given twice, as {found[name]} and as {value}")
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


def outputs_of(text):
    """A number of intervals, or times separated by commas."""
    try:
        return int(text) if "," not in text and "." not in text else [float(t) for t in text.split(",")]
    except ValueError:
        raise OptionError(f"--outputs {text!r}: give a number of intervals, or times separated by commas") from None


def load(given, settings):
    """The source that `given` names. `settings` go to the builder where it has an argument of that name, else to the
    model's parameters."""
    reads = {_case: is_case, _component: _is_component, _read_file: _is_described}
    read = next((read for read, fits in reads.items() if fits(given)), _file)
    found = read(given, settings)
    found.given, found.settings = given, settings
    return found


def is_case(given):
    """True if a name stands for a case; a file of that name is given by its path, as in ./pendulum."""
    from .. import cases

    return given in cases.names()


def _is_described(given):
    """True if a file is named as one of a registered format is."""
    if given.endswith(".py"):
        return False
    return given.lower().endswith(tuple(suffix for known in registered("format").values() for suffix in known.suffixes))


def _is_component(given):
    """True if a file is named as a saved component is."""
    from ..store.component import SUFFIX

    return given.lower().endswith(SUFFIX)


def _component(path, settings):
    from ..store.component import load_component

    digest = digest_of(path)
    model = load_component(path)
    _refuse_unknown_settings(model, settings, {})
    return Source(model, settings, digest=digest)


def _case(given, settings):
    from .. import cases

    ours, theirs = _split(settings, cases.options(given))
    model = cases.load(given, **ours)
    _refuse_unknown_settings(model, theirs, cases.options(given))
    shadowed = f"this is the case; the file of that name is ./{given}"
    return Source(model, theirs, cases.recommended(given), hints=[shadowed] if os.path.isfile(given) else [])


def digest_of(given):
    """The digest of the file that a source names; None for a case."""
    return None if is_case(given) else hashlib.sha256(_content(given)).hexdigest()


def _content(path):
    """The bytes of a file."""
    from .. import cases

    if os.path.isdir(path):
        raise OptionError(
            f"{path!r} is a folder; give a case, or a Python, YAML, URDF, MJCF, SDF or CAD file, or a component"
        )
    named = path.endswith(".py") or _is_described(path) or _is_component(path)
    if not named and not os.path.exists(path):
        raise OptionError(f"{path!r} is neither a case nor a file. Cases: {', '.join(cases.names())}.")
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from None


def resume_source(folder, stored, given, settings):
    """The source with which a run goes on that is kept in `folder`; stored: what the folder remembers of it.

    A folder may come from anybody. Nothing that it names is run: a file counts where it is given here, and is the one that
    the run was started with. Only a case needs no more than its name.
    """
    if stored is not None and not _remembers(stored):
        raise ResultError(f"{folder!r}: its state is damaged: it does not say what was run")
    if given is None:
        if stored is None:
            raise ResultError(
                f"{folder!r} was started from Python: go on with torsor.resume({folder!r}, model), or give the case or the "
                f"file that has the model, as in `torsor resume {folder} FILE`"
            )
        if stored["digest"] is None and is_case(stored["given"]):
            return load(stored["given"], stored["settings"])
        raise ResultError(
            f"{folder!r}: its run was started from the file {stored['given']!r}, and a file is run only where it is given: "
            f"`{command(folder, stored)}`"
        )
    if stored is not None:
        if digest_of(given) != stored["digest"]:
            known = "is not the case" if stored["digest"] is None else "is not the file, or has changed since,"
            raise ResultError(
                f"{given!r} {known} that the run in {folder!r} was started with: `{command(folder, stored)}`"
            )
        if settings != stored["settings"]:
            raise ResultError(f"{folder!r}: its run had other settings: `{command(folder, stored)}`")
    return load(given, settings)


def _remembers(stored):
    """True if this is what `remembered` describes."""
    texts = (
        isinstance(stored, dict) and isinstance(stored.get("given"), str) and isinstance(stored.get("settings"), dict)
    )
    if texts:
        stored.setdefault("digest", "")
    return texts and all(isinstance(x, (int, float, str)) for x in stored["settings"].values())


def command(folder, stored):
    """The command that goes on with a run."""
    case = stored["digest"] is None
    parts = ["torsor", "resume", folder] + ([] if case else [stored["given"]])
    for name, value in () if case else stored["settings"].items():
        parts += ["--set", f"{name}={value}"]
    return shlex.join("".join(c if c.isprintable() else "?" for c in part) for part in parts)


def _read_file(path, settings):
    """A file of a registered format; `notes` say what of it the model does not hold. Settings go to the options of its reader that
    are on or off or texts, else to the model's parameters."""
    from ..exchange.reader import read, typed_options

    digest = digest_of(path)
    options = typed_options(path)
    ours, theirs = _split(settings, options)
    found = read(path, **{k: _parse_switch(k, x) if options[k] else x for k, x in ours.items()})
    _refuse_unknown_settings(found.model, theirs, options)
    run = dict(found.run)
    theirs = run.pop("parameters", {}) | theirs
    return Source(found.model, theirs, run, notes=found.report, digest=digest, expect=found.expect, imported=found)


def _parse_switch(name, value):
    """What an option is set to that is on or off."""
    known = {"true": True, "false": False}
    if (word := str(value).lower()) not in known:
        raise OptionError(f"--set {name}={value}: write {name}=true or {name}=false")
    return known[word]


def _file(path, settings):
    if os.path.splitext(path)[1] in (".nc", ".h5"):
        raise OptionError(f"{path!r} is a result, not a model; `torsor plot {path} DIR` draws it")
    code = _content(path)
    if os.path.splitext(path)[1] not in (".py", ""):
        raise OptionError(
            f"{path!r} is no model: give a case, or a Python, YAML, URDF, MJCF, SDF or CAD file, or a component"
        )
    names: dict[str, Any] = {"__name__": "torsor_model", "__file__": os.path.abspath(path)}
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    with explain_user_errors(path):
        exec(compile(code, path, "exec"), names)
    options: Mapping = {}
    model, builder, theirs = names.get("model"), names.get("build"), settings
    if model is None and callable(builder):
        options = inspect.signature(builder).parameters
        ours, theirs = _split(settings, options)
        with explain_user_errors(path):
            model = builder(**ours)
    if not isinstance(model, Model):
        missing = model is None and builder is None
        found = "no `model` and no function `build()`" if missing else f"a {type(model).__name__}"
        allowed = "`model`, a torsor.Model, or a function `build()` that returns one"
        raise OptionError(f"{path}: must define {allowed}; found {found}")
    _refuse_unknown_settings(model, theirs, options)
    end = names.get("until")
    return Source(model, theirs, {} if end is None else {"until": end}, path, digest=hashlib.sha256(code).hexdigest())


def _split(settings, options):
    return {k: v for k, v in settings.items() if k in options}, {k: v for k, v in settings.items() if k not in options}


def _refuse_unknown_settings(model, settings, options):
    """Refuse a name that neither the model nor its builder has."""
    known = [*options, *model.parameters]
    for name in settings:
        if name not in model.parameters:
            allowed = ", ".join(known) or "none"
            raise OptionError(f"--set {name}: model {model.name!r} has nothing of that name to set. Known: {allowed}.")


@contextmanager
def explain_user_errors(path):
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
