"""Pictures of models and results without a browser: drawn with Matplotlib, so that PDF and SVG contain lines and not pixels.

Faces are projected along parallel lines and painted from the farthest to the nearest:

    u = r·x,  v = a·x,  depth = d·x        r, a: to the right and up in the picture; d: towards the eye                    (1)
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..lie import pose_stacks
from ..model.model import Model
from ..scene.scene import scene
from .model_pose import start_motion
from .page_data import scene_of_result, up_axis, with_poses
from .rope_lines import rope_lines
from .surfaces import faces_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = (
    (0.24, 0.47, 0.71), (0.88, 0.52, 0.2), (0.3, 0.62, 0.36), (0.79, 0.3, 0.28), (0.51, 0.4, 0.67), (0.55, 0.43, 0.35),
    (0.8, 0.5, 0.71), (0.45, 0.52, 0.57), (0.72, 0.65, 0.2), (0.2, 0.62, 0.66),
)  # fmt: skip
GREY, STEEL = (0.62, 0.64, 0.67), (0.2, 0.23, 0.27)
ZIGZAG = ("coil", "damper", "coil-damper", "slide-coil")  # forces between two points
LIGHT = np.array((0.35, 0.25, 0.9)) / np.linalg.norm((0.35, 0.25, 0.9))  # in the picture: right, up, towards the eye
FLAT = 1e-6  # extent across the plane of a motion / size, below which it is seen from its normal
PLANAR = ("hinge", "plane", "slider", "contact", "drive", "limit", "lock", "fixed", "friction")  # of a planar mechanism
MARGIN = 0.06  # share of the picture
DIRECTIONS = {
    "x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1),
    "oblique": None, "auto": None,
}  # fmt: skip


def picture(
    what: Any,
    time: float | None = None,
    times: Sequence[float] | None = None,
    view: Any = "auto",
    model: Any = None,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw a model, or a result at one time or at several as a film strip; returns the Matplotlib figure, shows and saves nothing.

    what     torsor.Model, or a result
    time     of a result [s]; None: its last output
    times    several, as a film strip: panels with the same scale
    view     from where: "x", "-y" …, "oblique", three numbers, or "auto": across the plane of a planar mechanism
    model    the model of a result that does not contain its scene
    figure   a Matplotlib figure to draw into; None: a new one

    `ts.picture(data, time=2.0).savefig("pose.pdf")` writes vector graphics.

    >>> import torsor as ts
    >>> figure = ts.picture(ts.cases.load("four-bar"))
    """
    scenery, shown = moments(what, time, times, model)
    camera = camera_axes(view, scenery, [p for _, p, _ in shown])
    panels = [project(scenery, p, R, camera) for _, p, R in shown]
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(
            figsize=(min(3.2 * len(panels), 16) if len(panels) > 1 else 6, 3.6 if len(panels) > 1 else 4.5)
        )
    low, high = limits(panels, scenery["size"])
    for k, ((t, _, _), drawing) in enumerate(zip(shown, panels)):
        axes = figure.add_subplot(1, len(panels), k + 1)
        paint(axes, drawing, low, high)
        axes.set_title(scenery["name"] if t is None else f"t = {t:.4g} s", fontsize=9)
    return figure


def picture_of_scene(scenery: dict[str, Any]) -> "Figure":
    """Draw a scene as it is, without pyplot: a notebook shows nothing but what is returned."""
    from matplotlib.figure import Figure

    p = np.array([b["p"] for b in scenery["bodies"]]).reshape(-1, 3)
    R = pose_stacks.rotations(np.array([b["q"] for b in scenery["bodies"]]).reshape(-1, 4))
    drawing = project(scenery, p, R, camera_axes("auto", scenery, [p]))
    figure = Figure(figsize=(4.5, 3.2))
    paint(figure.add_axes((0, 0, 1, 1)), drawing, *limits([drawing], scenery["size"]))
    return figure


def paint(axes: Any, drawing: tuple, low: np.ndarray, high: np.ndarray) -> None:
    """Paint one drawing into axes with these limits."""
    from matplotlib.collections import LineCollection, PolyCollection

    faces, colours, lines, dots = drawing
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.add_collection(PolyCollection(faces, facecolors=colours, edgecolors=colours, linewidths=0.2, zorder=1))
    axes.add_collection(LineCollection(lines, colors=[STEEL], linewidths=1.0, zorder=2))
    if len(dots):
        axes.scatter(dots[:, 0], dots[:, 1], s=9, color=[(1, 1, 1)], edgecolors=[STEEL], linewidths=0.8, zorder=3)


