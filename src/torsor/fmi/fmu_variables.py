"""The variables of an FMU: names, units, start values, and the order of their value references.

time, then parameters and inputs, continuous states u, their time derivatives, outputs, event indicators    (1)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..model.parameters import Input

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
INDEXED = re.compile(r"(.*?)((?:\[\d+\])*)\Z", re.DOTALL)
QUOTED = re.compile(r"[A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]+\Z")
BODY_QUANTITIES = {"position": "m", "velocity": "m/s"}
SCALARS = {"kinetic_energy": "J", "potential_energy": "J", "position_drift": "", "velocity_drift": ""}
COORDINATE_QUANTITIES = {"coordinate": "{}", "rate": "{}/s"}


@dataclass(frozen=True)
class Variable:
    """One real variable of an FMU.

    causality   "independent", "parameter", "input", "local" or "output"
    place       place in p, in the continuous states, or in the row of outputs
    start       value at the start; None: it is computed
    state       for a derivative: place of its state among the continuous states
    """

    name: str
    causality: str
    unit: str = ""
    place: int = 0
    start: float | None = None
    state: int | None = None
    nominal: float = 1.0
    description: str = ""


@dataclass
class Variables:
    """All variables of an FMU in the order (1)."""

    parameters: list[Variable]
    states: list[Variable]
    derivatives: list[Variable]
    outputs: list[Variable]
    indicators: list[Variable] = field(default_factory=list)
    dependencies: dict[str, list[int]] = field(default_factory=dict)  # name of an unknown → value references of knowns
    time: Variable = Variable("time", "independent", "s")

    @property
    def all(self) -> list[Variable]:
        return [self.time, *self.parameters, *self.states, *self.derivatives, *self.outputs, *self.indicators]

    @property
    def references(self) -> dict[str, int]:
        """Value references by name."""
        return {variable.name: k for k, variable in enumerate(self.all)}

    def check_names(self, owner: str) -> None:
        """Refuse names that occur twice."""
        names = [variable.name for variable in self.all]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(
                f"export_fmu: {owner} would have two variables with the name {twice[0]!r}: rename a signal"
            )


def fmi_name(text: str) -> str:
    """A hierarchical name as FMI writes it: parts between points, and quotes around parts that are no identifiers."""
    return ".".join(_part(part) for part in text.split("."))


def _part(part):
    found = INDEXED.match(part)
    name, indices = (found[1], found[2]) if found else (part, "")
    indices = indices.replace("][", ",")
    if IDENTIFIER.match(name):
        return f"{name}{indices}"
    if not QUOTED.match(name):
        name = "".join(c if QUOTED.match(c) else f"#{ord(c)}" for c in name)
    return f"'{name}'{indices}" if name else f"'_'{indices}"


def parameter_variables(model: Any, p: list, inputs: Any, fixed: frozenset = frozenset()) -> list[Variable]:
    """Parameters and inputs of a model.

    inputs   names of the parameters that become inputs; None: those that `model.input` declares
    fixed    names of parameters that are constants of the FMU
    """
    if isinstance(inputs, str) or not (inputs is None or isinstance(inputs, (list, tuple, set))):
        raise OptionError(f"export_fmu: inputs must be a list of names, got {quantity.show(inputs)}")
    names = [n for n, q in model.parameters.items() if isinstance(q, Input)] if inputs is None else list(inputs)
    for name in names:
        if name not in model.parameters or name in fixed:
            known = ", ".join(n for n in model.parameters if n not in fixed) or "none"
            raise OptionError(f"export_fmu: unknown input {quantity.show(name)}. Known: {known}.")
    places = {symbol.element_hash(): k for k, symbol in enumerate(model.inputs)}
    found = []
    for name, parameter in model.parameters.items():
        if name not in fixed:
            place = places[parameter.symbol.element_hash()]
            causality = "input" if name in names else "parameter"
            found.append(Variable(fmi_name(name), causality, place=place, start=float(p[place])))
    return found


def state_variables(system: Any, added: list, x: np.ndarray) -> tuple[list[Variable], list[Variable]]:
    """The continuous states and their derivatives.

    added   place in x of each state with addition as its group; -1 for a rotation vector about the reference
    """
    states, derivatives = [], []
    n = system.sizes["v"]
    names = [fmi_name(label.replace(" ", ".", 1)) for label in system.coordinates]
    own = [fmi_name(name) for name, _ in system.states]
    units = ["m" if linear else "rad" for linear in system.linear]
    labels = [*[f"state.{x}" for x in names], *[f"state_rate.{x}" for x in names], *[f"own.{x}" for x in own]]
    kinds = [*units, *[f"{u}/s" for u in units], *[""] * len(own)]
    for k, (label, unit) in enumerate(zip(labels, kinds)):
        start = float(x[added[k]]) if added[k] >= 0 else 0.0
        text = "" if added[k] >= 0 or k >= n else "rotation vector about a reference that follows the motion"
        states.append(Variable(label, "local", unit, k, start, description=text))
        rate = {"": "", "m": "m/s", "rad": "rad/s", "m/s": "m/s2", "rad/s": "rad/s2"}[unit]
        derivatives.append(Variable(f"der({label})", "local", rate, k, state=k))
    return states, derivatives


def indicator_variables(names: list[str]) -> list[Variable]:
    """The event indicators.

    names   of the events
    """
    text = "positive until the event is due"
    return [Variable(f"event.{fmi_name(name)}", "local", "", k, description=text) for k, name in enumerate(names)]


def output_variables(system: Any, wanted: Any) -> list[Variable]:
    """The outputs of an FMU; their places are those in the row of outputs of a system.

    wanted   names; None: all signals, or joint coordinates and rates, or positions and velocities of bodies
    """
    known = _known_outputs(system)
    if wanted is None:
        wanted = list(system.signals)
        if not wanted:
            wanted = [f"{label}.{kind}" for label in system.joint_coordinates for kind in COORDINATE_QUANTITIES]
        if not wanted:
            wanted = [f"{b}.{kind}[{k}]" for b in system.bodies for kind in BODY_QUANTITIES for k in range(3)]
    if isinstance(wanted, str) or not isinstance(wanted, (list, tuple, Mapping)):
        raise OptionError(f"export_fmu: outputs must be names, or expressions by name, got {quantity.show(wanted)}")
    found = []
    for name in wanted:
        several = [name] if name in known else [x for x in known if x.startswith(f"{name}[")]
        if not several:
            signals = ", ".join(system.signals) or "none"
            raise OptionError(
                f"export_fmu: unknown output {quantity.show(name)}. Known: signals ({signals}), JOINT.coordinate, JOINT.rate, "
                f"BODY.position[0], BODY.velocity[0], {', '.join(SCALARS)}."
            )
        for x in several:
            row, unit = known[x]
            found.append(Variable(fmi_name(x), "output", unit, row))
    return found


def _known_outputs(system):
    """Everything that may be an output: row and unit by name."""
    starts = np.cumsum([0, *[size for _, size in system.layout]])
    first = {name: int(start) for (name, _), start in zip(system.layout, starts)}
    known = {name: (first["signals"] + k, "") for k, name in enumerate(system.signals)}
    for kind, unit in COORDINATE_QUANTITIES.items():
        for k, (label, of) in enumerate(zip(system.joint_coordinates, system.coordinate_units)):
            known.setdefault(f"{label}.{kind}", (first[kind] + k, unit.format(of)))
    for kind, unit in BODY_QUANTITIES.items():
        for b, body in enumerate(system.bodies):
            for k in range(3):
                known.setdefault(f"{body}.{kind}[{k}]", (first[kind] + 3 * b + k, unit))
    for kind, unit in SCALARS.items():
        known.setdefault(kind, (first[kind], unit))
    return known


def dependent_references(variables: Variables, sparsity: ca.Sparsity, knowns: list) -> dict[str, list[int]]:
    """For every derivative and output the value references of the knowns that it depends on.

    sparsity   of the Jacobian of (derivatives, outputs) by the knowns, in the order of the value references `knowns`
    """
    rows: list[list[int]] = [[] for _ in range(sparsity.size1())]
    for row, column in zip(*sparsity.get_triplet()):
        rows[row].append(knowns[column])
    names = [v.name for v in (*variables.derivatives, *variables.outputs)]
    return dict(zip(names, rows))
