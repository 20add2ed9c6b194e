"""Writes docs/reference.md, the page of everything that is registered:   python docs/reference.py"""

import inspect
import pathlib
import re
from dataclasses import MISSING, fields, is_dataclass

import torsor as ts

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
    "targets",
)  # arguments that need no mention
HEAD = """# Reference

Everything that is registered in the package, by kind: `ts.registered("joint")` … give the classes. This page is written by
`python docs/reference.py`; [describe](describe.md), [choose](choose.md) and [events](events.md) explain how to choose among them.
"""


def page():
    """The page, from the registry."""
    return HEAD + "".join(f"\n## {title}\n\n{_table(kind)}" for kind, title in KINDS.items())


def _table(kind):
    rows = ["| key | class | own arguments | what |", "|---|---|---|---|"]
    ours = {key: cls for key, cls in ts.registered(kind).items() if cls.__module__.startswith("torsor.")}
    rows += [f"| `{key}` | `{cls.__name__}` | {_arguments(cls)} | {_summary(cls)} |" for key, cls in ours.items()]
    return "\n".join(rows) + "\n"


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
