"""torsor: multibody dynamics on Lie groups.

import torsor as ts
model = ts.Model("pendulum", gravity=(0, 0, -9.81))
...
data = ts.simulate(model, until=10)
"""

from . import inertia
from .action import Action, assign, end, engage, enter, record, release, strike, switch
from .errors import (
    AccuracyWarning,
    AssemblyError,
    ModelError,
    OptionError,
    ResultError,
    RunError,
    SymbolError,
    TorsorError,
)
from .event import Event, crossing, falling, rising
from .forces import (
    Breakable,
    Clutch,
    CosineTorque,
    EnergyForce,
    Force,
    Friction,
    JointForce,
    PointForce,
    SpringDamper,
    Torque,
    TorsionSpring,
)
from .joints import (
    AngularVelocity,
    Backlash,
    ConservedMomentum,
    Constraint,
    Contact,
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
    Limit,
    Lock,
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
    Slot,
    Spherical,
    Universal,
    Weld,
    Wheel,
    angular_momentum,
)
from .model import Body, Ground, Model, Parameter
from .quantity import time
from .registry import register, registered

__version__ = "0.1.0"

_LAZY = {
    "simulate": ("simulation", "simulate"),
    "resume": ("simulation", "resume"),
    "compile": ("run.dynamics", "compile"),
    "save": ("look.files", "save"),
    "load": ("look.files", "load"),
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


def __dir__():
    return sorted({*globals(), *_LAZY})
