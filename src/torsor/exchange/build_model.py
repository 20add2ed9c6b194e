"""A tree of links, read from a file, as a `Model`."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..constraints.elementary import FixedPoint, Holonomic
from ..elements.element import fill_in
from ..errors import ModelError
from ..forces import Force
from ..forces.loads_and_springs import EnergyForce, TorsionSpring
from ..joints.fixed import Fixed
from ..model.instance import Instance
from ..model.model import Model
from .free_names import legal
from .joint_properties import add_properties, armature
from .joint_sequence import combine
from .rigid_groups import group, hold_what_has_no_mass, total
from .robot import Imported, ImportedJoint, Keyframe, Placement, Visual, shapes_of_visuals


def assemble(tree, gravity, options):
    """The model of a tree, with the report of what was left out.

    options: merge_fixed   compose links with fixed joints to one body; otherwise heavy ones stay bodies, held by `Fixed`
             strict        refuse what no machine has (moving links without mass, impossible inertias); otherwise hold or repair it
             limits        joints have stops; friction: joints have dry friction
    """
    return Assembly(tree, gravity, options).build(options.merge_fixed)


class Assembly:
    """One model in the making; nothing of it is seen outside until it is complete."""

    def __init__(self, tree, gravity, options):
        self.tree, self.strict, self.options = tree, options.strict, options
        self.model = Model(legal(tree.name) or "model", gravity=gravity)
        self.homes, self.joints = {}, {}  # by the file's names: Placement, ImportedJoint
        self.visuals, self.bodies = {}, {}  # by body: [Visual]; by lead link: body or ground
        self.sites = {}  # by the file's names: Placement
        self.combined = []  # name of the model's joint, motions of the file, and how they are combined

    def build(self, merge_fixed):
        hold_what_has_no_mass(self.tree, self.strict)
        groups = group(self.tree, merge_fixed)
        for name, members in groups.items():
            self.body(name, members)
        for members in groups.values():
            self.joint(members)
        for closure in self.tree.closures:
            self.close(closure)
        for coupling in self.tree.couplings:
            self.couple(coupling)
        for tie in self.tree.ties:
            self.tie(tie)
        for link in self.tree.links.values():
            self.place_sites(link)
        self.compensate_gravity()
        keyframes = {}
        for name, key in self.tree.keys.items():
            values = self.start_of(key.coordinates, key.rates)
            keyframes[name] = Keyframe(values, inputs=key.inputs, time=key.time)
        found = Imported(self.model, self.tree.notes, self.homes, self.joints, self.visuals, self.sites, keyframes)
        found.start_of = self.start_of
        return found

    # names

    def free_name(self, what, name, where, suffix):
        """A name that the model accepts and does not have yet; reported where it differs from the file's."""
        chosen = legal(name) or suffix
        while chosen in self.model or chosen == "time":
            chosen += f"_{suffix}"
        if chosen != name:
            self.tree.note("renamed", f"{what} {name!r}", f"is {what} {chosen!r} of the model", where)
        return chosen

    def add(self, element, where):
        try:
            return self.model.add(element)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None

    # elements

    def body(self, name, members):
        lead = members.lead
        if members.parent is None and not members.motions:
            self.bodies[name], origin = self.model.ground, np.eye(4)
            self._note_massive_ground(members)
            found = self._visuals(members, origin)
            fill_in(self.model.ground, shape=(self.model.ground.shape or ()) + shapes_of_visuals(found))
        else:
            chosen, origin = self.free_name("body", name, lead.where, "body"), lead.pose
            inertia = total(members.parts, f"body {chosen!r}", self.tree, self.strict)
            found = self._visuals(members, origin)
            placed: dict[str, Any] = {"at": origin[:3, 3], "rotation": origin[:3, :3]}
            try:
                self.bodies[name] = self.model.body(
                    chosen, inertia=inertia, **placed, shape=shapes_of_visuals(found) or None
                )
            except ModelError as error:
                raise ModelError(f"{lead.where}: {error}") from None
        body, back = self.bodies[name], np.linalg.inv(origin)
        for link in members.links:
            H = back @ link.pose
            self.homes[link.name] = Placement(body.name, H[:3, 3], H[:3, :3])
        if found:
            self.visuals.setdefault(body.name, []).extend(found)

    def _visuals(self, members, origin):
        """What the links of a body look like, in the body's frame."""
        found, back = [], np.linalg.inv(origin)
        for link in members.links:
            H = back @ link.pose
            for shape in link.visuals:
                at, R = H[:3, :3] @ shape.at + H[:3, 3], H[:3, :3] @ shape.rotation
                found.append(Visual(**{**vars(shape), "at": at, "rotation": R, "link": link.name}))
        return found

    def _note_massive_ground(self, members):
        heavy = [link.name for link in members.links if link.mass > 0]
        if heavy:
            names = ", ".join(repr(name) for name in heavy)
            message = f"held: the mass of {names} ({members.mass:.6g} kg) plays no part"
            self.tree.note("ignored", "inertial", message, members.lead.where)

    def joint(self, members):
        motions, second = members.motions, self.bodies[members.lead.name]
        if members.parent is None and not motions:
            return
        first = self.model.ground if members.parent is None else self.bodies[members.parent]
        where = motions[0].where if motions else members.lead.where
        if not motions:
            name = self.free_name("joint", members.lead.fixed_by or f"{members.lead.name}_fixed", where, "joint")
            self.add(Fixed(name, first, second, point=members.lead.pose[:3, 3]), where)
            return
        self.connect(motions, first, second, where)

    def connect(self, motions, first, second, where):
        """Add the joint that moves as a sequence of motions does."""
        found = combine(motions, self.size)
        rotor = armature(motions, found, self.tree)
        given = motions[0].joint or "_".join(m.name for m in motions)
        starts = {"start": found.start(motions, "start"), "start_rate": found.start(motions, "rate")}
        name = self.free_name("joint", given, where, "joint")
        joint = self.add(found.kind(name, first, second, **found.arguments, **starts, **rotor), where)
        self.combined.append((name, motions, found))
        if len(motions) > 1 and not motions[0].joint:
            names = ", ".join(repr(m.name) for m in motions)
            message = f"together are {type(joint).__name__.lower()} joint {name!r} of the model"
            self.tree.note("renamed", f"joints {names}", message, where)
        for k, motion in enumerate(motions):
            self.motion(motion, joint, k, found.L if len(motions) > 1 else np.eye(joint.dof), len(motions) == 1)

    def close(self, closure):
        """The joint that closes a loop between two links."""
        for link in closure.links:
            if link not in self.homes:
                raise ModelError(f"{closure.where}: joint {closure.name!r}: link {link!r} has no mass and moves")
        first, second = (self.model[self.homes[link].body] for link in closure.links)
        if first is second:
            message = f"both ends are in {first.name!r}"
            self.tree.note("ignored", f"joint {closure.name!r}", message, closure.where)
        elif closure.motions:
            self.connect(closure.motions, first, second, closure.where)
        else:
            name = self.free_name("joint", closure.name, closure.where, "joint")
            self.add(Fixed(name, first, second), closure.where)

    def place_sites(self, link):
        """The sites of a link: placements in its body, and ports of the model where their names are free."""
        home = self.homes.get(link.name)
        if home is None:
            for name in link.sites:
                self.tree.note("ignored", f"site {name!r}", f"link {link.name!r} has no mass and moves", link.where)
            return
        for name, pose in link.sites.items():
            at, R = home.at + home.rotation @ pose[:3, 3], home.rotation @ pose[:3, :3]
            self.sites[name] = Placement(home.body, at, R)
            if name == legal(name) and name not in self.model and not hasattr(Instance, name) and name != "name":
                self.model.expose(name, self.model[home.body].frame(at, R))

    def compensate_gravity(self):
        """U = Σ m g·x of masses whose weight the file compensates."""
        energy, g = 0.0, self.model.gravity
        for link in self.tree.links.values():
            home = self.homes.get(link.name)
            for mass, place in link.lifted:
                if home is None:
                    continue
                body = self.model[home.body]
                if body is not self.model.ground:
                    energy += mass * ca.dot(g, body.point(home.at + home.rotation @ place))
        if not isinstance(energy, float) and g.nnz() and not g.is_zero():
            name = self.free_name("force", "gravity_compensation", self.tree.file, "force")
            self.add(EnergyForce(name, energy=energy), self.tree.file)

    def start_of(self, coordinates, rates):
        """Values by name for `start=`, from coordinates and rates by the names of the file's joints."""
        values = Keyframe()
        for name, motions, found in self.combined:
            there = [
                replace(m, start=coordinates.get(m.name, m.start), rate=rates.get(m.name, m.rate)) for m in motions
            ]
            for label, value in ((name, found.start(there, "start")), (f"{name}.rate", found.start(there, "rate"))):
                if value is not None:
                    values[label] = value if len(value) > 1 else float(value[0])
        return values

    def motion(self, motion, joint, k, L, alone):
        """What a joint of the file is in terms of the model's joint, and the spring and the damper on it."""
        if alone:
            q, v = joint.coordinate, joint.rate
        elif L is None:
            q = v = None
            message = f"has no angle of its own in the spherical joint {joint.name!r}"
            self.tree.note("approximated", f"joint {motion.name!r}", message, motion.where)
        else:
            q, v = (sum(a * x[i] for i, a in enumerate(L[k]) if a) for x in (joint.coordinate, joint.rate))
        self.joints[motion.name] = ImportedJoint(joint, q, v, motion.limits)
        add_properties(self, motion, joint, None if alone else L, k)
        if not (motion.stiffness or motion.damping):
            return
        if q is None or motion.kind == "planar":
            message = f"stiffness {motion.stiffness:g} and damping {motion.damping:g} are not simulated"
            self.tree.note("ignored", f"joint {motion.name!r}", message, motion.where)
            return
        self.spring(motion, joint, q, v, alone)

    def spring(self, motion, joint, q, v, alone):
        """½ k |q − q₀|² and ½ c |v|²."""
        k, c = motion.stiffness, motion.damping
        if min(k, c) < 0:
            raise ModelError(f"{motion.where}: joint {motion.name!r}: stiffness and damping must not be negative")
        given = f"{legal(motion.name)}_{'spring' if k else 'damper'}"
        name = self.free_name("force", given, motion.where, "force")
        if motion.dof == 1 and alone:
            force: Force = TorsionSpring(name, joint, stiffness=k, damping=c, rest=motion.rest)
        else:
            stretch = q - motion.rest if motion.dof == 1 else q
            force = EnergyForce(name, energy=0.5 * k * stretch.T @ stretch, dissipated=0.5 * c * v.T @ v)
        self.add(force, motion.where)

    def couple(self, coupling):
        """0 = y − Σ aₖ xᵏ."""
        follower, leader = self.joints.get(coupling.follower), self.joints.get(coupling.leader)
        element = f"coupling {coupling.name!r}"
        if follower is None:
            self.tree.note("ignored", element, f"joint {coupling.follower!r} does not move", coupling.where)
            return
        angles = [j.coordinate for j in (follower, leader) if j is not None]
        if any(q is None or q.shape != (1, 1) for q in angles):
            message = "joints that follow each other must have one coordinate each"
            raise ModelError(f"{coupling.where}: {element}: {message}")
        x = 0.0 if leader is None else leader.coordinate
        if leader is None and coupling.leader is not None:
            message = f"joint {coupling.leader!r} does not move; {coupling.follower!r} is held"
            self.tree.note("approximated", element, message, coupling.where)
        expression = follower.coordinate - sum(a * x**k for k, a in enumerate(coupling.coefficients) if a)
        name = self.free_name("constraint", coupling.name, coupling.where, "constraint")
        self.add(Holonomic(name, expression), coupling.where)

    def tie(self, tie):
        element = f"{'weld' if tie.weld else 'connect'} {tie.name!r}"
        frames = []
        for link, pose in zip(tie.links, tie.poses):
            if link not in self.homes:
                raise ModelError(f"{tie.where}: {element}: link {link!r} has no mass and is not in the model")
            home = self.homes[link]
            body = self.model[home.body]
            frames.append(body.frame(home.at + home.rotation @ pose[:3, 3], home.rotation @ pose[:3, :3]))
        first, second = (f.body for f in frames)
        if first is second:
            self.tree.note("ignored", element, f"both ends are in {first.name!r}", tie.where)
            return
        name = self.free_name("constraint", tie.name, tie.where, "constraint")
        kind = Fixed if tie.weld else FixedPoint
        self.add(kind(name, first, second, frames=tuple(frames)), tie.where)

    @cached_property
    def size(self):
        """A length of the mechanism, against which small distances are measured [m]."""
        places = np.array([link.pose[:3, 3] for link in self.tree.links.values()])
        return max(float(np.ptp(places, axis=0).max()), 1e-3)
