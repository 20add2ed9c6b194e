"""The generated C files of an FMU: sizes and constants (`equations.h`), tables and kernels (`kernels.h`), events (`loops.h`)."""

from typing import Any

import casadi as ca
import numpy as np

from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..kernels.c_tables import CTables
from ..kernels.emit_c import c_function, number
from ..run.attempt import STEP_ANGLE, STEP_ANGLE_LIMIT
from ..run.run_tolerances import POSITION_EXACT, STEP_COUNT_EQUAL, VELOCITY_EXACT
from .event_run import EVENT_KERNELS
from .events_in_c import event_constants
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

    def longest(kernel, k):
        """Size of a result of a kernel: the largest of all structures."""
        return max(functions[kernel].size_out(k)[0] for functions in equations.structures)

    values = {
        "NX": layout.x, "NA": layout.algebra, "NQ": layout.q, "NV": layout.v, "NP": max(layout.p, 1),
        "NS": len(equations.continuous), "NU": len(variables.parameters), "NY": len(variables.outputs),
        "NZ": len(variables.indicators), "NF": longest("factor", 0), "NL": max(longest("rate", 1), 1),
        "NG": longest("positions", 1) - 1, "NT": kernels["turns"].size_out(0)[0],
        "NB": len(equations.breakpoints[0]), "STAGES": len(b), "FUSED": int("stage" in kernels), "DERIVATIVES": int(derivatives),
        "STEP": number(step), "START_TIME": number(system.t),
        "POSITION_TOLERANCE": number(POSITION_EXACT * size), "VELOCITY_TOLERANCE": number(VELOCITY_EXACT * size * rate),
        "RETURN_RATE": number(equations.return_rate), "LARGEST_ROTATION": number(LARGEST_ROTATION),
        "STEP_ANGLE": number(STEP_ANGLE), "STEP_ANGLE_LIMIT": number(STEP_ANGLE_LIMIT),
        "STEP_COUNT_EQUAL": number(STEP_COUNT_EQUAL), "TOKEN": f'"{token}"', "EVENTS": int(equations.events is not None),
    }  # fmt: skip
    if equations.events is not None:
        values |= event_constants(equations.events)
    lines = [f"#define {name} {value}" for name, value in values.items()]
    return "\n".join(
        ["/* Sizes and constants of one model, written by torsor. */", "#ifndef TORSOR_EQUATIONS_H",
         "#define TORSOR_EQUATIONS_H", "", *lines, "", "#endif", ""]
    )  # fmt: skip


def kernels_header(
    equations: ModelEquations, variables: Variables, tableau: Any, outputs: list, direction: ca.Function | None
) -> str:
    """Tables of the model and its kernels.

    outputs     functions of each structure
    direction   derivatives in the first structure; None: they are not provided
    """
    system = equations.system
    A, b, c = tableau
    structures = []
    for k, made in enumerate(equations.structures):
        functions = {name: made[name] for name in _names(equations, made)}
        functions["outputs"] = eliminate_common_subexpressions(outputs[k])
        if k == 0 and direction is not None:
            functions["direction"] = direction
        structures.append(functions)
    tables = {
        "double START_X": equations.x, "double START_P": system.p or [0.0],
        "double A": A.ravel(), "double B": b, "double C": c,
        "double BREAKS": [*equations.breakpoints[0], np.inf], "double BEHIND": [*equations.breakpoints[1], np.inf],
        "double NOMINALS": [v.nominal for v in variables.states] or [1.0],
        "int ADDED": equations.added or [-1],
        "int P_PLACE": [v.place for v in variables.parameters] or [0],
        "int P_INPUT": [int(v.causality == "input") for v in variables.parameters] or [0],
    }  # fmt: skip
    if equations.events is not None:  # the loop of the events has the tableau
        tables = {name: values for name, values in tables.items() if name not in ("double A", "double B", "double C")}
    rows = [f"static const {name}[{len(values)}] = {{{_row(values, name)}}};" for name, values in tables.items()]
    lookups = CTables("", "export_fmu")
    code = structures_in_c(structures, lookups)
    code = [lookups.text(number), *code]
    return "\n".join(["/* Tables and kernels of one model, written by torsor. */", *rows, "", *code])


def _names(equations, made):
    """Names of the kernels that the C code calls."""
    names = [*KERNELS, "stage"]
    if equations.system.sizes["turns"]:
        names += TURNS
    if made["positions"].size_out(1)[0] == 1 and equations.events is None:
        names = [n for n in names if n not in ("positions", "velocities", "local")]
    if equations.events is not None:
        names += [n for n in EVENT_KERNELS if n not in names]
    return [n for n in names if n in made and n != "outputs"]


def structures_in_c(structures: list, tables: CTables) -> list[str]:
    """C functions `kernel_<structure>_<name>`, and `kernel_<name>`, whose first argument is the structure.

    A kernel that is the same in two structures is written once.
    """
    code: list[str] = []
    written: dict[str, str] = {}  # name by text
    for k, functions in enumerate(structures):
        for name, f in functions.items():
            own = f"kernel_{k}_{name}"
            text = c_function(f, "KERNEL", tables)
            if text in written:
                code.append(f"#define {own} {written[text]}\n")
            else:
                written[text] = own
                code.append(text.replace("KERNEL", own))
    for name, f in structures[0].items():
        given = [f"a{i}" for i in range(f.n_in())] + [f"r{i}" for i in range(f.n_out())]
        declared = [f"const double *{x}" if x[0] == "a" else f"double *{x}" for x in given]
        known = [k for k, functions in enumerate(structures) if name in functions]
        calls = [f"kernel_{k}_{name}({', '.join(given)});" for k in known]
        body = [f"  if (structure == {k}) {{\n    {call}\n    return;\n  }}" for k, call in enumerate(calls) if k > 0]
        head = f"static inline void kernel_{name}(int structure, {', '.join(declared)})"
        code.append("\n".join([head, "{", "  (void)structure;", *body, f"  {calls[0]}", "}", ""]))
    return code


def _row(values, name):
    whole = name.startswith("int")
    return ", ".join(str(int(x)) if whole else number(float(x)) for x in values)
