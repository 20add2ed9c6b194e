"""The JSON schema of model files, for editors: sections, types of elements and their arguments, from the registry.

Reading a file does not need it: the reader uses the same tables (`file_sections.py`), and says for each problem where it is.
"""

import inspect
import re
from typing import Any

from ...events.actions.base import Action
from ...registry import registered
from .file_sections import (
    BODY,
    ELEMENT_KEYS,
    EVENT,
    EXPECT,
    GROUND,
    INCLUDE,
    INSTANCE,
    PARAMETER,
    SECTIONS,
    STATE,
    TABLE,
    arguments,
    element_classes,
    inertia_shapes,
    shape_kinds,
)  # fmt: skip
from .file_values import TEXT, kind_of_field
from .run_section import NUMBERS, RUN, TEXTS

DIALECT_OF_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
ARGUMENT_LINE = re.compile(r"^ *([a-z_]\w*(?:, [a-z_]\w*)*) {2,}(\S.*)$")
QUANTITY = {"type": ["number", "string"], "description": "a number, with a unit or not, or an expression"}
ANY: dict[str, Any] = {}
OBJECT = {"type": "object"}


def model_schema() -> dict[str, Any]:
    """The JSON schema of torsor's YAML model files, as a dictionary; `torsor schema FILE.json` writes it.

    >>> import torsor as ts
    >>> sorted(ts.model_schema()["properties"])[:3]
    ['bodies', 'configurations', 'eliminate']
    """
    sections = {name: {"description": text} for name, text in SECTIONS.items()}
    for name, schema in _sections().items():
        sections[name] |= schema
    return {
        "$schema": DIALECT_OF_SCHEMA,
        "title": "torsor model file",
        "type": "object",
        "properties": sections,
        "additionalProperties": False,
        "$defs": {"element": _element()},
    }


def _sections():
    """The schemas of sections that say more than their description."""
    named = lambda schema: {"type": ["object", "null"], "additionalProperties": schema}
    record = lambda keys, **special: {
        "type": "object", "properties": dict.fromkeys(keys, ANY) | special, "additionalProperties": False,
    }  # fmt: skip
    flag = {"type": "boolean"}
    options = {key: QUANTITY for key in NUMBERS} | {key: {"type": "string"} for key in TEXTS}
    shapes = {"anyOf": [{"type": "string"}, OBJECT, {"type": "array"}]}
    inertia = {
        "description": f"moments, a matrix, 0 of a particle, or solids: {{solid: {' | '.join(inertia_shapes())}, …}}",
    }
    body_shapes = shapes | {"description": f"kinds: {', '.join(shape_kinds())}"}
    mechanism = {"anyOf": [QUANTITY, {"type": "array"}, OBJECT]}
    actions = {"type": "array", "items": {"anyOf": [{"type": "string"}, OBJECT]}, "description": _actions()}
    return {
        "torsor": {"const": 1},
        "model": {"type": "string"},
        "hints": flag,
        "ground": record(("shape",), shape=shapes),
        "parameters": named({"anyOf": [QUANTITY, record(PARAMETER, value=QUANTITY, positive=flag, input=flag)]}),
        "inputs": named(QUANTITY),
        "tables": named(record((*TABLE, "file", "x", "y"))),
        "grounds": named(record(GROUND, shape=shapes)),
        "bodies": named(
            record(
                BODY,
                mass=QUANTITY,
                inertia=inertia,
                shape=body_shapes,
            )
        ),
        "modes": named({"type": "array", "items": {"type": "string"}}),
        "states": named(record(STATE) | {"required": ["rate"]}),
        "elements": named({"$ref": "#/$defs/element"}),
        "signals": named(mechanism),
        "events": named(record(EVENT, do=actions)),
        "include": named(record(INCLUDE) | {"required": ["file"]}),
        "instances": named(record(INSTANCE)),
        "let": named(QUANTITY),
        "configurations": named(named({"anyOf": [QUANTITY, {"type": "array", "items": QUANTITY}]})),
        "imported": named(named({"type": ["string", "number"]})),
        "run": record(RUN, certify=flag, parameters=named(QUANTITY), start={"type": "string"}, **options),
        "expect": {"type": ["array", "object"], "items": record(EXPECT) | {"required": ["values"]}},
    }


def _actions():
    """What events can do, in words."""
    keys = [key for key, cls in registered("action").items() if issubclass(cls, Action)]
    return f"actions: {', '.join(keys)}"


def _element():
    """The schema of an element: what its type is says which arguments it has."""
    classes = element_classes()
    cases = [{"if": {"properties": {"type": {"const": key}}}, "then": _arguments(cls)} for key, cls in classes.items()]
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": list(classes)}},
        "allOf": cases,
    }


def _arguments(cls):
    """The arguments of an element, with what its docstring says of them."""
    text = inspect.getdoc(cls) or ""
    said = {}
    for line in (line for base in reversed(cls.__mro__) for line in (inspect.getdoc(base) or "").split("\n")):
        if found := ARGUMENT_LINE.match(line):
            said.update(dict.fromkeys(found.group(1).split(", "), found.group(2)))
    properties = {}
    for name, f in arguments(cls).items():
        texts = name in getattr(cls, "texts", ()) or kind_of_field(f.type) == TEXT
        schema: dict[str, Any] = {"type": ["string", "object", "null"]} if texts else {}
        properties[name] = schema | ({"description": said[name]} if name in said else {})
    return {
        "description": text.split("\n")[0],
        "properties": dict.fromkeys(ELEMENT_KEYS, ANY) | properties,
        "additionalProperties": False,
    }