def moments(what, time, times, model):
    """The scene, and what is shown: (time, positions, rotations)."""
    if isinstance(what, Model):
        if time is not None or times is not None:
            raise OptionError("picture: a model has no times; simulate it, and give the result")
        motion, _ = start_motion(what)
        scenery = scene(what)
        if motion is not None:
            scenery = with_poses(scenery, motion["position"], motion["rotation"])
        p = np.array([b["p"] for b in scenery["bodies"]]).reshape(-1, 3)
        R = pose_stacks.rotations(np.array([b["q"] for b in scenery["bodies"]]).reshape(-1, 4))
        return scenery, [(None, p, R)]
    if not hasattr(what, "data_vars") or "position" not in what or "time" not in what.dims or "run" in what.dims:
        raise OptionError(f"picture: give a torsor.Model or a result over time, got {quantity.show(what)}")
    if not what.sizes["time"]:
        raise OptionError("picture: the result has no outputs")
    if time is not None and times is not None:
        raise OptionError("picture: give `time` or `times`, not both")
    known = what["time"].values
    instants = [known[-1] if time is None else time] if times is None else list(times)
    if not instants:
        raise OptionError("picture: times is empty")
    found = []
    for t in instants:
        t = float(quantity.number(t)) if quantity.number(t) is not None else float("nan")
        if not known[0] - 1e-9 <= t <= known[-1] + 1e-9:
            raise OptionError(
                f"picture: time {t:g} s is not in the result, which is from {known[0]:g} to {known[-1]:g} s"
            )
        k = int(np.argmin(np.abs(known - t)))
        found.append((float(known[k]), what["position"].values[k], what["rotation"].values[k]))
    return scene_of_result(what, model), found


def camera_axes(view, scenery, positions):
    """r, a, d of (1), as rows."""
    up = np.array(up_axis(scenery["gravity"]), float)
    if isinstance(view, str):
        if view not in DIRECTIONS:
            raise OptionError(f"picture: view must be one of {', '.join(DIRECTIONS)}, or three numbers, got {view!r}")
        d = DIRECTIONS[view] or (_normal(scenery, positions) if view == "auto" else None)
    else:
        d = quantity.given(view, 3, 1, "view", "picture")
    if d is None:
        across = np.array((1.0, 0, 0)) if abs(up[0]) < 0.5 else np.array((0, 1.0, 0))
        d = 0.55 * across - 0.75 * np.cross(up, across) + 0.45 * up
        d = d if np.linalg.norm(d) else up
    d = np.asarray(d, float) / np.linalg.norm(d)
    if abs(d @ up) > 0.999:
        up = np.array((0, 1.0, 0)) if abs(d[1]) < 0.9 else np.array((0, 0, 1.0))
    r = np.cross(up, d)
    r /= np.linalg.norm(r)
    return np.array([r, np.cross(d, r), d])


def _normal(scenery, positions):
    """The direction across a planar mechanism: along all of its hinges, across all of its sliders; None where it is not planar."""
    if any(j["draw"] not in PLANAR for j in scenery["joints"]):
        return None
    axes = [_axis(scenery, j) for j in scenery["joints"] if j["draw"] in ("hinge", "plane")]
    slides = [_axis(scenery, j) for j in scenery["joints"] if j["draw"] == "slider"]
    if not axes:
        return None
    n = axes[0]
    if any(abs(abs(axis @ n) - 1) > FLAT for axis in axes) or any(abs(axis @ n) > FLAT for axis in slides):
        return None
    k = int(np.argmax(np.abs(n)))
    spread = max((np.ptp((p - p.mean(axis=0)) @ n) for p in positions if len(p)), default=0.0)
    if spread > 0.3 * scenery["size"]:
        return None
    return -n if (k == 1) == (n[k] > 0) else n


def _axis(scenery, joint):
    """The axis of a joint in the world, in the positions of the scene."""
    z = pose_stacks.rotations(np.array(joint["frames"][0]["q"]))[:, 2]
    if joint["first"] < 0:
        return z
    return pose_stacks.rotations(np.array(scenery["bodies"][joint["first"]]["q"])) @ z


