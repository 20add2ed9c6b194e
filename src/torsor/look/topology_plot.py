"""The graph of a model as a picture: bodies in layers by their distance from the ground, joints between them."""

from typing import TYPE_CHECKING

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..joints.base import Connection
from ..model.model import Model
from .plots import refuse_other_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUND, BODY, FREE, TREE, CUT, OTHER = "#555555", "#0072b2", "#b8860b", "#222222", "#d55e00", "#009e73"
MOST_JOINT_NAMES = 60  # joints up to which each carries its name


def plot_graph(model: Model, figure: "Figure | None" = None) -> "Figure":
    """Draw bodies, joints, spanning tree and loops of a model; returns the Matplotlib figure, shows and saves nothing.

    Joints of the spanning tree are solid, cut joints dashed, constraints that are no joints dotted; an arrow leads from
    a joint's first body to its second. The name of a body that no joint carries is in a dashed frame.

    model    torsor.Model
    figure   a Matplotlib figure to draw into; None: a new one
    """
    from ..model.model import Model
    from ..model.topology import outline

    if not isinstance(model, Model):
        raise OptionError(f"plot_graph: give a torsor.Model, got {quantity.show(model)}")
    refuse_other_figure(figure, "plot_graph")
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure()
    graph = outline(model)
    grounds = [g.name for g in model.grounds if _has_attachments(model, g)]
    place = layout(graph["tree"], grounds)
    depth, breadth = (max((p[k] for p in place.values()), default=0) for k in (1, 0))
    figure.set_size_inches(min(4 + 1.5 * breadth, 24), min(2.2 + 1.25 * depth, 24))
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.9))
    axes.set_axis_off()
    axes.set(xlim=(-0.6, breadth + 0.6), ylim=(-depth - 0.4, 0.4))

    crowd: dict = {}
    few = len(graph["joints"]) <= MOST_JOINT_NAMES
    for joint in graph["joints"]:
        style = {"color": CUT, "linestyle": (0, (5, 3))} if joint["cut"] else {"color": TREE, "linestyle": "solid"}
        _edge(axes, place, crowd, joint["from"], joint["to"], joint["name"] if few else "", **style)
    for c in model.constraints:
        if isinstance(c, Connection) and c.kind != "joint":
            ends = c.first.name, c.second.name
            _edge(axes, place, crowd, *ends, c.name if few else "", color=OTHER, linestyle=(0, (1, 2)))
    free = {b["body"] for b in graph["tree"] if b["joint"] is None}
    for name, (x, y) in place.items():
        ground = name in grounds
        color = GROUND if ground else FREE if name in free else BODY
        box = {"boxstyle": "square" if ground else "round", "facecolor": "white", "edgecolor": color, "linewidth": 1.6}
        box["linestyle"] = "dashed" if name in free else "solid"
        axes.text(x, -y, name, ha="center", va="center", fontsize=9, color=color, bbox=box, zorder=3)
    loops, joints = len(graph["loops"]), len(graph["joints"])
    counts = f"{len(model.bodies)} bodies, {joints} joints, {loops} loops" + (" (dashed: cut)" if loops else "")
    figure.suptitle(f"{model.name}: {counts}", fontsize=11)
    return figure


def _has_attachments(model, ground):
    """True if anything is attached to a ground; a model's own one is drawn where there is no other."""
    used = [c for c in model.constraints if isinstance(c, Connection) and ground in (c.first, c.second)]
    return bool(used) or len(model.grounds) == 1


def layout(tree, grounds):
    """Places (x, layer) by name: grounds in layer 0, bodies below what carries them, each family under its parent.

    Leaves get the next free column; a parent stands over the middle of its children.
    """
    children: dict = {}
    depth = {name: 0 for name in grounds}
    for row in tree:
        children.setdefault(row["parent"], []).append(row["body"])
        depth[row["body"]] = row["depth"]
    across: dict[str, float] = {}
    column = 0
    order = [(name, False) for name in [*children.get(None, []), *grounds[::-1]][::-1]]
    while order:  # without recursion: chains may be long
        name, ready = order.pop()
        below = children.get(name, [])
        if not below:
            across[name], column = column, column + 1
        elif ready:
            across[name] = float(np.mean([across[child] for child in below]))
        else:
            order += [(name, True), *[(child, False) for child in below[::-1]]]
    return {name: (float(across[name]), depth[name]) for name in across}


def _edge(axes, place, crowd, first, second, label, **style):
    """One line from a body to another, bent where several join the same two or where it would run through others."""
    (x1, y1), (x2, y2) = place[first], place[second]
    pair = frozenset((first, second))
    count = crowd[pair] = crowd.get(pair, -1) + 1
    bend = 0.18 * ((count + 1) // 2) * (-1) ** count
    far = abs(y2 - y1) > 1 or (y1 == y2 and abs(x2 - x1) > 1)
    bend += 0.25 if far and not bend else 0.0
    bend *= 1 if (x1, y1) < (x2, y2) else -1  # the same side, whichever way the joint points
    arrow = {"arrowstyle": "-|>", "shrinkA": 16, "shrinkB": 16, "linewidth": 1.3, **style}
    arrow["connectionstyle"] = f"arc3,rad={bend}"
    axes.annotate("", (x2, -y2), (x1, -y1), arrowprops=arrow, zorder=1)
    ends = axes.transData.transform([(x1, -y1), (x2, -y2)])  # the middle of an arc, on the screen
    (dx, dy), middle = ends[1] - ends[0], ends.mean(axis=0)
    middle = axes.transData.inverted().transform(middle + bend / 2 * np.array([dy, -dx]))
    patch = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    if label:
        axes.text(*middle, label, ha="center", va="center", fontsize=7.5, color=style["color"], bbox=patch, zorder=2)
