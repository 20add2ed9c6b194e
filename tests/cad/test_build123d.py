"""Objects of build123d with their joints."""

import numpy as np
import pytest

import torsor as ts
from torsor.elements.quantity import numbers

b3 = pytest.importorskip("build123d")


def pendulum(kind):
    """A base, an arm of 100 x 20 x 10 mm on a joint, and a tip that is fixed to the arm."""
    base, arm, tip = b3.Box(40, 40, 40), b3.Box(100, 20, 10), b3.Box(10, 10, 10)
    base.label, arm.label, tip.label = "base", "arm", "tip"
    b3.RigidJoint("pivot", base, b3.Location((0, 30, 0), (0, 90, 0)))
    axis = b3.Axis((-50, 0, 0), (0, 1, 0))
    own = {
        "revolute": lambda: b3.RevoluteJoint("hinge", arm, axis),
        "prismatic": lambda: b3.LinearJoint("hinge", arm, axis, (0, 90)),
        "cylindrical": lambda: b3.CylindricalJoint("hinge", arm, axis, linear_range=(0, 90)),
        "spherical": lambda: b3.BallJoint("hinge", arm),
    }[kind]()  # fmt: skip
    b3.RigidJoint("end", arm, b3.Location((55, 0, 0)))
    b3.RigidJoint("back", tip, b3.Location((0, 0, 0)))
    base.joints["pivot"].connect_to(own)
    arm.joints["end"].connect_to(tip.joints["back"])
    return b3.Compound(label="swing", children=[base, arm, tip])


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "spherical"])
def test_joints_and_masses(kind):
    assembly = pendulum(kind)
    read = ts.read_assembly(assembly, densities=1000.0, ground="base")
    (joint,) = read.model.joints
    assert joint.key == kind
    (body,) = read.model.bodies  # the tip is fixed to the arm
    assert float(body.mass) == pytest.approx(1000 * (0.1 * 0.02 * 0.01 + 1e-6), rel=1e-12)
    centers = [np.array(tuple(x.center())) for x in assembly.children[1:]]
    expected = (2e4 * centers[0] + 1e3 * centers[1]) / 2.1e4 / 1e3
    assert np.allclose(numbers(body.start_position).ravel(), expected, atol=1e-12)


def test_what_is_no_assembly_is_refused():
    with pytest.raises(ts.OptionError, match="give an object of build123d, got 3"):
        ts.read_assembly(3)
    with pytest.raises(ts.ModelError, match="has no solids"):
        ts.read_assembly(b3.Compound(label="nothing", children=[b3.Line((0, 0), (1, 0))]))
