"""`ts.save_model`: a model as a YAML file that a person can read and edit."""

import os
from collections.abc import Mapping

import numpy as np

from ...elements import quantity
from ...errors import ModelError, OptionError
from ...exchange.writers.text_file import write_text
from ...formulations.fingerprint import fingerprint
from ...model.model import Model
from .. import result_files
from .file_sections import ORDERED
from .model_document import document_of
from .read_model import read_text
from .yaml_text import document


def model_text(model: Model, configurations: Mapping | None = None) -> str:
    """The model as the text of a model file. The text is read back, so that it describes the same model to the last bit."""
    content, exact = document_of(model)
    if configurations:
        content["configurations"] = {name: plain_configuration(x) for name, x in configurations.items()}
    text = document(content)
    again = read_text(text, f"model {model.name!r}")
    differing = {what: _names(model, what) for what in ORDERED if _names(model, what) != _names(again, what)}
    if differing:
        for what, names in differing.items():
            if sorted(names) != sorted(_names(again, what)):
                missing = sorted(set(names) ^ set(_names(again, what)))
                raise ModelError(f"{model.owner}: cannot be written: {what} {', '.join(missing[:3])} would be lost")
        text = document(content | {"order": differing})
        again = read_text(text, f"model {model.name!r}")
    if exact:
        same = fingerprint(again, again.signals) == fingerprint(model, model.signals)
    else:
        kept = {key: content[key] for key in ("configurations",) if key in content}
        same = document(document_of(again)[0] | kept | ({"order": differing} if differing else {})) == text
    if not same:
        raise ModelError(
            f"{model.owner}: cannot be written: the model that is read back differs from it; use ts.save_component"
        )
    return text


def _names(model, what):
    """Names of the parts of a model in their order."""
    content = getattr(model, what)
    return list(content) if isinstance(content, dict) else [x.name for x in content]


def plain_configuration(values: Mapping) -> dict:
    """The values of a configuration as numbers and lists of numbers."""
    return {name: x.ravel().tolist() if np.ndim(x := np.asarray(v, float)) else float(x) for name, v in values.items()}


def save_model(model: Model, path: str | os.PathLike, configurations: Mapping | None = None) -> None:
    """Write a model to the YAML file `path`, from which `ts.read` reads it with the same equations to the last bit.

    configurations   named starts, such as the `keyframes` of a file that was read; `ts.read(path).keyframes` returns them

    Everything that the registries know is written: bodies, joints, constraints, forces, rules, parameters, inputs, tables, states,
    signals, events, ports. Python functions and classes that are defined outside torsor cannot be written; they are named.

    >>> import torsor as ts
    >>> model = ts.cases.load("pendulum")
    >>> ts.save_model(model, "pendulum.yaml")
    >>> again = ts.read("pendulum.yaml").model
    """
    if not isinstance(model, Model):
        raise OptionError(f"save_model: give a torsor.Model, got {quantity.show(model)}")
    result_files.refuse_unwritable(path)
    write_text(model_text(model, configurations), path)
