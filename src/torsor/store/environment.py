"""The model and the environment of a checkpoint: a run is resumed only where its numbers stay the same."""

import hashlib
import pathlib
from dataclasses import asdict

import numpy as np

from ..elements.quantity import LARGEST
from ..errors import ResultError
from ..formulations.fingerprint import fingerprint
from ..prepare.choice import SHARE
from ..prepare.function_digest import digest_of_laws
from ..registry import lookup
from ..run.task import REACTIONS_AS_SOLVED, Task

OTHER_FUNCTION_MESSAGE = (
    "the function of a controller differs, or something that it refers to: its code, default values, enclosed variables, "
    "global functions and constants, or the object that it is a method of"
)


def static_facts(model, system, options, values, given, program):
    """Facts that are constant during a run. options: of the run; given: parameters that differ from those of the model."""
    events = None
    if program is not None:
        events = {"names": program.names, "records": program.records, "slots": max(len(program.slots), 1)}
    return {
        "model": model.name, "constraints": [c.name for c in model.constraints], "system": asdict(system), "values": values,
        "given": given, "options": options, "events": events, "laws": digest_of_laws(model), "circumstances": environment_facts(),
    }  # fmt: skip


def environment_facts():
    """What the numbers of a run depend on besides the model: versions, and the processor for which code is compiled."""
    import casadi
    import llvmlite

    from .. import __version__
    from ..kernels import cache, worker

    root = pathlib.Path(__file__).parent.parent
    files = [f for folder in ("methods", "run", "store") for f in sorted((root / folder).rglob("*.py"))]
    source = hashlib.sha256(b"".join(f.read_bytes() for f in files) + cache.versions().encode())
    triple, processor, features = worker.host()
    return {
        "torsor": __version__, "casadi": casadi.CasadiMeta.version(), "llvmlite": llvmlite.__version__,
        "numba": _numba(), "numpy": np.__version__, "system": triple, "processor": processor,
        "features of the processor": features, "source of torsor": source.hexdigest(),
    }  # fmt: skip


def _numba():
    """The version of Numba, which is needed only to compile loops whose source has changed; "none" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"


def task_from_checkpoint(folder, static, model, signals):
    """The task of a stored run. Raise ResultError if `model` is another one; signals: recorded besides those of the model."""
    o = static["options"]
    all_signals = dict(model.signals) | signals
    refuse_invalid_options(folder, o)
    values = model.values({name: value for name, value in static["given"].items() if name in model.parameters})
    refuse_other_model(folder, static, model, all_signals, fingerprint(model, all_signals), values)
    cls = lookup("projection", o["projection"][0])
    return Task(
        model, o["until"], o["step"], o["method"], o["formulation"], cls(**o["projection"][1]), o["tolerance"], o["map"], signals,
        static["given"], o["formulation_reason"], method_reason=o["method_reason"], start=o.get("start"),
        reactions=o.get("reactions", REACTIONS_AS_SOLVED),
    )  # fmt: skip


def refuse_invalid_options(folder, options):
    """Raise ResultError if stored options are not valid options of `simulate`."""

    def number(x):
        return type(x) in (int, float) and 0 <= x <= LARGEST

    valid = {
        "until": number(options["until"]) and options["until"] > 0,
        "outputs": options["outputs"] is None or (type(options["outputs"]) is int and 0 < options["outputs"] < 2**53),
        "step": options["step"] is None or (number(options["step"]) and options["step"] > 0),
        "tolerance": options["tolerance"] is None or number(options["tolerance"]),
        "checkpoints": len(options["checkpoints"]) == 2 and all(x is None or number(x) for x in options["checkpoints"]),
        "start": options.get("start") in (None, "given"),
        "reactions": options.get("reactions", REACTIONS_AS_SOLVED) in (REACTIONS_AS_SOLVED, SHARE),
    }
    valid |= {name: isinstance(options[name], str) for name in ("method", "formulation", "map", "method_reason")}
    for name, is_valid in valid.items():
        if not is_valid:
            raise ResultError(f"{folder!r}: the checkpoint is damaged, or was changed: its option {name!r} is invalid")


def refuse_other_environment(folder, stored):
    """Raise ResultError if the environment differs from that of the checkpoint, so that results could differ in the last bits."""
    current = environment_facts()
    different = [name for name in current if current[name] != stored.get(name)]
    if different:

        def show(x):
            return x if x is None or len(x) < 40 else f"{hashlib.sha256(x.encode()).hexdigest()[:12]} (digest)"

        text = "; ".join(f"{name}: stored {show(stored.get(name))}, here {show(current[name])}" for name in different)
        raise ResultError(f"{folder!r} was written in another environment: {text}. Nothing was changed")


def refuse_other_model(folder, stored, model, signals, fingerprint, parameter_values):
    """Raise ResultError with the first difference if a model is not the one of the checkpoint.

    stored     static facts of the checkpoint; signals: expressions by name, those of the model included
    parameter_values   of the given model, by name
    """
    system = stored["system"]
    values = stored["values"]
    pairs = [
        ("the model's name", stored["model"], model.name),
        ("bodies", system["bodies"], [b.name for b in model.bodies]),
        ("joints and constraints", stored["constraints"], [c.name for c in model.constraints]),
        ("signals", system["signals"], list(signals)),
        ("parameters", list(values), list(parameter_values)),
        *((f"parameter {name!r}", values[name], parameter_values.get(name)) for name in values),
    ]
    for what, old, new in pairs:
        if old != new:
            raise ResultError(f"{folder!r} is the checkpoint of another model: {what}: stored {old!r}, given {new!r}")
    if fingerprint != system["fingerprint"]:
        raise ResultError(
            f"{folder!r} is the checkpoint of another model: names agree with {model.name!r}, but equations, start or "
            f"signals differ (stored {system['fingerprint'][:12]}, given {fingerprint[:12]})"
        )
    if digest_of_laws(model) != stored.get("laws", ""):
        raise ResultError(f"{folder!r} is the checkpoint of another model: {OTHER_FUNCTION_MESSAGE}")
