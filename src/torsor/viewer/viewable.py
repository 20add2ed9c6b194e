"""What can be shown: a model, a result, a linear model, an assembly. Each becomes the data of a page."""

from typing import Any

from ..elements import quantity
from ..errors import OptionError
from ..model.model import Model
from .page_data import model_data, page_data, scene_of_result


def data_of(
    what: Any, owner: str, model: Any = None, compare: Any = None, parameters: dict | None = None
) -> dict[str, Any]:
    """The data of the page that shows something; owner: the function that was called, for messages; parameters: of a model."""
    if model is not None and not isinstance(model, Model):
        raise OptionError(f"{owner}: model must be a torsor.Model, got {quantity.show(model)}")
    if isinstance(what, Model):
        if compare is not None:
            raise OptionError(f"{owner}: compare= needs a result to compare with, and a model was given")
        return model_data(what, parameters)
    if _is_result(what):
        others = [] if compare is None else list(compare) if isinstance(compare, (list, tuple)) else [compare]
        for other in others:
            if not _is_result(other):
                raise OptionError(
                    f"{owner}: compare must be a result, or a list of results, got {quantity.show(other)}"
                )
        scenery = scene_of_result(what, model)
        for other in others:
            scene_of_result(other, model) if "scene" in other.attrs else None
        return page_data(scenery, [what, *others])
    raise OptionError(f"{owner}: give a torsor.Model or a result of ts.simulate, got {quantity.show(what)}")


def _is_result(what):
    return hasattr(what, "data_vars") and "time" in what.dims and "position" in what
