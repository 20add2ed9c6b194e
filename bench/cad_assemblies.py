"""STEP assemblies of build123d as mechanisms: inertias against closed forms, and degrees of freedom.

    python bench/cad_assemblies.py        needs build123d (pip install build123d)

A four-bar, a slider-crank and a six-axis arm of plates and rods are modelled, written as STEP, and read with a table of joints.
"""

import pathlib
import tempfile
import warnings

import build123d as b3
import numpy as np

import torsor as ts
from torsor.elements.quantity import numbers

DENSITY = 7850.0


def bar(name, first, second, width=20.0, thickness=10.0):
    """A box between two points in mm, and its mass, centre and inertia in SI units: those of a box, turned."""
    first, second = np.array(first, float), np.array(second, float)
    axis = (second - first) / np.linalg.norm(second - first)
    length = np.linalg.norm(second - first) + width
    across = np.cross(axis, (0.0, 1.0, 0.0)) if abs(axis[1]) < 0.9 else np.cross(axis, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    middle = (first + second) / 2
    plane = b3.Plane(origin=tuple(middle), x_dir=tuple(axis), z_dir=tuple(across))
    solid = plane.location * b3.Box(length, thickness, width)
    solid.label = name
    x, y, z = length / 1e3, thickness / 1e3, width / 1e3
    mass = DENSITY * x * y * z
    R = np.column_stack([axis, np.cross(across, axis), across])
    J = R @ (mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])) @ R.T
    return solid, (mass, middle / 1e3, J)


def assemblies():
    """Parts, joints and degrees of freedom of each mechanism, by name; lengths in mm."""
    pin = lambda first, second, at: {
        "type": "revolute",
        "first": first,
        "second": second,
        "point": list(at),
        "axis": "y",
    }
    A, B, C, D = (0, 0, 0), (30, 0, 90), (210, 0, 160), (240, 0, 0)
    four = {"crank": (A, B), "rod": (B, C), "rocker": (C, D)}
    joints = {
        "a": pin("ground", "crank", A),
        "b": pin("crank", "rod", B),
        "c": pin("rod", "rocker", C),
        "d": pin("rocker", "ground", D),
    }
    yield "four-bar", four, joints, 1
    E, F = (0, 0, 60), (180, 0, 0)
    slider = {"crank": (A, E), "rod": (E, F), "slider": (F, (220, 0, 0))}
    guide = {"type": "prismatic", "first": "ground", "second": "slider", "axis": "x", "point": list(F)}
    yield (
        "slider-crank",
        slider,
        {"a": pin("ground", "crank", A), "b": pin("crank", "rod", E), "c": pin("rod", "slider", F), "g": guide},
        1,
    )
    arm, joints, before, at = {}, {}, "ground", np.zeros(3)
    for k, (axis, step) in enumerate(
        zip("zyyzyz", ((0, 0, 150), (300, 0, 40), (250, 30, 0), (0, 0, 80), (60, 0, 60), (0, 0, 50)))
    ):
        arm[f"link{k}"] = (tuple(at), tuple(at + step))
        joints[f"j{k}"] = {
            "type": "revolute",
            "first": before,
            "second": f"link{k}",
            "point": at.tolist(),
            "axis": axis,
        }
        before, at = f"link{k}", at + step
    yield "six-axis arm", arm, joints, 6


def measure(parts, joints, folder):
    """The largest relative error of masses, centres and inertias, and the number of degrees of freedom."""
    made = {name: bar(name, *ends) for name, ends in parts.items()}
    whole = b3.Compound(label="assembly", children=[solid for solid, _ in made.values()])
    b3.export_step(whole, str(folder / "a.step"))
    read = ts.read(folder / "a.step", densities=DENSITY, joints={"unit": "mm", "joints": joints})
    worst = 0.0
    for name, (_, (mass, center, J)) in made.items():
        body = read.model[name]
        worst = max(
            worst, abs(float(body.mass) / mass - 1), np.abs(numbers(body.start_position).ravel() - center).max()
        )
        R = numbers(body.start_rotation)
        found = R @ numbers(body.inertia) @ R.T
        worst = max(worst, np.abs(found - J).max() / np.abs(J).max())
    return worst, read.freedom if hasattr(read, "freedom") else read.summary()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, parts, joints, freedom in assemblies():
        with tempfile.TemporaryDirectory() as folder:
            error, found = measure(parts, joints, pathlib.Path(folder))
        print(f"{name:14} inertia error {error:.1e}   freedom expected {freedom}: {found}", flush=True)
