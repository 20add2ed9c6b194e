"""Writes docs/reference.md, the page of everything that is public or registered:   python docs/reference.py"""

import inspect
import pathlib
import re
from dataclasses import MISSING, fields, is_dataclass

import typer

import torsor as ts
from torsor.cli.commands import app

PAGE = pathlib.Path(__file__).parent / "reference.md"
KINDS = {
    "joint": "Joints",
    "constraint": "Constraints",
    "force": "Forces",
    "rule": "Rules",
    "action": "Actions of events",
    "formulation": "Formulations",
    "integrator": "Integrators",
    "projection": "Projections",
    "format": "File formats",
    "backend": "Backends",
    "group": "Groups",
    "case": "Cases",
}
COMMON = (
    "name",
    "first",
    "second",
    "point",
    "frames",
    "start",
    "start_rate",
    "cut",
    "targets",
)  # arguments that need no mention
HEAD = """# Reference

Everything that is public: functions and classes of `torsor`, commands, and what is registered, by kind: `ts.registered("joint")`
… give the classes. This page is written by `python docs/reference.py`; `help(ts.simulate)` and `torsor run --help` tell more, and
[describe](describe.md), [choose](choose.md) and [events](events.md) explain how to choose.
"""
MODEL = "add body declared_inputs expose gravity include input modes parameter signal state when"  # what describes it
SIMULATION = "advance coordinates copy end_reason events names path path_reason rates reset state steps time"
SIMULATIONS = "advance coordinates end_reasons names path path_reason rates reset time"


def page():
    """The page, from the package, the command line and the registry."""
    parts = {
        "Functions": _functions(),
        "Model": _methods(ts.Model, MODEL),
        "Simulation": _methods(ts.Simulation, SIMULATION),
        "Simulations": _methods(ts.Simulations, SIMULATIONS),
    }
    parts |= {"Errors and warnings": _errors(), "Commands": _commands()}
    parts |= {title: _table(kind) for kind, title in KINDS.items()}
    return HEAD + "".join(f"\n## {title}\n\n{text}" for title, text in parts.items())


def _rows(head, rows):
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _table(kind):
    ours = {key: cls for key, cls in ts.registered(kind).items() if cls.__module__.startswith("torsor.")}
    rows = [[f"`{key}`", f"`{cls.__name__}`", _arguments(cls), _summary(cls)] for key, cls in ours.items()]
    return _rows(["key", "class", "own arguments", "what"], rows)


def _functions():
    """Functions of the package and of the modules that belong to it, and the classes that users make objects of."""
    found = {f"ts.{name}": getattr(ts, name) for name in dir(ts) if not name.startswith("_")}
    for module in (ts.inertia, ts.cases, ts.testing):
        inner = {
            name: x for name, x in vars(module).items() if getattr(x, "__module__", "").startswith(module.__name__)
        }
        found |= {f"ts.{module.__name__.split('.')[-1]}.{name}": x for name, x in inner.items() if name[0] != "_"}
    shown = lambda x: (
        x in (ts.Model, ts.Simulation, ts.Simulations) or inspect.isfunction(x) and x is not ts.inertia.check
    )
    rows = [[f"`{name}`", _parameters(x), _summary(x)] for name, x in found.items() if shown(x)]
    return _rows(["name", "arguments", "what"], rows)


def _methods(cls, names):
    found = {name: getattr(cls, name) for name in names.split()}
    arguments = lambda x: _parameters(x) if inspect.isfunction(x) else "a property"
    return _rows(["name", "arguments", "what"], [[f"`{name}`", arguments(x), _summary(x)] for name, x in found.items()])


def _errors():
    public = [getattr(ts, name) for name in dir(ts)]
    known = [x for x in public if inspect.isclass(x) and issubclass(x, Exception)]
    return _rows(
        ["class", "is a", "when"], [[f"`ts.{x.__name__}`", f"`{x.__base__.__name__}`", _summary(x)] for x in known]
    )


def _commands():
    rows = []
    for name, command in typer.main.get_command(app).commands.items():
        options = [f"`{x.opts[0]}`" for x in command.params if x.opts[0].startswith("--") and x.name != "help"]
        arguments = [f"`{x.metavar}`" for x in command.params if not x.opts[0].startswith("--")]
        said = re.split(r"[.:] ", " ".join(command.help.split()))[0].rstrip(".:")
        rows.append([f"`torsor {name}`", ", ".join(arguments), ", ".join(options), f"{said}."])
    return _rows(["command", "arguments", "options", "what"], rows).replace("CASE|FILE", "CASE\\|FILE")


def _parameters(function):
    """Arguments of a function, with defaults that are short."""
    shown = lambda p: p.name if p.default in (None, p.empty) or len(repr(p.default)) > 20 else f"{p.name}={p.default!r}"
    given = list(inspect.signature(function).parameters.values())
    return ", ".join(f"`{shown(p)}`" for p in given if p.name != "self" and p.kind is not p.VAR_KEYWORD)


def _arguments(cls):
    """Names of its own options, with defaults that are short."""
    if not is_dataclass(cls):
        return ""
    own = [f for f in fields(cls) if f.init and f.repr and f.name not in COMMON]
    shown = lambda f: f"`{f.name}`" if f.default in (None, MISSING) else f"`{f.name}={f.default!r}`"
    return ", ".join(shown(f) for f in own)


def _summary(cls):
    """The first sentence of its docstring, in one line."""
    title = getattr(cls, "title", None)
    text = f"{title}." if title else inspect.getdoc(cls).split("\n\n")[0]
    first = re.split(r"(?<!eq)(?<!sec)\. ", " ".join(text.split()))[0].rstrip(":.")
    return first.replace("|", "\\|") + "."


if __name__ == "__main__":
    PAGE.write_text(page())
