"""torsor: multibody dynamics on Lie groups.

import torsor as ts
model = ts.Model("pendulum", gravity=(0, 0, -9.81))
...
data = ts.simulate(model, until=10)
"""

import os as _os
import sys as _sys
import types as _types
import typing as _typing

from .describe import inertia, quantity
from .describe.body import Body, Ground
from .describe.model import Model
from .describe.parameters import Parameter
from .describe.quantity import time
from .errors import (
    AccuracyWarning,
    AssemblyError,
    HintWarning,
    ModelError,
    OptionError,
    ResultError,
    RunError,
    SymbolError,
    TimingWarning,
    TorsorError,
)
from .events import Event, crossing, falling, rising
from .events.actions import Action
from .events.actions.holding import engage, release
from .events.actions.setting import assign, enter, switch
from .events.actions.striking import strike
from .events.actions.telling import end, record
from .forces import Force
from .joints import Constraint, Joint
from .joints.conserved import angular_momentum
from .registry import register, registered
from .tables.reading import read_table
from .tables.table import Table, table

if _typing.TYPE_CHECKING:  # for editors and type checkers, which do not see what is found by itself
    from . import cases, testing
    from .analysis.assembly import assemble
    from .analysis.equilibrium import equilibrium
    from .analysis.kinematics import kinematics
    from .analysis.linearise import linearise
    from .analysis.reach import range_of_motion
    from .events.controller import Controller
    from .exchange import read
    from .forces.cosine_torque import CosineTorque
    from .forces.cutoff_spring import CutoffSpring
    from .forces.friction import Breakable, Clutch, Friction
    from .forces.laws import EnergyForce, JointForce, PointForce, SpringDamper, Torque, TorsionSpring
    from .forces.onesided import OneSided
    from .joints.backlash import Backlash
    from .joints.conserved import ConservedMomentum
    from .joints.contact import Contact
    from .joints.cylindrical import Cylindrical
    from .joints.elementary import Distance, FixedPoint, Holonomic, Nonholonomic, NoRotation, PointOnPlane
    from .joints.fixed import Fixed
    from .joints.free import Free
    from .joints.imposed import AngularVelocity, Drive, Motion
    from .joints.limit import Limit
    from .joints.lock import Lock
    from .joints.planar import Planar
    from .joints.planar_translation import PlanarTranslation
    from .joints.prismatic import Prismatic
    from .joints.revolute import Revolute
    from .joints.rolling import DiskOnPlane, KnifeEdge, RollingDisk, RollingSphere, Wheel
    from .joints.schoenflies import Schoenflies
    from .joints.screw import Screw
    from .joints.slot import Slot
    from .joints.spatial_translation import SpatialTranslation
    from .joints.spherical import Spherical
    from .joints.universal import Universal
    from .joints.weld import Weld
    from .look.graph import plot_graph
    from .look.plots import plot
    from .look.report import describe as info
    from .methods.projections import Baumgarte, Independent, LeastSquares, Partition, Post
    from .run.dynamics import compile
    from .simulation import resume, simulate
    from .stepping import Simulation, load_state
    from .store.component import interface, load_component, save_component
    from .store.files import load, save
    from .store.table import table_of
    from .studies.study import study

__version__ = "0.1.0"

