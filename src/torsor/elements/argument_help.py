"""Explanations of arguments that many elements have. They are added to the docstrings of classes that do not explain them."""

import re

WORKED_OUT = "worked out when the element is added; leave it out"
ARGUMENTS = {
    "name": "under which the element is known in its model",
    "first": "a body or a ground, or its name",
    "second": "a body, which moves relative to the first, or its name",
    "body": "on which it acts, or its name",
    "bodies": "on which it acts: a list of bodies or names",
    "joint": "on whose coordinate it acts, or its name",
    "index": "which coordinate of the joint, from 0",
    "other_index": "which coordinate of the other joint, from 0",
    "point": "where, in the world, in the reference configuration; default: the centre of mass of the second body [m]",
    "points": "two points, one of each body, in the world, in the reference configuration; default: the centres of mass [m]",
    "length": "of the spring without force; default: the distance in the reference configuration [m]",
    "frames": "instead of points: a frame of the first and a frame of the second body, `body.frame(…)`",
    "start": "joint coordinates at the start, where they differ from the reference configuration [m or rad]",
    "start_rate": "joint velocities at the start [m/s or rad/s]",
    "axis": "a direction in the world, in the reference configuration: three numbers, or 'x', '-y' …",
    "second_axis": "the axis that is fixed in the second body, likewise",
    "cut": "for joint coordinates: True, it closes a loop; False, it is in the spanning tree; None, that is chosen",
    "armature": "inertia along each coordinate that is no part of a body: of a rotor, times its ratio squared [kg m² or kg]",
    "limits": "stops (lower, upper), None for none on a side; a list of pairs where it has several coordinates [rad or m]",
    "spring": "stiffness of a spring that is at rest where q = 0, or a function of q: the torque or force against it",
    "friction": "torque or force of dry friction [N m or N]",
    "normal": "a direction across the plane, fixed in the first body: three numbers, or 'x', '-y' …",
    "about": "one to three vectors, fixed in the first body, about which the second does not turn",
    "radius": "of the body that rolls or touches [m]",
    "contact": "whether the row along the normal belongs to it",
    "restitution": "of impacts, from 0 (none) to 1 (elastic)",
    "expression": "of signals, kept at zero",
    "value": "an expression of signals, or a number",
    "at": "path of the centre of mass, an expression of time [m]",
    "rotation": "path of the orientation, an expression of time: matrix, quaternion or rotation vector",
    "acceleration": "of gravity [m/s²]",
    "axes": "'world' or 'body': in which axes the components are given",
    "torque": "three components [N m]",
    "amplitude": "largest torque or force [N m or N]",
    "frequency": "oscillations per second [Hz]",
    "phase": "at t = 0 [rad]",
    "stiffness": "force per displacement [N/m, or N m/rad]",
    "damping": "force per velocity [N s/m, or N m s/rad]",
    "rest": "the coordinate without force [m or rad]",
    "energy": "potential energy, an expression of positions, joint coordinates and time [J]",
    "dissipated": "dissipation function D, half of the power that is lost, an expression of velocities [W]",
    "period": "between samples [s]",
    "compiled": "whether the law runs as compiled code, without calls of Python",
    "scale": "size of the expression, which tolerances are relative to",
    "backlash": "play of the relation, in its unit; 0: none [m or rad]",
    "efficiency": "share of the power that arrives, above 0, at most 1 [-]",
    "ratio": "turns of the rotor per unit of the coordinate; negative: it turns the other way",
    "inertia": "of the rotor, added along the coordinate times the square of the ratio [kg m²]",
    "thermal_resistance": "between winding and surroundings; None: no temperature [K/W]",
    "thermal_capacity": "of the winding; its temperature above the surroundings is then a state [J/K]",
    "max_torque": "largest torque of the rotor; None: any [N m]",
    "max_speed": "of the rotor, at which the torque that drives is zero; None: any [rad/s]",
    "base_speed": "of the rotor, up to which it has all of its torque [rad/s]",
    "loss": "winding resistance over the square of the torque constant, for the temperature [W/(N m)²]",
    "trusted": WORKED_OUT, "counts": WORKED_OUT, "kinds": WORKED_OUT, "sizes": WORKED_OUT, "places": WORKED_OUT,
    "directions": WORKED_OUT, "formula": WORKED_OUT, "placed": WORKED_OUT, "arm": WORKED_OUT, "arms": WORKED_OUT,
    "height": WORKED_OUT, "found": WORKED_OUT,
}  # fmt: skip


def argument_names(cls: type) -> list[str]:
    """Return the names of the arguments of an element: those of its base classes first, then its own."""
    found: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        for name, kind in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_") and "ClassVar" not in str(kind):
                found[name] = None
    return list(found)


def is_explained(name: str, text: str) -> bool:
    """True if a line of the docstring begins with the name of the argument, alone or in a list of names."""
    return re.search(rf"(^|\n)\s*(\w+, )*`?{name}`?(, \w+)*\s\s", text) is not None


def explain_arguments(cls: type) -> None:
    """Add explanations of the arguments that the docstring of an element does not explain."""
    text = cls.__doc__ if "__doc__" in vars(cls) and cls.__doc__ else ""
    known = [name for name in argument_names(cls) if name in ARGUMENTS and not is_explained(name, text)]
    if text and known:
        width = max(map(len, known)) + 2
        lines = [f"    {name:{width}} {ARGUMENTS[name]}" for name in known]
        cls.__doc__ = text.rstrip() + "\n\n    Arguments:\n\n" + "\n".join(lines) + "\n    "
