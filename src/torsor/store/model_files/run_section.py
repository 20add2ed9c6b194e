"""The sections `run` and `expect` of a model file: how to simulate the model, and what must come out."""

from typing import Any, NamedTuple

import casadi as ca

from ...exchange.robot import Keyframe
from .file_sections import EXPECT
from .problems import Skip, unknown
from .yaml_nodes import Sequence, plain_data

NUMBERS = ("until", "step", "tolerance")
TEXTS = ("method", "formulation", "projection", "map", "reactions")
RUN = (*NUMBERS, *TEXTS, "outputs", "parameters", "certify", "start")
DEFAULT_TOLERANCE = 1e-6  # relative, where the file gives none


class Expectation(NamedTuple):
    """A value that a run must reproduce: |found − value| ≤ tolerance |value| + absolute."""

    name: str
    time: float
    expression: ca.SX
    value: float
    tolerance: float
    absolute: float

    def holds(self, found: float) -> bool:
        """True if a value that was found agrees."""
        return abs(found - self.value) <= self.tolerance * abs(self.value) + self.absolute


def configurations(b: Any) -> dict[str, Keyframe]:
    """The named configurations of a file, as `start=` takes them."""
    found = {}
    known = [f"{joint.name}{end}" for joint in b.model.joints if joint.dof for end in ("", ".rate")]
    for name, node in b.section("configurations").entries.items():
        path, values = f"configurations.{name}", Keyframe()
        try:
            entry = b.values.mapping(node, path, known).entries
        except Skip:
            continue
        for key, x in entry.items():
            try:
                several = isinstance(x, Sequence)
                numbers = [b.values.number(y, f"{path}.{key}") for y in (x.items if several else [x])]
                joint = b.model[key.removesuffix(".rate")] if key in known else None
                if joint is not None and len(numbers) != joint.dof:
                    raise b.values.fail(x, path, f"{key!r} has {joint.dof} coordinates, got {len(numbers)}")
                values[key] = numbers if several else numbers[0]
            except Skip:
                continue
        found[name] = values
    return found


def run_arguments(b: Any, starts: dict) -> dict[str, Any]:
    """Arguments of `torsor.simulate` that the file gives; starts: its configurations by name."""
    found: dict[str, Any] = {}
    try:
        section = b.values.mapping(b.section("run"), "run", RUN)
    except Skip:
        return found
    for key, node in section.entries.items():
        path = f"run.{key}"
        try:
            if key in NUMBERS:
                found[key] = b.values.number(node, path)
            elif key in TEXTS:
                found[key] = b.values.text(node, path)
            elif key == "certify":
                found[key] = b.values.flag(node, path)
            elif key == "start":
                name = b.values.text(node, path)
                if name not in starts:
                    raise b.values.fail(node, path, unknown("configuration", name, starts))
                found[key] = dict(starts[name])
            elif key == "outputs":
                found[key] = plain_data(node)
            elif key == "parameters":
                given = b.values.mapping(node, path, list(b.model.parameters)).entries
                found[key] = {name: b.values.number(x, f"{path}.{name}") for name, x in given.items()}
        except Skip:
            continue
    return found


def expectations(b: Any) -> list[Expectation]:
    """The values that the section `expect` gives: a list of {time, values, tolerance, absolute}."""
    node = b.root.entries.get("expect")
    if node is None:
        return []
    found = []
    for k, x in enumerate(node.items if isinstance(node, Sequence) else [node]):
        path = f"expect[{k}]"
        try:
            entry = b.values.mapping(x, path, EXPECT).entries
            time = b.values.number(entry["time"], f"{path}.time") if "time" in entry else 0.0
            limits = [
                b.values.number(entry[name], f"{path}.{name}") if name in entry else default
                for name, default in (("tolerance", DEFAULT_TOLERANCE), ("absolute", 1e-12))
            ]
            if "values" not in entry:
                raise b.values.fail(x, path, "`values` is missing: expressions with the numbers that are expected")
            values = b.values.mapping(entry["values"], f"{path}.values")
        except Skip:
            continue
        for text, number in values.entries.items():
            try:
                expression = b.values.expression_of(text, values.keys[text], f"{path}.values")
                if not expression.is_scalar():
                    raise b.values.fail(
                        number, f"{path}.values", f"{text!r} has {expression.numel()} components; give one of them"
                    )
                value = b.values.number(number, f"{path}.values.{text}")
                found.append(Expectation(text, time, expression, value, *limits))
            except Skip:
                continue
    return found