_LAZY = {  # what needs heavy dependencies is imported when it is first used
    "simulate": ("simulation", "simulate"),
    "resume": ("simulation", "resume"),
    "Simulation": ("stepping", "Simulation"),
    "load_state": ("stepping", "load_state"),
    "study": ("studies.study", "study"),
    "compile": ("run.dynamics", "compile"),
    "equilibrium": ("analysis.equilibrium", "equilibrium"),
    "linearise": ("analysis.linearise", "linearise"),
    "assemble": ("analysis.assembly", "assemble"),
    "kinematics": ("analysis.kinematics", "kinematics"),
    "range_of_motion": ("analysis.reach", "range_of_motion"),
    "save": ("store.files", "save"),
    "load": ("store.files", "load"),
    "table_of": ("store.table", "table_of"),
    "save_component": ("store.component", "save_component"),
    "load_component": ("store.component", "load_component"),
    "interface": ("store.component", "interface"),
    "read": ("exchange", "read"),
    "plot": ("look.plots", "plot"),
    "info": ("look.report", "describe"),
    "plot_graph": ("look.graph", "plot_graph"),
    "cases": ("cases", None),
    "testing": ("testing", None),
}
_MEANT = {  # what people look for under other names
    "run": "ts.simulate(model, until) runs a model, ts.Simulation(model) step by step",
    "solve": "ts.simulate(model, until) runs a model; ts.equilibrium and ts.assemble find states of it",
    "integrate": "ts.simulate(model, until) runs a model",
    "damper": "ts.SpringDamper, ts.Spring and ts.TorsionSpring take damping=…",
    "Damper": "ts.SpringDamper, ts.Spring and ts.TorsionSpring take damping=…",
    "Hinge": "ts.Revolute turns about an axis", "Slider": "ts.Prismatic slides along an axis",
    "Ball": "ts.Spherical is a ball joint",
    "World": "model.ground is the world", "System": "ts.Model describes a mechanism",
    "step": "ts.Simulation(model).advance(dt) goes on step by step", "load_model": "ts.read reads files of other programs",
}  # fmt: skip
_BY_CLASS = ("joint", "constraint", "force", "rule", "projection")  # kinds whose classes are public under their names


def _registered() -> dict[str, _typing.Any]:
    """What is public because it is registered in the package: classes by name, actions by the functions of their keys."""
    from sys import modules

    ours = lambda kind: [c for c in registered(kind).values() if c.__module__.startswith(f"{__name__}.")]
    found = {cls.__name__: cls for kind in _BY_CLASS for cls in ours(kind)}
    makers = [(cls.key.replace("-", "_"), modules[cls.__module__]) for cls in ours("action")]
    return found | {name: getattr(module, name) for name, module in makers if hasattr(module, name)}


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _LAZY:
        module, attribute = _LAZY[name]
        found = import_module(f".{module}", __name__)
        found = getattr(found, attribute) if attribute else found
    elif name.startswith("_") or name not in (known := _registered()):
        raise AttributeError(f"module 'torsor' has no attribute {name!r}{_instead(name)}")
    else:
        found = known[name]
    globals()[name] = found
    return found


def _instead(name: str) -> str:
    """What to write instead of a name that does not exist, as the end of a message."""
    from difflib import get_close_matches

    if name.startswith("_"):
        return ""
    if name in _MEANT:
        return f". {_MEANT[name]}"
    close = get_close_matches(name, __dir__(), n=1)
    hidden = f". torsor.{name} is an internal module" if f"{__name__}.{name}" in _sys.modules else ""
    return hidden + (f". Did you mean {close[0]!r}?" if close else "")


def __dir__() -> list[str]:
    return sorted(
        {name for name, value in globals().items() if not _is_internal(name, value)} | {*_LAZY, *_registered()}
    )


def _is_internal(name: str, value: _typing.Any) -> bool:
    """True if a value is a module of this package that is not public."""
    return isinstance(value, _types.ModuleType) and value.__name__ == f"{__name__}.{name}" and name not in _LAZY


class _Internal(_types.ModuleType):
    """An internal module, which somebody takes for a function of the same name."""

    def __call__(self, *given, **named):
        name = self.__name__.rpartition(".")[2]
        raise TypeError(f"{self.__name__} is an internal module, no function. {_MEANT.get(name, 'See dir(torsor)')}")


class _Public(_types.ModuleType):
    """This module: Python enters internal modules in it as attributes when they are imported."""

    def __setattr__(self, name, value):
        if _is_internal(name, value):
            value.__class__ = _Internal
        super().__setattr__(name, value)


for _name, _value in list(globals().items()):
    if _is_internal(_name, _value):
        _value.__class__ = _Internal
del _name, _value
_sys.modules[__name__].__class__ = _Public


def _watch_exit() -> None:
    """Tell other ranks when this process ends, where MPI has started it: they would wait for it (`run/processes.py`)."""
    if {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"} & _os.environ.keys():
        from .run.processes import watch_exit

        watch_exit()


_watch_exit()
