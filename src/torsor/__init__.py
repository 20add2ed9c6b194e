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

from .constraints.conserved import angular_momentum
from .elements import inertia, quantity, shapes
from .elements.quantity import time
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
from .events.actions.assignment import assign, enter, switch
from .events.actions.engage_release import engage, release
from .events.actions.impact import strike
from .events.actions.record_and_end import end, record
from .forces import Force
from .joints import Constraint, Joint
from .model.body import Body, Ground
from .model.model import Model
from .model.parameters import Parameter
from .registry import register, registered
from .tables.read_tables import read_table
from .tables.table import Table, table

if _typing.TYPE_CHECKING:  # for editors and type checkers, which do not see what is found by itself
    from . import cases, testing
    from .analysis.assembly.assembly import assemble
    from .analysis.assembly.range_of_motion import range_of_motion
    from .analysis.kinematics.kinematics import kinematics
    from .analysis.linear.linearise import linearise
    from .analysis.statics.equilibrium import equilibrium
    from .cad.build123d_objects import read_assembly
    from .constraints.backlash import Backlash
    from .constraints.cam import Cam
    from .constraints.conserved import ConservedMomentum
    from .constraints.contact import Contact
    from .constraints.coupling import Coupling
    from .constraints.elementary import Distance, FixedPoint, Holonomic, Nonholonomic, NoRotation, PointOnPlane
    from .constraints.gear import Gear
    from .constraints.imposed import AngularVelocity, Drive, Motion
    from .constraints.limit import Limit
    from .constraints.lock import Lock
    from .constraints.planetary import Differential, HarmonicDrive, Planetary
    from .constraints.rack import Rack, ScrewDrive
    from .constraints.rolling import DiskOnPlane, KnifeEdge, RollingDisk, RollingSphere, Wheel
    from .constraints.slot import Slot
    from .constraints.weld import Weld
    from .dynamics.compiled_model import compile
    from .dynamics.export_c import export_c
    from .events import actions
    from .events.controller import Controller
    from .exchange import read
    from .exchange.writers.export_robot import export_robot
    from .fmi.export_fmu import export_fmu
    from .fmus.fmu import FMU
    from .forces.buoyancy import Buoyancy
    from .forces.bushing import Attraction, Bushing
    from .forces.cables.belt import Belt
    from .forces.cables.cable import Cable
    from .forces.cables.cable_part import BeltPart, CablePart
    from .forces.cables.pulley import Pulley
    from .forces.central_gravity import CentralGravity
    from .forces.contact_group import ContactGroup
    from .forces.cosine_torque import CosineTorque
    from .forces.cutoff_spring import CutoffSpring
    from .forces.dc_motor import DCMotor
    from .forces.drag import Drag
    from .forces.friction import Breakable, Clutch, Friction
    from .forces.hydraulic_cylinder import HydraulicCylinder
    from .forces.loads_and_springs import EnergyForce, JointForce, PointForce, SpringDamper, Torque, TorsionSpring
    from .forces.magnets import Magnets
    from .forces.one_sided import OneSided
    from .forces.position_servo import PositionServo
    from .forces.shape_contacts.compliant_contact import CompliantContact
    from .forces.shape_contacts.convex_polyhedron import ConvexPolyhedron
    from .forces.shape_contacts.exact_contact import ExactContact, ExactTouch
    from .forces.tendon import Tendon
    from .forces.torque_motor import TorqueMotor
    from .forces.tyres.tyre import Tyre
    from .forces.velocity_servo import VelocityServo
    from .forces.wing import Wing
    from .joints.cylindrical import Cylindrical
    from .joints.fixed import Fixed
    from .joints.free import Free
    from .joints.planar import Planar
    from .joints.planar_translation import PlanarTranslation
    from .joints.prismatic import Prismatic
    from .joints.revolute import Revolute
    from .joints.schoenflies import Schoenflies
    from .joints.screw import Screw
    from .joints.spatial_translation import SpatialTranslation
    from .joints.spherical import Spherical
    from .joints.universal import Universal
    from .look.plots import plot
    from .look.report import describe as info
    from .look.topology_plot import plot_graph
    from .methods.projections import Baumgarte, Independent, LeastSquares, Partition, Post
    from .methods.projections.weighted import Weighted
    from .run.events.actions.kick import kick
    from .simulation import resume, simulate
    from .simulations import Simulations
    from .stepping import Simulation, load_state, save_state
    from .store.component import interface, load_component, save_component
    from .store.flat_table import to_pandas
    from .store.model_files.json_schema import model_schema
    from .store.model_files.save_model import save_model
    from .store.model_files.update_model import update_model
    from .store.result_files import load_result, save_result
    from .studies.study import study
    from .tables.cam_lift import cam_lift
    from .viewer.html_file import save_html
    from .viewer.movie import movie
    from .viewer.picture import picture
    from .viewer.show import view

