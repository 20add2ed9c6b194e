"""A component alone on a bench: its ports are held, driven or loaded; those that are not named are left free."""

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca

from ..constraints.imposed import Drive, of_time
from ..constraints.lock import Lock
from ..constraints.weld import Weld
from ..elements import quantity
from ..elements.quantity import Rotation, Vector
from ..errors import ModelError
from ..forces.loads_and_springs import JointForce, PointForce, Torque
from ..joints import Joint
from ..joints.fixed import Fixed
from ..joints.spherical import Spherical
from ..lie import se3
from ..model.body import Body, Frame, Ground, Placed
from ..model.model import Model

PART = "part"  # the name of the component on its bench


def bench(
    component: Model,
    held: Iterable[str] | str = (),
    driven: Mapping[str, Any] | None = None,
    loaded: Mapping[str, Any] | None = None,
    gravity: Vector | None = None,
    at: Vector = (0, 0, 0),
    rotation: Rotation | None = None,
    **parameters: Any,
) -> Model:
    """A new model in which the component is included as `part`, with its ports attached.

    held        ports that stay where they start. A joint keeps its coordinates
    driven      by port, its motion: a displacement [m] of three components, or six with a rotation vector [rad] about the port,
                both from where it starts, in world axes; {"position": …} moves the port and leaves it free to turn. A joint
                follows a value of its coordinate
    loaded      by port, a force [N] of three components that acts in it, or six with a torque [N m], in world axes;
                {"torque": …} alone. A joint gets a force or torque along its coordinate
    gravity     that of the component, unless given
    at, rotation, parameters   as in `Model.include`

    Motions and loads are numbers, expressions of `torsor.time`, or functions of time. Names are `part.…` for what the component
    has, and `PORT_held`, `PORT_driven` (joints whose reaction is what the port feels), `PORT_force`, `PORT_torque`.
    """
    if not isinstance(component, Model):
        raise ModelError(f"bench: give a component, a torsor.Model with ports, got {quantity.show(component)}")
    held, driven, loaded = _parse_ports(component, held, driven, loaded)
    model = Model("bench", gravity=_gravity(component) if gravity is None else gravity, hints=False)  # all may be held
    part = model.include(PART, component, at=at, rotation=rotation, **parameters)
    moved = any(joint.start is not None for joint in model.joints)  # then the start is not the reference configuration
    for port in held:
        _Port(model, part, port, moved).hold()
    for port, motion in driven.items():
        _Port(model, part, port, moved).drive(motion)
    for port, load in loaded.items():
        _Port(model, part, port, moved).load(load)
    return model


def _parse_ports(component, held, driven, loaded):
    """What is to be done with which port; refused where there is no such port, or two motions for one."""
    held = [held] if isinstance(held, str) else held
    if not isinstance(held, Iterable) or isinstance(held, Mapping):
        raise ModelError(f"bench: held must be names of ports, got {quantity.show(held)}")
    for what, given in (("driven", driven), ("loaded", loaded)):
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(f"bench: {what} must be a dictionary by names of ports, got {quantity.show(given)}")
    held, driven, loaded = list(dict.fromkeys(held)), dict(driven or {}), dict(loaded or {})
    for port in [*held, *driven, *loaded]:
        if port not in component.ports:
            known = ", ".join(component.ports) or "none"
            raise ModelError(f"bench: component {component.name!r} has no port {quantity.show(port)}. Ports: {known}.")
    for port in held:
        if port in driven:
            raise ModelError(f"bench: port {port!r} of {component.name!r} is held and driven; it can be one of both")
    return held, driven, loaded


def _gravity(component):
    """The component's own gravity, with its parameters as numbers."""
    g = component.gravity
    entries = list(component.parameters.values())
    return ca.substitute([g], [x.symbol for x in entries], [ca.SX(x.value) for x in entries])[0] if entries else g


