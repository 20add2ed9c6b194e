"""The lift of a follower over a turn of a cam."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..constraints.cam import FULL_TURN
from ..elements.conversion import show
from ..errors import ModelError
from .table import Table, table

NODES = 720  # of the table, per turn
SEARCH = 1440  # directions of the profile among which the touching one is looked for
REPEATED = 40  # points of the table before and after the turn: the spline closes to 1e-20 there
LARGEST_JUMP = 0.3  # of ψ where it touches from one node to the next, on a profile that is touched everywhere [rad]
REFINEMENTS = 3  # of the touching direction by parabolas, each over an eighth of the last width
CLOSED = 1e-9  # of the range: values after a turn that differ by less are the same


def cam_lift(
    angles: Any,
    values: Any = None,
    follower: str | None = None,
    radius: float = 0.0,
    offset: float = 0.0,
) -> Table:
    """The lift of a follower over a turn of a cam, as a table for `ts.Cam`, smooth to the second derivative, also over the seam.

        ts.cam_lift(angles, lifts)                                      a lift given by points
        ts.cam_lift(profile, follower="roller", radius=0.01)            of a profile r(θ), a function or (angles, radii)

        knife, roller   s(φ) = max over θ of  r cos ψ + √(ϱ² − (r sin ψ − e)²),  ψ = θ + φ             (1)
        flat            s(φ) = max over θ of  r cos ψ                                                   (2)

    The lift is relative to that at φ = 0, where the profile's direction θ = 0 points along the follower's axis; the cam turns
    by φ about its own axis, from which θ is counted.

    angles     increasing, over one turn (the last may repeat the first), with `values`, lifts or radii; or r as a function
    values     one for each angle
    follower   "knife", "roller" or "flat"; None: the values are lifts
    radius     ϱ of the roller                                                                          [m]
    offset     e, of the follower's axis from that of the cam, positive towards increasing θ            [m]

    A flat face that is perpendicular to its motion touches wherever it is: `offset` has no effect on its lift.
    """
    known = ("knife", "roller", "flat")
    if follower is not None and follower not in known:
        raise ModelError(f"cam_lift: unknown follower {show(follower)}. Known: {', '.join(known)}, or None for lifts")
    for what, given in (("radius", radius), ("offset", offset)):
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not np.isfinite(given):
            raise ModelError(f"cam_lift: {what} must be a number, got {show(given)}")
    if (follower == "roller") != (radius > 0):
        must = "positive for a roller" if follower == "roller" else "left out, it belongs to a roller"
        raise ModelError(f"cam_lift: radius must be {must}, got {radius:g}")
    if offset and follower not in ("knife", "roller"):
        raise ModelError("cam_lift: offset belongs to a knife edge or a roller; leave it out")
    curve = _periodic_curve(angles, values)
    nodes = np.linspace(0, FULL_TURN, NODES, endpoint=False)
    if follower is None:
        return _closed_table(nodes, curve(nodes))
    lifts = _follow(curve, nodes, follower, radius, offset)
    return _closed_table(nodes, lifts - lifts[0])


def _periodic_curve(angles, values):
    """The given curve as a function of arrays of angles."""
    if callable(angles):
        if values is not None:
            raise ModelError("cam_lift: give a function, or angles and values, not both")
        return _check_function(angles)
    if values is None and isinstance(angles, (tuple, list)) and len(angles) == 2 and np.ndim(angles[0]) == 1:
        angles, values = angles
    if values is None:
        raise ModelError(f"cam_lift: give a function, or angles and values, got {show(angles)}")
    given = table(angles, values, kind="cubic", name="cam_lift")
    (x,), y = given.points, given.values
    if abs(x[-1] - x[0] - FULL_TURN) < CLOSED * FULL_TURN:
        if abs(y[-1] - y[0]) > CLOSED * np.ptp(y):
            raise ModelError(f"cam_lift: values must be the same after a turn, got {y[0]:.6g} and {y[-1]:.6g}")
        x, y = x[:-1], y[:-1]
    if x[-1] - x[0] >= FULL_TURN or FULL_TURN - (x[-1] - x[0]) > FULL_TURN / 4:
        raise ModelError(f"cam_lift: angles must cover one turn, 2π, got {x[0]:g} to {x[-1]:g}")
    closed = _closed_table(x, y)
    return lambda u: closed(x[0] + np.mod(np.asarray(u) - x[0], FULL_TURN))


def _check_function(curve: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """A function of arrays of angles, or an error where it is none."""

    def values(u: np.ndarray) -> np.ndarray:
        try:
            found = np.broadcast_to(np.asarray(curve(u), float), np.shape(u))
        except Exception as error:  # in the user's function
            raise ModelError(f"cam_lift: the profile failed at an array of angles: {error}") from error
        if not np.isfinite(found).all():
            raise ModelError("cam_lift: the profile must be finite at all angles")
        return found

    ends = values(np.array([0.0, FULL_TURN]))
    if abs(ends[1] - ends[0]) > CLOSED * max(np.abs(ends)):
        raise ModelError(f"cam_lift: the profile must be the same after a turn, got {ends[0]:.6g} and {ends[1]:.6g}")
    return values


def _closed_table(x: Sequence | np.ndarray, y: np.ndarray) -> Table:
    """A table through points of one turn that is repeated before and after it."""
    x = np.asarray(x, float)
    count = min(REPEATED, len(x))
    points = np.concatenate([x[-count:] - FULL_TURN, x, x[:count] + FULL_TURN])
    return table(points, np.concatenate([y[-count:], y, y[:count]]), kind="cubic", outside="error", name="cam_lift")


def _follow(curve, nodes, follower, radius, offset):
    """Lifts at the nodes: the largest of (1) or (2)."""
    radii = curve(np.linspace(0, FULL_TURN, SEARCH, endpoint=False))
    if not (radii > 0).all():
        raise ModelError(f"cam_lift: the radius of the profile must be positive, the smallest is {radii.min():.6g}")
    if follower == "knife":
        return _knife_edge(curve, nodes, offset)

    def reach(theta: np.ndarray, phi: np.ndarray) -> np.ndarray:
        r, psi = curve(theta), theta + phi
        if follower == "flat":
            return r * np.cos(psi)  # (2)
        under = radius**2 - (r * np.sin(psi) - offset) ** 2
        return np.where(under >= 0, r * np.cos(psi) + np.sqrt(np.maximum(under, 0)), -np.inf)  # (1)

    grid = np.linspace(0, FULL_TURN, SEARCH, endpoint=False)
    touching = np.array([grid[np.argmax(reach(grid, phi))] for phi in nodes])
    width = grid[1]
    for _ in range(REFINEMENTS):  # the top of the parabola through three directions
        low, mid, high = (reach(touching + k * width, nodes) for k in (-1, 0, 1))
        bend = low - 2 * mid + high
        usable = np.isfinite(bend) & (bend < 0)
        step = np.where(usable, 0.5 * (low - high) / np.where(usable, bend, 1.0), 0.0)
        touching, width = touching + width * np.clip(step, -1, 1), width / 8
    turned = np.unwrap(touching + nodes)  # ψ
    if np.abs(np.diff(np.append(turned, turned[0]))).max() > LARGEST_JUMP:
        raise ModelError(
            f"cam_lift: the profile is hollow or straight: a {follower} follower jumps over a part of it; take "
            f"{'a smaller roller' if follower == 'roller' else 'a roller'}, or another profile"
        )
    return reach(touching, nodes)


def _knife_edge(curve, nodes, offset):
    """Lifts of a knife edge: r cos ψ where r sin ψ = e, by fixed-point steps."""
    psi = np.zeros_like(nodes)
    for _ in range(200):
        r = curve(psi - nodes)
        if (np.abs(offset) >= r).any():
            raise ModelError(f"cam_lift: offset must be smaller than the radius of the profile, {r.min():.6g}")
        found = np.arcsin(offset / r)
        done = np.abs(found - psi).max() < 1e-15
        psi = found
        if done:
            break
    return curve(psi - nodes) * np.cos(psi)
