"""Actuators of MJCF files as inputs of the model: on joints, tendons and sites, with or without a state of their own.

    F = r f,    f = (g₀ + g₁ l + g₂ l̇) a + b₀ + b₁ l + b₂ l̇,    l = r l_t                                (1)
    a = u;      ȧ = u;      ȧ = (u − a) / τ                        direct, integrator, filter             (2)

u      the input, within the control range of the file where it has one
l_t    length of the transmission: coordinate of the file, length of the tendon; 0 for a site;  r: gear
g, b   gain and bias: motor g₀ = 1, position servo g₀ = −b₁, velocity servo g₀ = −b₂, damper g₂, cylinder with a filter
f      within the force range of the file where it has one; F of all actuators of a joint within the range of the joint
"""

import casadi as ca

from ...forces.loads_and_springs import JointForce, PointForce, Torque
from ..free_names import free_name, legal
from .mjcf_tendons import Length, LengthForce


def add_actuators(reader, imported, lengths, prefix=""):
    """Add the actuators to the model; what cannot be simulated of them is reported. `lengths`: of the tendons, by number."""
    tree, model, joint_forces = reader.out, imported.model, dict[int, list]()
    for k in range(reader.m.nu):
        name, where = prefix + actuator_name(reader, k), reader._where(reader.spec.actuators, k)
        actuator = Actuator(reader, imported, k, lengths)
        trouble = reason_for_no_effect(reader, k)
        unsupported = actuator.unsupported()
        if trouble or unsupported:
            kind = "ignored" if trouble else "unsupported"
            tree.note(kind, f"actuator {name!r}", trouble or unsupported, where)
            continue
        own = free_name(model, legal(name) or f"actuator_{k}", "input")
        if own != name:
            tree.note("renamed", f"actuator {name!r}", f"its input is {own!r}", where)
        force = actuator.force(own, model.input(own))
        if actuator.on_joint:
            joint_forces.setdefault(actuator.target, []).append((own, force))
        else:
            actuator.act(own, force)
        for keyframe, key in zip(imported.keyframes.values(), tree.keys.values()):
            if name in key.inputs:
                keyframe.inputs.pop(name, None)
                keyframe.inputs[own] = key.inputs[name]
    for number, several in joint_forces.items():
        act_on_joint(reader.m, imported, number, imported.joints[reader.joints[number]], several)


def act_on_joint(m, imported, number, joint, several):
    """Add the forces of the actuators of one joint; its range is that of their sum."""
    if m.jnt_actfrclimited[number]:
        total = within(sum(force for _, force in several), *m.jnt_actfrcrange[number])
        several = [("_".join(own for own, _ in several), total)]
    for own, force in several:
        name = free_name(imported.model, f"{own}_force", "force")
        alone = joint.joint.dof == 1
        imported.model.add(
            JointForce(name, joint.joint, value=force) if alone else LengthForce(name, rate=joint.rate, value=force)
        )


def actuator_name(reader, k):
    return reader.m.actuator(k).name or f"actuator_{k}"


def add_reflected_properties(reader):
    """Damping and armature of actuators, which act on their joints whether they are driven or not: gear² times each."""
    m = reader.m
    motions = reader.out.motions
    for k in range(m.nu):
        name, where = actuator_name(reader, k), reader._where(reader.spec.actuators, k)
        number, gear = int(m.actuator_trnid[k][0]), float(m.actuator_gear[k][0])
        on_joint = transmission(reader, k) in ("JOINT", "JOINTINPARENT")
        motion = motions.get(reader.joints[number]) if on_joint else None
        for what in ("damping", "armature", "dampingpoly"):
            given = getattr(m, f"actuator_{what}")[k] if hasattr(m, f"actuator_{what}") else 0.0
            if not given.any() if hasattr(given, "any") else not given:
                continue
            if motion is None or motion.dof != 1 or what == "dampingpoly":
                reader.out.note("ignored", f"{what} of actuator {name!r}", f"{what} {given} is not simulated", where)
            elif what == "damping" and not (reader.off("DAMPER") or reader.off("PASSIVE")):
                motion.damping += gear**2 * float(given)
            elif what == "armature":
                motion.armature += gear**2 * float(given)


def transmission(reader, k):
    """The kind of an actuator's transmission, by MuJoCo's name."""
    return reader.mj.mjtTrn(int(reader.m.actuator_trntype[k])).name.removeprefix("mjTRN_")


def reason_for_no_effect(reader, k):
    """Why an actuator does nothing in the file itself; empty: it does."""
    m = reader.m
    if reader.off("ACTUATION"):
        return "option flag actuation is disabled in the file"
    group = int(m.actuator_group[k])
    if 0 <= group < 31 and int(getattr(m.opt, "disableactuator", 0)) & (1 << group):
        return f"option actuatorgroupdisable disables its group {group}"
    return ""


