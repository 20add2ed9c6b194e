"""One HTML file that plays a result, or shows a model, without a network."""

import os
from typing import Any

from ..errors import ResultError
from ..store.journal import replace
from .viewable import data_of
from .viewer_page import page_with


def save_html(what: Any, file: str | os.PathLike, model: Any = None, compare: Any = None) -> None:
    """Write one HTML file that shows a model, or plays a result, in any browser, offline.

    what      a model, a result of `ts.simulate`, `ts.resume`, `ts.kinematics` …, a linear model, an assembly
    file      name of the file
    model     the model of a result that does not contain its scene (of an earlier version, or of a very large model)
    compare   a second result, or several, that are shown as ghosts

    >>> import torsor as ts
    >>> model = ts.cases.load("pendulum")
    >>> data = ts.simulate(model, 2.0)
    >>> ts.save_html(data, "pendulum.html")
    """
    write_page(data_of(what, "save_html", model, compare), file)


def write_page(data: dict[str, Any], file: str | os.PathLike) -> None:
    """Write the page with these data to a file, whole or not at all."""
    text = page_with(data)
    try:
        replace(os.fspath(file), text.encode())
    except (OSError, TypeError, ValueError) as error:
        raise ResultError(f"cannot write {file!r}: {getattr(error, 'strerror', None) or error}") from None
