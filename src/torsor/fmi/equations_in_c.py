"""The generated C files of an FMU: sizes and constants (`equations.h`), tables and kernels (`kernels.h`)."""

from typing import Any

import casadi as ca
import numpy as np

from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..kernels.c_tables import CTables
from ..kernels.emit_c import c_function, number
from ..run.attempt import STEP_ANGLE, STEP_ANGLE_LIMIT
from ..run.run_tolerances import POSITION_EXACT, STEP_COUNT_EQUAL, VELOCITY_EXACT
from .fmu_variables import Variables
from .model_equations import KERNELS, TURNS, ModelEquations

LARGEST_ROTATION = 1.0  # rotation vector about the reference from which a new reference is taken [rad]


def equations_header(
    equations: ModelEquations, variables: Variables, tableau: Any, step: float, token: str, derivatives: bool
) -> str:
    """Sizes and constants."""
    system, kernels = equations.system, equations.kernels
    layout = system.state
    _, b, _ = tableau
    size = system.length / system.unit
    rates = np.abs(np.array(system.v) / np.where(np.array(system.linear, bool), system.length, 1.0))
    rate = max(system.scales["rate"], rates.max(initial=0.0), 1 / equations.until)
    values = {
        "NX": layout.x, "NA": layout.algebra, "NQ": layout.q, "NV": layout.v, "NP": max(layout.p, 1),
        "NS": len(equations.continuous), "NU": len(variables.parameters), "NY": len(variables.outputs),
        "NF": kernels["factor"].size_out(0)[0], "NL": max(kernels["rate"].size_out(1)[0], 1),
        "NG": kernels["positions"].size_out(1)[0] - 1, "NT": kernels["turns"].size_out(0)[0],
        "NB": len(equations.breakpoints[0]), "STAGES": len(b), "FUSED": int("stage" in kernels), "DERIVATIVES": int(derivatives),
        "STEP": number(step), "START_TIME": number(system.t),
        "POSITION_TOLERANCE": number(POSITION_EXACT * size), "VELOCITY_TOLERANCE": number(VELOCITY_EXACT * size * rate),
        "RETURN_RATE": number(equations.return_rate), "LARGEST_ROTATION": number(LARGEST_ROTATION),
        "STEP_ANGLE": number(STEP_ANGLE), "STEP_ANGLE_LIMIT": number(STEP_ANGLE_LIMIT),
        "STEP_COUNT_EQUAL": number(STEP_COUNT_EQUAL), "TOKEN": f'"{token}"',
    }  # fmt: skip
    lines = [f"#define {name} {value}" for name, value in values.items()]
    return "\n".join(
        ["/* Sizes and constants of one model, written by torsor. */", "#ifndef TORSOR_EQUATIONS_H",
         "#define TORSOR_EQUATIONS_H", "", *lines, "", "#endif", ""]
    )  # fmt: skip


def kernels_header(
    equations: ModelEquations, variables: Variables, tableau: Any, outputs: ca.Function, direction: ca.Function | None
) -> str:
    """Tables of the model and its kernels."""
    system, made = equations.system, equations.kernels
    A, b, c = tableau
    functions = {name: made[name] for name in (*KERNELS, "stage") if name in made}
    if system.sizes["turns"]:
        functions |= {name: made[name] for name in TURNS}
    if not system.keep:
        functions = {k: f for k, f in functions.items() if k not in ("positions", "velocities", "local")}
    if "stage" in functions:
        functions.pop("retract", None)
        functions["retract"] = made["retract"]
    functions["outputs"] = eliminate_common_subexpressions(outputs)
    if direction is not None:
        functions["direction"] = direction
    tables = {
        "double START_X": equations.x, "double START_P": system.p or [0.0],
        "double A": A.ravel(), "double B": b, "double C": c,
        "double BREAKS": [*equations.breakpoints[0], np.inf], "double BEHIND": [*equations.breakpoints[1], np.inf],
        "double NOMINALS": [v.nominal for v in variables.states] or [1.0],
        "int ADDED": equations.added or [-1],
        "int P_PLACE": [v.place for v in variables.parameters] or [0],
        "int P_INPUT": [int(v.causality == "input") for v in variables.parameters] or [0],
    }  # fmt: skip
    rows = [f"static const {name}[{len(values)}] = {{{_row(values, name)}}};" for name, values in tables.items()]
    lookups = CTables("", "export_fmu")
    code = [c_function(f, f"kernel_{name}", lookups) for name, f in functions.items()]
    code = [lookups.text(number), *code]
    return "\n".join(["/* Tables and kernels of one model, written by torsor. */", *rows, "", *code])


def _row(values, name):
    whole = name.startswith("int")
    return ", ".join(str(int(x)) if whole else number(float(x)) for x in values)