class Actuator:
    """One actuator of a compiled MuJoCo model.

    kind     kind of its transmission;   target: number of its joint, tendon or site
    length   length of the transmission and its rate; None where torsor cannot express it
    """

    def __init__(self, reader, imported, k, lengths):
        self.reader, self.imported, self.k = reader, imported, k
        self.kind = transmission(reader, k)
        self.target = int(reader.m.actuator_trnid[k][0])
        self.gear = reader.m.actuator_gear[k]
        self.length = self._length(lengths)

    @property
    def on_joint(self):
        return self.kind in ("JOINT", "JOINTINPARENT")

    def _length(self, lengths):
        if self.on_joint:
            joint = self.imported.joints.get(self.reader.joints[self.target])
            if joint is None or joint.coordinate is None or joint.coordinate.shape != (1, 1):
                return None
            ref = float(self.reader.m.qpos0[self.reader.m.jnt_qposadr[self.target]])
            return Length(joint.coordinate + ref, joint.rate)
        if self.kind == "TENDON":
            return lengths[self.target]
        return Length(ca.SX(0), ca.SX(0)) if self.kind == "SITE" else None

    def unsupported(self):
        """Why it is not simulated; empty: it is."""
        m, k = self.reader.m, self.k
        name = lambda kind, value: getattr(self.reader.mj, f"mjt{kind}")(int(value)).name.rpartition("_")[2]
        if hasattr(m, "actuator_plugin") and m.actuator_plugin[k] >= 0:
            return "its force is computed by a plugin, which is not simulated"
        if hasattr(m, "actuator_delay") and m.actuator_delay[k]:
            return f"its delay of {m.actuator_delay[k]:g} s is not simulated"
        if hasattr(m, "actuator_ctrlnum") and m.actuator_ctrlnum[k] != 1:
            return "only actuators with one control are simulated"
        if self.kind not in ("JOINT", "JOINTINPARENT", "TENDON", "SITE"):
            return "only actuators of joints, tendons and sites are simulated"
        if self.kind == "SITE" and (m.actuator_trnid[k][1] >= 0 or self._site() is None):
            return "only actuators of sites without a reference site, on bodies with mass, are simulated"
        if name("Dyn", m.actuator_dyntype[k]) not in ("NONE", "INTEGRATOR", "FILTER", "FILTEREXACT"):
            return "muscles, and states of a kind of their own, are not simulated"
        if name("Gain", m.actuator_gaintype[k]) not in ("FIXED", "AFFINE"):
            return "muscles, and gains of a kind of their own, are not simulated"
        if name("Bias", m.actuator_biastype[k]) not in ("NONE", "AFFINE"):
            return "muscles, and biases of a kind of their own, are not simulated"
        if self.length is None:
            what = "joint has not one coordinate in the model" if self.on_joint else "tendon is not simulated"
            return f"its {what}"
        return ""

    def _site(self):
        return self.imported.sites.get(self.reader.site_name(self.target))

    def force(self, own, u):
        """F of (1), or f for a site; r is applied there component by component."""
        m, k = self.reader.m, self.k
        gear = 1.0 if self.kind == "SITE" else float(self.gear[0])
        length, rate = gear * self.length.length, gear * self.length.rate
        if m.actuator_ctrllimited[k] and not self.reader.off("CLAMPCTRL"):
            u = within(u, *m.actuator_ctrlrange[k])
        activation = self.activation(own, u)
        (g0, g1, g2), (b0, b1, b2) = (
            [float(x) for x in prm[:3]] for prm in (m.actuator_gainprm[k], m.actuator_biasprm[k])
        )
        affine = int(m.actuator_gaintype[k]) == int(self.reader.mj.mjtGain.mjGAIN_AFFINE)
        f = (g0 + (g1 * length + g2 * rate if affine else 0.0)) * activation
        if m.actuator_biastype[k]:
            f += b0 + b1 * length + b2 * rate
        if m.actuator_forcelimited[k]:
            f = within(f, *m.actuator_forcerange[k])
        return gear * f  # (1)

    def activation(self, own, u):
        """a of (2), within its range where it has one."""
        m, k, dyn = self.reader.m, self.k, self.reader.mj.mjtDyn
        kind = int(m.actuator_dyntype[k])
        if kind == int(dyn.mjDYN_NONE):
            return u
        low, high = (float(x) for x in m.actuator_actrange[k]) if m.actuator_actlimited[k] else (-ca.inf, ca.inf)

        def rate(a):
            r = u if kind == int(dyn.mjDYN_INTEGRATOR) else (u - a) / max(float(m.actuator_dynprm[k][0]), 1e-15)  # (2)
            if not m.actuator_actlimited[k]:
                return r
            return ca.if_else(a >= high, ca.fmin(r, 0), ca.if_else(a <= low, ca.fmax(r, 0), r))

        model = self.imported.model
        start = min(max(0.0, low), high)
        a = model.state(free_name(model, f"{own}_activation", "state"), rate, start=start)
        return within(a, low, high) if m.actuator_actlimited[k] else a

    def act(self, own, force):
        """Add the force of an actuator of a tendon or a site."""
        model = self.imported.model
        name = free_name(model, f"{own}_force", "force")
        if self.kind == "TENDON":
            model.add(LengthForce(name, rate=self.length.rate, value=force))
            return
        site = self._site()
        body = model[site.body]
        pull, turn = (ca.DM(site.rotation @ self.gear[part]) * force for part in (slice(0, 3), slice(3, 6)))
        if self.gear[:3].any():
            arm = ca.DM(site.at) - body.center
            model.add(PointForce(name, body, force=pull, axes="body", arm=arm))
        if self.gear[3:].any():
            model.add(Torque(free_name(model, f"{own}_torque", "force"), body, torque=turn, axes="body"))


def within(x, low, high):
    """x, or the bound that it is beyond."""
    return ca.fmin(ca.fmax(x, float(low)), float(high))
