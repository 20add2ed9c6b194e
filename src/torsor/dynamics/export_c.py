"""`ts.export_c`: a model as one C99 file without heap and without dependencies but the C mathematical library.

The file contains the kernels of a run (`kernels/signatures.py`), printed operation by operation, and a small run-time: a
consistent start, accelerations, outputs, and a step of fixed length with an explicit method and least-squares projection.
"""

import os
import re
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import ModelError, OptionError
from ..fmus.fmu import refuse_fmus
from ..kernels.c_tables import CTables
from ..kernels.emit_c import c_function, number
from ..methods.integrators.tableaus import Tableau
from ..model.model import Model
from ..prepare.auto_formulation import choose_and_prepare
from ..prepare.prepare import changes_structure
from ..prepare.state_space import kernels_of
from ..registry import lookup, registered
from ..run.run_tolerances import POSITION_EXACT, VELOCITY_EXACT
from ..store.model_files.save_model import write_text
from .c_runtime import RUNTIME

C_WORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "main exp log sin cos tan sqrt".split()
)
KERNELS = ("factor", "rate", "retract", "advance", "differential", "positions", "velocities", "turns", "outputs")


def c_text(model: Model, name: str, step: float, method: str, formulation: str, parameters: Any = None) -> str:
    """The C code of a model. name: what the names of its functions begin with."""
    _refuse_unsupported(model)
    model.seal()
    tableau = _tableau(method)
    (key, _), system, _ = choose_and_prepare(model, formulation, parameters=parameters)
    if system.through_tables:
        raise OptionError(
            f"export_c: {model.owner} is so large that it runs through tables, which C export does not support yet"
        )
    f = lookup("formulation", key)(model).with_choice(system.choice)
    made = kernels_of(f, "exp", False, dict(model.signals))
    functions = {k: made[k] for k in KERNELS}
    signals = _signal_rows(system)
    functions["outputs"] = _only(functions["outputs"], signals)
    tables = CTables(f"{name}_", "export_c")
    code = [c_function(function, f"{name}_{kernel}_", tables) for kernel, function in functions.items()]
    code = [tables.text(number), *code]
    layout = system.state
    x = layout.join_blocks(system.q, system.v, system.p) if not f.conjugate else None
    if x is None:
        raise OptionError(
            f"export_c: formulation {key!r} has momenta as state, which C export does not support; take 'relative'"
        )
    A, b, c = tableau.tableau()
    size = system.length / system.unit
    numbers = {
        "NAME": name, "PREFIX": name.upper(), "MODEL": _comment(model.name), "FORMULATION": key, "METHOD": method,
        "NX": layout.x, "NA": layout.algebra, "NQ": layout.q, "NV": layout.v, "NP": max(len(system.p), 1),
        "NF": functions["factor"].size_out(0)[0],
        "NL": max(functions["rate"].size_out(1)[0], 1), "NG": functions["positions"].size_out(1)[0] - 1,
        "NT": functions["turns"].size_out(0)[0], "NY": max(len(signals), 1), "STAGES": len(b), "STEP": number(step),
        "TIME": number(system.t), "POSITION": number(POSITION_EXACT * size), "VELOCITY": number(VELOCITY_EXACT * size),
        "X0": _row(x), "P0": _row(system.p or [0.0]), "A": _row(A.ravel()), "B": _row(b), "C": _row(c),
        "PARAMETERS": _names(name, "P", model.parameters), "OUTPUTS": _names(name, "Y", system.signals),
        "COORDINATES": "\n".join(f" *   v[{k}]  {_comment(n)}" for k, n in enumerate(system.coordinates)),
        "KERNELS": "\n".join(code),
    }  # fmt: skip
    return re.sub(r"@(\w+)@", lambda found: str(numbers[found[1]]), RUNTIME)


def _refuse_unsupported(model):
    if not isinstance(model, Model):
        raise OptionError(f"export_c: give a torsor.Model, got {quantity.show(model)}")
    refuse_fmus(model, "export_c")
    if changes_structure(model):
        named = [e.owner for e in model.events[:1]] or [e.owner for e in model.switched_elements[:1]]
        raise ModelError(f"export_c: {model.owner} has events ({named[0]}), which C export does not support yet")


def _tableau(method):
    cls = lookup("integrator", method)
    if not (isinstance(cls, type) and issubclass(cls, Tableau)):
        explicit = [k for k, x in registered("integrator").items() if isinstance(x, type) and issubclass(x, Tableau)]
        raise OptionError(f"export_c: method must be an explicit one ({', '.join(explicit)}), got {method!r}")
    return cls


def _signal_rows(system):
    """Places of the signals in a row of outputs."""
    signals = system.outputs.slices["signals"]
    return list(range(signals.start, signals.stop))


def _only(outputs, rows):
    """The outputs function with these entries of the row only."""
    given = [ca.SX.sym(outputs.name_in(k), outputs.sparsity_in(k)) for k in range(outputs.n_in())]
    row = ca.vertcat(ca.SX(0, 1), *outputs.call(given))
    chosen = row[rows] if rows else ca.SX.zeros(1)
    return ca.Function("outputs", given, [ca.densify(chosen)])


def _row(values):
    return ", ".join(number(float(x)) for x in np.asarray(values, float))


def _names(name, kind, names):
    prefix = f"{name.upper()}_{kind}_"
    entries = [f"#define {prefix}{re.sub(r'[^A-Za-z0-9]+', '_', x).strip('_')} {k}" for k, x in enumerate(names)]
    return "\n".join(dict.fromkeys(entries))


def _comment(text):
    return str(text).replace("*/", "* /").replace("\\", "/")


def export_c(
    model: Model,
    path: str | os.PathLike,
    step: float = 1e-3,
    method: str = "rkmk4",
    formulation: str = "auto",
    parameters: Any = None,
) -> None:
    """Write a model to `path` as one C99 file: start, forward dynamics, outputs and a step of fixed length with projection.

    step         length of a step [s]
    method       an explicit method
    formulation  "relative", "absolute", "woronetz" …; "auto" chooses
    parameters   values of parameters; they stay variables of the C code

    The file needs a C99 compiler and libm. Its functions do not allocate memory and have no global variables: all of the state
    is in a structure. Models with events, and lookups in tables, are refused in words.
    """
    value = quantity.number(step)
    if value is None or not 0 < value < float("inf"):
        raise OptionError(f"export_c: step must be a positive number of seconds, got {quantity.show(step)}")
    file = os.fsdecode(os.fspath(path))
    if not file.endswith(".c"):
        raise OptionError(f"export_c: the file must have the suffix .c, got {file!r}")
    name = re.sub(r"\W", "_", os.path.basename(file)[:-2], flags=re.ASCII).lower()
    name = name if re.match("[a-z]", name) and name not in C_WORDS else f"model_{name}"
    write_text(c_text(model, name, value, method, formulation, parameters), file)
