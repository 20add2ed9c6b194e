"""torsor: multibody dynamics on Lie groups.

import torsor as ts
model = ts.Model("pendulum", gravity=(0, 0, -9.81))
...
data = ts.simulate(model, until=10)
"""

from . import inertia
from .errors import AssemblyError, ModelError, OptionError, ResultError, RunError, TorsorError
from .forces import CosineTorque, EnergyForce, Force, JointForce, PointForce, SpringDamper, Torque, TorsionSpring
from .joints import (
    AngularVelocity,
    ConservedMomentum,
    Constraint,
    Cylindrical,
    DiskOnPlane,
    Distance,
    Drive,
    Fixed,
    FixedPoint,
    Free,
    Holonomic,
    Joint,
    KnifeEdge,
    Motion,
    Nonholonomic,
    NoRotation,
    Planar,
    PointOnPlane,
    Prismatic,
    Revolute,
    RollingDisk,
    RollingSphere,
    Screw,
    Spherical,
    Universal,
    Wheel,
    angular_momentum,
)
from .model import Body, Ground, Model, Parameter
from .quantity import time
from .registry import register, registered

__version__ = "0.1.0"

_LAZY = {
    "simulate": ("simulation", "simulate"),
    "compile": ("run.dynamics", "compile"),
    "save": ("look.dataset", "save"),
    "load": ("look.dataset", "load"),
    "read": ("exchange", "read"),
    "plot": ("look.plots", "plot"),
    "info": ("look.report", "describe"),
    "plot_graph": ("look.graph", "plot_graph"),
    "Baumgarte": ("run.projections", "Baumgarte"),
    "LeastSquares": ("run.projections", "LeastSquares"),
    "Partition": ("run.projections", "Partition"),
    "cases": ("cases", None),
}


def __getattr__(name):
    """What needs heavy dependencies is imported when it is first used."""
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module 'torsor' has no attribute {name!r}")
    module, attribute = _LAZY[name]
    found = import_module(f".{module}", __name__)
    found = getattr(found, attribute) if attribute else found
    globals()[name] = found
    return found
