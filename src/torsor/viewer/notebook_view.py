"""The viewer in a notebook: plain HTML in a frame, which needs no extension."""

import html
import sys
from typing import Any

from .viewer_page import page_with

HEIGHT = 560  # pixels


class View:
    """A page that a notebook shows as the value of a cell."""

    def __init__(self, data: dict[str, Any], height: int = HEIGHT):
        self.data, self.height = data, height

    def _repr_html_(self) -> str:
        return frame(page_with(self.data), self.height)

    def close(self) -> None:
        """Nothing is open: the page is in the notebook."""

    def __repr__(self):
        return f"<View of {self.data['name']!r}>"


def frame(page: str, height: int = HEIGHT) -> str:
    """A frame with a whole page in it."""
    inside = html.escape(page, quote=True)
    style = f"width:100%;height:{height}px;border:1px solid #ccc;border-radius:4px"
    return f'<iframe srcdoc="{inside}" style="{style}" sandbox="allow-scripts allow-downloads" loading="lazy"></iframe>'


def in_notebook() -> bool:
    """True if this process is the kernel of a notebook."""
    shell = _shell()
    return shell is not None and "zmqshell" in type(shell).__module__.lower() + type(shell).__name__.lower()


def _shell():
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def show_results_in_notebook() -> None:
    """In a notebook, results, which are datasets of xarray, are shown with their picture; other datasets as before."""
    shell = _shell()
    if shell is None:
        return

    def html_of_result(data):
        if "model_hash" not in data.attrs:
            return data._repr_html_()
        from .notebook_cards import result_html

        return result_html(data)

    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type_by_name("xarray.core.dataset", "Dataset", html_of_result)