__version__ = "0.2.0"
__all__ = [
    "AccuracyWarning", "Action", "AngularVelocity", "AssemblyError", "Backlash", "Baumgarte", "Body", "Breakable",
    "Clutch", "CompliantContact", "ConservedMomentum", "Constraint", "Contact", "ContactGroup", "Controller", "ConvexPolyhedron",
    "CosineTorque", "CutoffSpring", "Cylindrical", "DiskOnPlane", "Distance", "Drive", "EnergyForce", "Event", "ExactContact",
    "ExactTouch", "FMU", "Fixed", "FixedPoint", "Force", "Free", "Friction", "Gravity", "Ground", "HintWarning",
    "Holonomic", "Independent", "Joint", "JointForce", "KnifeEdge",
    "LeastSquares", "Limit", "Lock", "Model", "ModelError", "Motion", "NoProjection", "NoRotation", "Nonholonomic",
    "OneSided", "OptionError", "Parameter", "Partition", "Planar", "PlanarTranslation", "PointForce", "PointOnPlane",
    "Post", "Prismatic", "ResultError", "Revolute", "RollingDisk", "RollingSphere", "RunError", "Schoenflies",
    "Screw", "Simulation", "Simulations", "Slot", "SpatialTranslation", "Spherical", "Spring", "SpringDamper", "SymbolError",
    "Table", "TimingWarning", "Torque", "TorsionSpring", "TorsorError", "Universal", "Weighted", "Weld", "Wheel",
    "actions", "angular_momentum", "assemble", "assign", "cases", "compile", "crossing", "end", "engage", "enter",
    "equilibrium", "export_c", "export_fmu", "export_robot",
    "falling", "inertia", "info", "interface", "kick", "kinematics", "linearise",
    "load_component", "load_result", "load_state", "model_schema", "movie", "picture", "plot", "plot_graph",
    "range_of_motion", "read", "read_assembly", "read_table", "record", "register",
    "registered", "release", "resume", "rising", "save_component", "save_html", "save_model", "save_result", "save_state",
    "shapes", "simulate", "strike", "study", "switch", "table", "testing", "time", "to_pandas", "update_model", "view",
    "Attraction", "Belt", "BeltPart", "Cam", "cam_lift", "Bushing", "Cable", "CablePart", "Pulley",
    "Coupling", "Differential", "Gear", "HarmonicDrive", "Planetary",
    "Rack", "ScrewDrive",
    "Buoyancy", "CentralGravity", "Drag", "HydraulicCylinder", "Magnets", "Tendon", "Wing",
    "DCMotor", "PositionServo", "TorqueMotor", "Tyre", "VelocityServo",
]  # fmt: skip

