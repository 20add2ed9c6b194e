"""The viewer in a notebook: plain HTML in a frame, which needs no extension."""

import base64
import html
import io
import sys
from typing import Any

from ..scene.scene import scene
from .picture import picture_of_scene
from .viewer_page import page_with

HEIGHT = 560  # pixels
MOST_DRAWN = 200  # bodies of a model that is drawn in a notebook


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


def model_html(model: Any) -> str:
    """A model as it was described: picture and table. Nothing is derived for it, and the model can still be changed."""
    table = model.table_html()
    if not model.bodies or len(model.bodies) > MOST_DRAWN:
        return table
    figure = picture_of_scene(scene(model))
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=80)
    image = base64.b64encode(content.getvalue()).decode()
    name = html.escape(model.name, quote=True)
    return f'<div><img alt="{name}" src="data:image/png;base64,{image}"/>{table}</div>'


def in_notebook() -> bool:
    """True if this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "zmqshell" in type(shell).__module__.lower() + type(shell).__name__.lower()
