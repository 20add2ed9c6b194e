"""A model as a terminal and a notebook show it, without deriving anything; `ts.info` shows more."""

from html import escape
from typing import Any, ClassVar

MOST_SHOWN = 12  # things of a kind that are named
COUNTED_KINDS = {
    "bodies": ("body", "bodies"), "joints": ("joint", "joints"), "constraints": ("constraint", "constraints"),
    "forces": ("force", "forces"), "events": ("event", "events"), "parameters": ("parameter", "parameters"),
}  # fmt: skip


class Shown:
    """The text and HTML representation of a Model."""

    name: str
    html_writer: ClassVar[Any] = None  # draws a picture, too; set where everything is imported

    def _contents(self) -> dict[str, list[str]]:
        """Names of what the model consists of, by kind."""
        model: Any = self
        joints = model.joints
        own = {id(joint) for joint in joints}
        return {
            "bodies": [b.name for b in model.bodies],
            "joints": [j.name for j in joints],
            "constraints": [c.name for c in model.constraints if id(c) not in own],
            "forces": [f.name for f in model.forces],
            "events": [e.name for e in model.events if e.source is None and not e.half],
            "parameters": list(model.parameters),
        }

    def __repr__(self):
        counts = [
            f"{len(x)} {COUNTED_KINDS[kind][len(x) != 1]}"
            for kind, x in self._contents().items()
            if x or kind == "bodies"
        ]
        return f"<Model {self.name!r}: {', '.join(counts)}>"

    def _repr_html_(self):
        return self.table_html() if self.html_writer is None else self.html_writer(self)

    def table_html(self) -> str:
        """Names of what the model consists of, as an HTML table."""
        rows = [
            f"<tr><th style='text-align:left'>{len(x)} {COUNTED_KINDS[kind][len(x) != 1]}</th>"
            f"<td style='text-align:left'>{escape(', '.join(x[:MOST_SHOWN]))}{', …' if len(x) > MOST_SHOWN else ''}</td></tr>"
            for kind, x in self._contents().items()
            if x
        ]
        return f"<table><caption>Model <b>{escape(self.name)}</b></caption>{''.join(rows)}</table>"
