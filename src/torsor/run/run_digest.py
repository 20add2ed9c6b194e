"""The model and the options of a run as texts by name. Ranks compare them before they begin."""

import hashlib

import numpy as np

from ..formulations.fingerprint import fingerprint
from ..kernels.derivation_lock import DERIVING
from ..prepare.function_digest import digest_of_laws


def run_facts(task, times):
    """Everything that determines the results of a run, as texts by name: model, options and output times."""
    from .. import __version__

    model = task.model
    signals = dict(model.signals) | task.signals
    with DERIVING:
        model.seal()
        model_digest = fingerprint(model, signals)
    laws = digest_of_laws(model)
    content = np.ascontiguousarray(times, float).tobytes()
    described = f"{len(times)} times up to {times[-1]:.17g} s" if len(times) else "none"
    facts = {
        "the version of torsor": __version__,
        "until": f"{task.until!r} s",
        "outputs": f"{described} (digest {hashlib.sha256(content).hexdigest()[:12]})",
        "step": f"{task.step!r}",
        "method": f"{task.method!r}",
        "formulation": f"{task.formulation!r}",
        "projection": f"{task.projection!r}",
        "tolerance": f"{task.tolerance!r}",
        "map": f"{task.map!r}",
        "start": "None" if task.start is None else "given",
    }
    facts |= {f"parameter {name!r}": f"{value!r}" for name, value in task.values().items()}
    size = f"{len(model.bodies)} bodies, {len(model.constraints)} constraints, {len(model.forces)} forces"
    return {"the number of parameters": f"{len(task.values())}"} | facts | {
        "the model": f"{model.name!r} ({size}; digest {model_digest[:12]})",
        "the Python functions": f"those of digest {laws[:12]}" if laws else "none",
    }  # fmt: skip
