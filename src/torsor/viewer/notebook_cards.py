"""What a notebook shows of models, results, equilibria and linear models: a picture and tables, as plain HTML without scripts."""

import base64
import io
from html import escape
from typing import Any

import numpy as np

from ..analysis.linear.linear_model import LinearModel
from ..analysis.statics.equilibrium import Equilibrium
from ..errors import TorsorError
from ..model.model import Model
from ..scene.scene import scene
from .model_pose import start_motion
from .page_data import facts_of_result, scene_of_result, with_poses
from .picture import picture, picture_of_scene

MOST_DRAWN = 200  # bodies of a model that is drawn in a notebook
MOST_PREPARED = 12  # bodies of a model that is assembled for its table: a fraction of a second
MOST_ROWS = 12  # of a table
STRIP = 4  # pictures of a result over time
DOTS = 80  # per inch


def html_of(thing: Any) -> str:
    """A model, an equilibrium or a linear model as a notebook shows it."""
    if isinstance(thing, Model):
        return model_html(thing)
    return linear_html(thing) if isinstance(thing, LinearModel) else equilibrium_html(thing)


def model_html(model: Model) -> str:
    """A model: picture, degrees of freedom, what it consists of. The model itself can still be changed."""
    table = model.table_html()
    if not model.bodies or len(model.bodies) > MOST_DRAWN:
        return table
    scenery, facts = scene(model), {}
    if len(model.bodies) <= MOST_PREPARED:
        motion, known = start_motion(model)
        if motion is not None:
            scenery = with_poses(scenery, motion["position"], motion["rotation"])
            redundant = len(known["redundant"])
            facts["degrees of freedom"] = known["degrees_of_freedom"]
            facts["redundant constraints"] = redundant or ""
        else:
            facts["it cannot be assembled"] = known.get("warning", "")
    return card(model.name, picture_of_scene(scenery), rows(facts), table)


def result_html(data: Any) -> str:
    """A result: pictures over time, degrees of freedom, accuracy; below it what xarray shows."""
    plain = data._repr_html_()
    try:
        facts = facts_of_result(data)
        figure = None
        if data.sizes.get("time") and "run" not in data.dims and 0 < data.sizes.get("body", 0) <= MOST_DRAWN:
            from matplotlib.figure import Figure

            known = data["time"].values
            times = np.unique(known[np.linspace(0, len(known) - 1, STRIP).astype(int)])
            figure = Figure(figsize=(2.6 * len(times), 2.8), layout="constrained")
            picture(data, times=[float(t) for t in times], figure=figure)
            joints = [j["name"] for j in scene_of_result(data)["joints"]]
            facts |= {"bodies": names(data["body"].values), "joints": names(joints)}
        return card(str(data.attrs.get("model", "result")), figure, rows(facts), plain)
    except (TorsorError, ValueError, TypeError, KeyError):  # a result that was changed by hand
        return plain


def equilibrium_html(found: Equilibrium) -> str:
    """An equilibrium: picture, stability, residual, coordinates, contacts."""
    facts: dict[str, Any] = {"stability": found.stability, "residual": f"{found.residual:.1e}"}
    facts |= {name: f"{value:.6g}" for name, value in list(found.coordinates.items())[:MOST_ROWS]}
    facts |= dict(list(found.contacts.items())[:MOST_ROWS])
    facts |= {"neutral": "; ".join(map(str, found.neutral))}
    scenery = with_poses(
        scene(found.model, found.parameters), found.data["position"].values, found.data["rotation"].values
    )
    return card(f"{found.model.name}: equilibrium", _picture_of(scenery), rows(facts))


def linear_html(linear: LinearModel) -> str:
    """A linear model: picture at its operating point, names, and a table of its modes."""
    facts = {
        "stability": linear.stability if linear.steady else "about a motion", "states": names(linear.states),
        "inputs": names(linear.inputs), "outputs": names(linear.outputs),
    }  # fmt: skip
    modes = [["mode", "eigenvalue [1/s]", "frequency [Hz]", "damping ratio"]]
    for k, mode in enumerate(linear.modes[:MOST_ROWS], start=1):
        s = mode.eigenvalue
        value = f"{s.real:.4g} ± {s.imag:.4g} i" if s.imag else f"{s.real:.4g}"
        turning = mode.oscillates
        modes.append(
            [str(k), value, f"{mode.frequency:.4g}" if turning else "", f"{mode.damping:.3g}" if turning else ""]
        )
    model, parameters = linear._model
    shapes = linear._shapes
    scenery = with_poses(scene(model, parameters), shapes.position, shapes.rotation)
    return card(f"{model.name}: linear model at t = {linear.time:g} s", _picture_of(scenery), rows(facts), grid(modes))


def _picture_of(scenery):
    return picture_of_scene(scenery) if 0 < len(scenery["bodies"]) <= MOST_DRAWN else None


def card(title: str, figure: Any, *tables: str) -> str:
    """A picture with a title, and tables below it."""
    image = ""
    if figure is not None:
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DOTS)
        text = base64.b64encode(content.getvalue()).decode()
        image = f'<img alt="{escape(title)}" style="max-width:100%" src="data:image/png;base64,{text}"/>'
    return f"<div><b>{escape(title)}</b><br/>{image}{''.join(tables)}</div>"


def rows(facts: dict[str, Any]) -> str:
    """A table with two columns; facts that are empty are left out."""
    cell = "<tr><th style='text-align:left'>{}</th><td style='text-align:left'>{}</td></tr>"
    shown = [cell.format(escape(str(k)), escape(str(x))) for k, x in facts.items() if str(x) not in ("", "None")]
    return f"<table>{''.join(shown)}</table>" if shown else ""


def grid(lines: list[list[str]]) -> str:
    """A table whose first line is its head."""
    head = "".join(f"<th>{escape(x)}</th>" for x in lines[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(x)}</td>" for x in line) + "</tr>" for line in lines[1:])
    return f"<table><tr>{head}</tr>{body}</table>" if body else ""


def names(items: Any) -> str:
    """The first names of a list."""
    every = list(map(str, items))
    return ", ".join(every[:MOST_ROWS]) + (f", … ({len(every)})" if len(every) > MOST_ROWS else "")
