"""What acts on each body besides gravity and reactions, from the motion and the reactions of a result.

    F = m (a − g) − Σ f                                                                                  (1)
    T = R (J ω̇ + ω × J ω) − Σ (t + (r − x) × f)                                                          (2)

m, J      mass and inertia about the centre of mass x
a, ω      acceleration of the centre of mass, angular velocity in body axes; R: rotation of the body
f, t      reactions of the joints on the body, at their points r
"""

from typing import Any

import numpy as np

from ..lie import pose_stacks

ROUNDING = 1e-7  # load / largest term of (1) or (2), below which it is rounding: a scene has nine digits
NEEDED = ("position", "rotation", "acceleration", "angular_velocity", "angular_acceleration")


def applied_loads(data: Any, scenery: dict) -> tuple[np.ndarray, np.ndarray] | None:
    """Forces and torques (time, body, axis) in world axes; None where a result does not contain all reactions."""
    if any(name not in data for name in NEEDED) or not data.sizes.get("time") or not scenery["bodies"]:
        return None
    if not _all_reactions(data, scenery):
        return None
    x, R = (np.asarray(data[name].values, float) for name in ("position", "rotation"))
    with np.errstate(all="ignore"):
        F, T = _inertia_terms(data, scenery, R)
        size_F, size_T = np.nanmax(np.abs(F), initial=0.0), np.nanmax(np.abs(T), initial=0.0)
        if "reaction_force" in data:
            for term_F, term_T in _reaction_terms(data, scenery, x, R, F, T):
                size_F, size_T = max(size_F, term_F), max(size_T, term_T)
        F[np.linalg.norm(F, axis=-1) <= ROUNDING * size_F] = 0.0
        T[np.linalg.norm(T, axis=-1) <= ROUNDING * size_T] = 0.0
    return F, T


def _all_reactions(data, scenery):
    """True if the result contains the reactions of all connections."""
    joints = {joint["name"] for joint in scenery["joints"]}
    known = set(map(str, data["joint"].values)) if "reaction_force" in data else set()
    rows = map(str, data["constraint"].values) if "constraint" in data.coords else ()
    return known <= joints and {row.rpartition("[")[0] or row for row in rows} <= known


def _inertia_terms(data, scenery, R):
    """m (a − g) and R (J ω̇ + ω × J ω)."""
    masses = np.array([body.get("mass") or 0.0 for body in scenery["bodies"]])
    F = masses[:, None] * (data["acceleration"].values - np.asarray(scenery["gravity"], float))  # (1)
    J = np.array([_inertia(body) for body in scenery["bodies"]])
    w, alpha = data["angular_velocity"].values, data["angular_acceleration"].values
    spin = np.einsum("kij,tkj->tki", J, w)
    turning = np.einsum("kij,tkj->tki", J, alpha) + np.cross(w, spin)
    return F, np.einsum("tkij,tkj->tki", R, turning)  # (2)


def _inertia(body):
    """The inertia of the ellipsoid that the scene has."""
    squares = np.asarray(body["ellipsoid"]["semi"], float) ** 2
    moments = (body.get("mass") or 0.0) / 5 * (squares.sum() - squares)
    turn = pose_stacks.rotations(np.asarray(body["ellipsoid"]["q"], float))
    return turn @ np.diag(moments) @ turn.T


def _reaction_terms(data, scenery, x, R, F, T):
    """Subtract the reactions of each joint from F and T; yields how large they are."""
    joints = {joint["name"]: joint for joint in scenery["joints"]}
    forces, torques = data["reaction_force"].values, data["reaction_torque"].values
    for column, name in enumerate(map(str, data["joint"].values)):
        joint = joints[name]
        f, t = forces[:, column], torques[:, column]
        side = 1 if joint["second"] >= 0 else 0
        carrier, local = (joint["first"], joint["second"])[side], np.asarray(joint["frames"][side]["p"], float)
        point = local if carrier < 0 else x[:, carrier] + R[:, carrier] @ local
        largest = 0.0
        for body, sign in ((joint["second"], 1.0), (joint["first"], -1.0)):
            if body < 0:
                continue
            moment = t + np.cross(point - x[:, body], f)
            F[:, body] -= sign * f  # (1)
            T[:, body] -= sign * moment  # (2)
            largest = max(largest, float(np.nanmax(np.abs(moment), initial=0.0)))
        yield float(np.nanmax(np.abs(f), initial=0.0)), largest
