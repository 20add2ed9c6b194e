"""Every registered constraint and force accelerates bodies alike in every formulation and through the tables of large systems.

Each element is tried in `ts.Simulation` in absolute coordinates, in one other formulation, which takes turns, and through tables;
forces while bodies move.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from scenes import bodies, scene

import torsor as ts

sys.path.insert(0, str(Path(__file__).parents[1] / "physics"))

from agreement import quickly_compiled  # noqa: E402

PARTS = {
    (kind, key): cls
    for kind in ("constraint", "force")
    for key, cls in ts.registered(kind).items()
    if cls.__module__.startswith("torsor.") and cls.variants
}
IMPOSED = ("motion",)  # prescribe a whole body, which must hang on nothing else
AS_GRAPH = {
    "coupling", "holonomic", "drive", "motion",  # the example does not fit the place where the joints are
    "belt", "cable",  # elastic ones depend on several joints
    "dc-motor",  # its rotor is an armature
}  # fmt: skip
MOVING = {"joint": 0.2, "joint.rate": 0.7, "other.rate": -0.4}
OTHERS = ("relative", "woronetz", "hamiltonian")


def accelerations(kind, key, cls, formulation):
    """Linear and angular accelerations of both bodies at the start, and the path that the simulation takes."""
    if key in IMPOSED:
        model, first, second = bodies()
        offered = {"first": first, "second": second, "body": second}
    else:
        model, offered = scene()
    model.gravity = (0.3, -0.5, -9.81)
    part = model.add(cls.examples(offered)[0])
    moves = kind == "force" and not part.acts_by_parts
    with quickly_compiled():
        sim = ts.Simulation(model, formulation=formulation, start=MOVING if moves else None)
        names = [f"{body.name}.{what}" for body in model.bodies for what in ("acceleration", "angular_acceleration")]
        return np.concatenate([np.ravel(sim[name]) for name in names]), sim.path


@pytest.mark.parametrize("kind, key", PARTS)
def test_a_part_acts_alike_everywhere(kind, key, monkeypatch):
    cls = PARTS[kind, key]
    expected, _ = accelerations(kind, key, cls, "absolute")
    other, _ = accelerations(kind, key, cls, OTHERS[list(PARTS).index((kind, key)) % len(OTHERS)])
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "1")
    tables, path = accelerations(kind, key, cls, "hierarchical")
    assert path == ("straight" if key in AS_GRAPH else "tables")
    size = 1 + np.abs(expected).max()
    np.testing.assert_allclose(other, expected, atol=1e-11 * size)
    np.testing.assert_allclose(tables, expected, atol=1e-11 * size)
