"""When shapes touch, as rows of the viewer's time line: contacts that are forces, from the poses of the bodies at the outputs.

engaged while δ ≥ 0, δ the largest depth of a touching point                                           (1)
"""

from typing import Any

import casadi as ca
import numpy as np

from ..forces.contact_geometry import ShapeAt, touches

MOST_DEPTHS = 2_000_000  # depths that are calculated for one page: contacts times outputs


def touching_rows(data: Any, scenery: dict) -> list[dict[str, Any]]:
    """One row for each contact of shapes: a span from the first to the last of consecutive outputs at which they touch."""
    contacts = [force for force in scenery.get("forces", ()) if force.get("touching")]
    times = np.asarray(data["time"].values, float)
    if not contacts or len(contacts) * len(times) > MOST_DEPTHS or "position" not in data:
        return []
    p, R = (np.asarray(data[what].values, float) for what in ("position", "rotation"))
    return [
        {"name": force["name"], "spans": _spans(times, _depths(force["touching"], p, R) >= 0), "gaps": []}
        for force in contacts
    ]


def _depths(shapes, p, R):
    """δ of (1) at all outputs."""
    inputs, ends, given = [], [], []
    for shape in shapes:
        x, turn = ca.SX.sym("x", 3), ca.SX.sym("R", 3, 3)
        H = np.asarray(shape["frame"], float)
        kind, size = shape["kind"], np.atleast_1d(np.asarray(shape["size"], float)).tolist()
        ends.append(ShapeAt(kind, size, x + turn @ ca.SX(ca.DM(H[:3, 3])), turn @ ca.SX(ca.DM(H[:3, :3]))))
        inputs += [x, turn]
        k = int(shape["body"])
        poses = (np.zeros((len(p), 3)), np.tile(np.eye(3), (len(p), 1, 1))) if k < 0 else (p[:, k], R[:, k])
        given += [poses[0].T, np.concatenate(list(poses[1]), axis=1)]
    depth = ca.mmax(ca.vertcat(*(touch.depth for touch in touches(*ends))))
    return np.array(ca.Function("depth", inputs, [depth]).map(len(p))(*given)).ravel()


def _spans(times, inside):
    """Spans of consecutive outputs at which something holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
    return [[float(times[a]), float(times[b - 1])] for a, b in zip(edges[::2], edges[1::2])]