class _Port:
    """A port of the component on the bench: a joint, or a frame of a body.

    moved   whether joints start with coordinates of their own: what holds the port then holds what it finds
    """

    def __init__(self, model, part, name, moved):
        self.model, self.name, self.moved = model, name, moved
        self.owner, thing = f"bench: port {name!r}", getattr(part, name)
        self.joint: Any = thing if isinstance(thing, Joint) else None
        self.frame = thing.frame() if isinstance(thing, Placed) else thing
        on_body = isinstance(self.frame, Frame) and isinstance(self.frame.body, Body)
        if self.joint is None and not on_body:
            raise ModelError(
                f"{self.owner}: only bodies, frames of bodies and joints can be held, driven or loaded; this port is "
                f"{quantity.show(thing)}"
            )
        if on_body:
            self.body, pose = self.frame.body, self.frame.pose
            self.turn, self.arm = se3.split_pose(pose)
            if isinstance(thing, Placed):  # a body is taken at its centre of mass
                self.frame, self.arm = Frame(self.body, ca.SX.eye(4)), ca.SX.zeros(3)

    def hold(self):
        if self.joint is not None:
            for k in range(self.joint.dof):
                self.model.add(Lock(self._of("held", k), self.joint, index=k))
        elif self.moved:
            self.model.add(Weld(self._of("held"), self.model.ground, self.body, frames=self._frames(self.model.ground)))
        else:
            ground = Ground(f"{self.name}_stand", *self._pose())
            self._fix("held", self.model.add(ground))

    def drive(self, motion):
        if self.joint is not None:
            for k, value in enumerate(self._per_coordinate(motion)):
                self.model.add(Drive(self._of("driven", k), self.joint, value, index=k))
            return
        shift, turn = self._parts(motion, "motion", ("position", "rotation"))
        x, R = self._pose()
        if turn is not None:
            R = quantity.rotation_matrix(turn, "rotation", self.owner) @ R
        ground = self.model.add(Ground(f"{self.name}_stand", x if shift is None else x + shift, R))
        if isinstance(motion, Mapping) and turn is None:
            self.model.add(Spherical(self._of("driven"), ground, self.body, frames=(ground.frame(), self.frame)))
        else:
            self._fix("driven", ground)

    def load(self, load):
        if self.joint is not None:
            for k, value in enumerate(self._per_coordinate(load)):
                self.model.add(
                    JointForce(self._of("force", k), self.joint, of_time(value, "force", self.owner), index=k)
                )
            return
        force, torque = self._parts(load, "load", ("force", "torque"))
        if force is not None:
            self.model.add(PointForce(self._of("force"), self.body, force=force, arm=self.arm))
        if torque is not None:
            self.model.add(Torque(self._of("torque"), self.body, torque=torque))

    def _fix(self, how, ground):
        kind = Weld if self.moved else Fixed
        self.model.add(kind(self._of(how), ground, self.body, frames=(ground.frame(), self.frame)))

    def _frames(self, ground):
        x, R = self._pose()
        return ground.frame(x, R), self.frame

    def _of(self, how, k=0):
        """The name of what attaches the port."""
        several = self.joint is not None and self.joint.dof > 1
        return f"{self.name}_{how}{k if several else ''}"

    def _pose(self):
        """Where the port is in the reference configuration."""
        body = self.body
        return body.start_position + body.start_rotation @ self.arm, body.start_rotation @ self.turn

    def _parts(self, given, what, names):
        """Two vectors of three components, None where nothing is said."""
        if isinstance(given, Mapping):
            if unknown := sorted(set(given) - set(names), key=str):
                raise ModelError(f"{self.owner}: a {what} has {' and '.join(names)}, not {quantity.show(unknown[0])}")
            parts = [given.get(name) for name in names]
            return [None if x is None else self._vector(x, name) for x, name in zip(parts, names)]
        value = quantity.column(of_time(given, what, self.owner), what, self.owner)
        if value.shape[0] not in (3, 6):
            raise ModelError(f"{self.owner}: a {what} has three components ({names[0]}) or six ({', '.join(names)})")
        return value[:3], value[3:] if value.shape[0] == 6 else None

    def _vector(self, given, what):
        return quantity.vector(of_time(given, what, self.owner), what, self.owner)

    def _per_coordinate(self, given):
        """One value for each coordinate of a joint."""
        value = quantity.column(of_time(given, "value", self.owner), "value", self.owner)
        if value.shape[0] != self.joint.dof:
            raise ModelError(
                f"{self.owner}: joint {self.joint.name!r} has {self.joint.dof} coordinates, {value.shape[0]} values are given"
            )
        return [value[k] for k in range(value.shape[0])]