_LAZY = {  # what needs heavy dependencies is imported when it is first used
    "simulate": ("simulation", "simulate"),
    "resume": ("simulation", "resume"),
    "Simulation": ("stepping", "Simulation"),
    "Simulations": ("simulations", "Simulations"),
    "save_state": ("stepping", "save_state"),
    "load_state": ("stepping", "load_state"),
    "study": ("studies.study", "study"),
    "compile": ("dynamics.compiled_model", "compile"),
    "export_c": ("dynamics.export_c", "export_c"),
    "export_fmu": ("fmi.export_fmu", "export_fmu"),
    "export_robot": ("exchange.writers.export_robot", "export_robot"),
    "equilibrium": ("analysis.statics.equilibrium", "equilibrium"),
    "linearise": ("analysis.linear.linearise", "linearise"),
    "assemble": ("analysis.assembly.assembly", "assemble"),
    "kinematics": ("analysis.kinematics.kinematics", "kinematics"),
    "range_of_motion": ("analysis.assembly.range_of_motion", "range_of_motion"),
    "save_result": ("store.result_files", "save_result"),
    "load_result": ("store.result_files", "load_result"),
    "to_pandas": ("store.flat_table", "to_pandas"),
    "save_html": ("viewer.html_file", "save_html"),
    "view": ("viewer.show", "view"),
    "picture": ("viewer.picture", "picture"),
    "movie": ("viewer.movie", "movie"),
    "save_component": ("store.component", "save_component"),
    "load_component": ("store.component", "load_component"),
    "read_assembly": ("cad.build123d_objects", "read_assembly"),
    "model_schema": ("store.model_files.json_schema", "model_schema"),
    "update_model": ("store.model_files.update_model", "update_model"),
    "save_model": ("store.model_files.save_model", "save_model"),
    "interface": ("store.component", "interface"),
    "read": ("exchange", "read"),
    "Pulley": ("forces.cables.pulley", "Pulley"),
    "ConvexPolyhedron": ("forces.shape_contacts.convex_polyhedron", "ConvexPolyhedron"),
    "cam_lift": ("tables.cam_lift", "cam_lift"),
    "plot": ("look.plots", "plot"),
    "info": ("look.report", "describe"),
    "plot_graph": ("look.topology_plot", "plot_graph"),
    "actions": ("events.actions", None),
    "cases": ("cases", None),
    "testing": ("testing", None),
}
_ALIASES = {"save": "save_result", "load": "load_result"}  # former names, which still work and are not listed
_MEANT = {  # what people look for under other names
    "run": "ts.simulate(model, until) runs a model, ts.Simulation(model) step by step",
    "solve": "ts.simulate(model, until) runs a model; ts.equilibrium and ts.assemble find states of it",
    "integrate": "ts.simulate(model, until) runs a model",
    "damper": "ts.SpringDamper, ts.Spring and ts.TorsionSpring take damping=…",
    "Damper": "ts.SpringDamper, ts.Spring and ts.TorsionSpring take damping=…",
    "Hinge": "ts.Revolute turns about an axis", "Slider": "ts.Prismatic slides along an axis",
    "Ball": "ts.Spherical is a ball joint",
    "table_of": "ts.to_pandas(data) returns a flat table",
    "World": "model.ground is the world", "System": "ts.Model describes a mechanism",
    "step": "ts.Simulation(model).advance(dt) goes on step by step",
    "load_model": "ts.read(file).model is the model of a file: YAML that ts.save_model wrote, URDF, MJCF",
}  # fmt: skip
_BY_CLASS = ("joint", "constraint", "force", "rule", "projection")  # kinds whose classes are public under their names


def _registered_names() -> dict[str, _typing.Any]:
    """What is public because it is registered in the package: classes by name, actions by the functions of their keys."""
    from sys import modules

    ours = lambda kind: [c for c in registered(kind).values() if c.__module__.startswith(f"{__name__}.")]
    found = {cls.__name__: cls for kind in _BY_CLASS for cls in ours(kind)}
    makers = [(cls.key.replace("-", "_"), modules[cls.__module__]) for cls in ours("action")]
    return found | {name: getattr(module, name) for name, module in makers if hasattr(module, name)}


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    name = _ALIASES.get(name, name)
    if name in _LAZY:
        module, attribute = _LAZY[name]
        found = import_module(f".{module}", __name__)
        found = getattr(found, attribute) if attribute else found
    elif name.startswith("_") or name not in (known := _registered_names()):
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
    """Public names, and classes and actions that are registered besides."""
    return sorted({*__all__, *_registered_names(), *(name for name in globals() if name.startswith("__"))})


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


def _html_of(thing: _typing.Any) -> str:
    """A model, an equilibrium or a linear model as a notebook shows it."""
    from .viewer.notebook_cards import html_of

    return html_of(thing)


Model.html_writer = staticmethod(_html_of)


def _watch_exit() -> None:
    """Tell other ranks when this process ends, where MPI has started it: they would wait for it (`parallel/mpi_processes.py`)."""
    if {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"} & _os.environ.keys():
        from .parallel.mpi_processes import watch_exit

        watch_exit()


_watch_exit()


def _watch_notebook() -> None:
    """Show results with their picture, where this process is the kernel of a notebook."""
    if "IPython" in _sys.modules:
        from .viewer.notebook_view import show_results_in_notebook

        show_results_in_notebook()


_watch_notebook()