def project(scenery, p, R, camera):
    """Faces from the farthest to the nearest with their colours, lines, and dots."""
    found: list = []
    for k, body in enumerate(scenery["bodies"]):
        if np.isfinite(p[k]).all() and np.isfinite(R[k]).all():
            for shape in body["shapes"]:
                found += _faces(shape, p[k], R[k], PALETTE[k % len(PALETTE)], scenery["size"])
    for element in (*scenery["joints"], *scenery["forces"]):
        for solid in element.get("solids", ()):
            at, turn = _pose_of(solid["body"], p, R)
            if np.isfinite(at).all() and np.isfinite(turn).all():
                found += _faces(solid, at, turn, GREY, scenery["size"])
    ground = [
        _faces(s, np.zeros(3), np.eye(3), GREY, scenery["size"]) for s in scenery["ground"] if s["kind"] != "plane"
    ]
    found += [face for faces in ground for face in faces]
    projected = [(corners @ camera.T, colour) for corners, colour in found]
    projected.sort(key=lambda item: item[0][:, 2].mean())
    faces, colours = [], []
    for corners, colour in projected:
        normal = np.cross(corners[1] - corners[0], corners[-1] - corners[0])
        if (length := np.linalg.norm(normal)) == 0:
            normal = np.cross(corners[2] - corners[1], corners[0] - corners[1])
            length = np.linalg.norm(normal)
        shade = 0.55 + 0.45 * abs(normal @ LIGHT) / (length or 1.0)
        faces.append(corners[:, :2])
        colours.append((*(min(c * shade * 1.08, 1.0) for c in colour[:3]), colour[3] if len(colour) > 3 else 1.0))
    lines = [line @ camera[:2].T for line in _lines(scenery, p, R)]
    dots = [
        _place(j["first"], j["frames"][0]["p"], p, R) for j in scenery["joints"] if j["draw"] not in ("free", "contact")
    ]
    dots = [x for x in dots if np.isfinite(x).all()]
    return faces, colours, lines, np.array(dots).reshape(-1, 3) @ camera[:2].T


def _faces(shape, p, R, colour, size):
    turn = R @ pose_stacks.rotations(np.array(shape["q"], float))
    at = p + R @ np.array(shape["p"], float)
    own = shape["colour"] or colour
    return [(corners @ turn.T + at, own) for corners in faces_of(shape, size)]


def _place(body, point, p, R):
    return np.asarray(point, float) if body < 0 else p[body] + R[body] @ np.asarray(point, float)


def _pose_of(body, p, R):
    return (np.zeros(3), np.eye(3)) if body < 0 else (p[body], R[body])


def _lines(scenery, p, R):
    """Springs and dampers as zigzags, cables and hydraulic cylinders as lines, floors as lines."""
    for force in scenery["forces"]:
        ends = [_place(x["body"], x["p"], p, R) for x in force["points"]]
        if not np.isfinite(ends).all():
            continue
        if force["draw"] in ZIGZAG and len(ends) == 2:
            yield _zigzag(ends[0], ends[1], 0.018 * scenery["size"])
        elif force["draw"] in ("cable", "ram"):
            yield np.array(ends)
        elif force.get("stops"):
            yield from rope_lines(force, lambda body: _pose_of(body, p, R))
    for shape in scenery["ground"]:
        if shape["kind"] == "plane":
            turn = pose_stacks.rotations(np.array(shape["q"], float))
            (corners,) = faces_of(shape, scenery["size"])
            yield np.array(corners @ turn.T * 0.35 + shape["p"])[[0, 1, 2, 3, 0]]


def _zigzag(a, b, width, turns=9):
    along = b - a
    if np.linalg.norm(along) == 0:
        return np.array([a, b])
    side = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    side *= width / np.linalg.norm(side)
    inner = [
        a + along * (0.15 + 0.7 * k / turns) + side * (0 if k in (0, turns) else (-1) ** k) for k in range(turns + 1)
    ]
    return np.array([a, *inner, b])


def limits(panels, size):
    """Limits that all panels share."""
    points = [x for faces, _, lines, dots in panels for x in (*faces, *lines, *([dots] if len(dots) else []))]
    every = np.concatenate(points) if points else np.zeros((1, 2))
    low, high = every.min(axis=0), every.max(axis=0)
    margin = max(MARGIN * float((high - low).max()), 0.02 * size)
    return low - margin, high + margin
