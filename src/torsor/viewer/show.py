"""`ts.view`: a page in the browser, or in the notebook."""

from typing import Any

from ..stepping import Simulation
from .notebook_view import View, in_notebook
from .page_server import serve
from .viewable import data_of


def view(what: Any, model: Any = None, compare: Any = None, open_browser: bool = True) -> Any:
    """Show a model, or play a result, in the browser; in a notebook, below the cell.

    what          a model, a result, a linear model, an assembly
    model         the model of a result that does not contain its scene
    compare       a second result, or several, that are shown as ghosts
    open_browser  False: only the address is printed

    Returns an object with the page's `address`; `close()` ends its server, as the end of Python does. The page of a `ts.Simulation`
    follows it: `update()` after `advance` shows where it is. In a notebook the page is shown as the last value of a cell.
    """
    data = data_of(what, "view", model, compare)
    if in_notebook():
        return View(data)
    server = serve(data, open_browser)
    server.simulation = what if isinstance(what, Simulation) else None
    return server
