"""Actuators of MJCF files as inputs of the model: motors, and servos of positions and speeds, on joints of one coordinate.

    F = r f(l, l̇, u),    l = r q_file,    f = k u + b₀ + b₁ l + b₂ l̇                                   (1)

u   the input, within the control range of the file where it has one
r   gear;  k, b   gain and bias: motor k = 1, position servo k = −b₁, velocity servo k = −b₂
f   within the force range of the file where it has one; F of all actuators of a joint within the range of the joint
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from ..forces.loads_and_springs import JointForce
from ..model.parameters import Input
from .build_model import legal


def actuated(reader, imported):
    """The model with its actuators; what cannot be simulated of them is told."""
    notes = [note for note in imported.report if not note.element.startswith("actuator ")]
    tree, model, forces = reader.out, imported.model, dict[int, list]()
    tree.notes[:] = notes
    for k in range(reader.m.nu):
        name, where = actuator_name(reader, k), reader._where(reader.spec.actuators, k)
        trouble = _disabled(reader, k)
        unsupported = _unsupported(reader, k, imported)
        if trouble or unsupported:
            tree.note("ignored" if trouble else "unsupported", f"actuator {name!r}", trouble or unsupported, where)
            continue
        own = _free(model, legal(name) or f"actuator_{k}", "input")
        if own != name:
            tree.note("renamed", f"actuator {name!r}", f"its input is {own!r}", where)
        number = int(reader.m.actuator_trnid[k][0])
        joint = imported.joints[reader.joints[number]]
        force = _force(reader, k, joint, model.input(own), _ref(reader.m, k))
        forces.setdefault(number, []).append((own, force))
    for number, several in forces.items():
        _act(reader.m, model, number, imported.joints[reader.joints[number]].joint, several)
    return replace(imported, report=tree.notes)


def _act(m, model, number, joint, several):
    """Add the forces of the actuators of one joint; its range is that of their sum."""
    if m.jnt_actfrclimited[number]:
        total = within(sum(force for _, force in several), *m.jnt_actfrcrange[number])
        several = [("_".join(own for own, _ in several), total)]
    for own, force in several:
        model.add(JointForce(_free(model, f"{own}_force", "force"), joint, value=force))


def actuator_name(reader, k):
    return reader.m.actuator(k).name or f"actuator_{k}"


def told_of_actuators(reader):
    """Note what actuators do to a mechanism whether they are driven or not."""
    m = reader.m
    for k in range(m.nu):
        name, where = actuator_name(reader, k), reader._where(reader.spec.actuators, k)
        for what in ("damping", "dampingpoly", "armature"):
            if hasattr(m, f"actuator_{what}") and np.any(getattr(m, f"actuator_{what}")[k]):
                given = getattr(m, f"actuator_{what}")[k]
                reader.out.note("ignored", f"{what} of actuator {name!r}", f"{what} {given} is not simulated", where)


def _free(model, name, kind):
    """A name that the model has not yet, and that an input may have."""
    names = (name, f"{name}_{kind}", *(f"{name}_{kind}{k}" for k in range(2, 1000)))
    return next(x for x in names if x not in model and x not in Input.REFUSED)


def _disabled(reader, k):
    """Why an actuator does nothing in the file itself; empty: it does."""
    m = reader.m
    if reader.off("ACTUATION"):
        return "option flag actuation is disabled in the file"
    group = int(m.actuator_group[k])
    if 0 <= group < 31 and int(getattr(m.opt, "disableactuator", 0)) & (1 << group):
        return f"option actuatorgroupdisable disables its group {group}"
    return ""


def _unsupported(reader, k, imported):
    """Why an actuator is not simulated; empty: it is."""
    m, mj = reader.m, reader.mj
    if hasattr(m, "actuator_plugin") and m.actuator_plugin[k] >= 0:
        return "its force is computed by a plugin, which is not simulated"
    if hasattr(m, "actuator_delay") and m.actuator_delay[k]:
        return f"its delay of {m.actuator_delay[k]:g} s is not simulated"
    if hasattr(m, "actuator_ctrlnum") and m.actuator_ctrlnum[k] != 1:
        return "only actuators with one control are simulated"
    if int(m.actuator_trntype[k]) not in (int(mj.mjtTrn.mjTRN_JOINT), int(mj.mjtTrn.mjTRN_JOINTINPARENT)):
        return "only actuators of joints are simulated"
    if int(m.actuator_dyntype[k]) != int(mj.mjtDyn.mjDYN_NONE):
        return "only actuators without a state of their own are simulated"
    plain = (int(mj.mjtBias.mjBIAS_NONE), int(mj.mjtBias.mjBIAS_AFFINE))
    if int(m.actuator_gaintype[k]) != int(mj.mjtGain.mjGAIN_FIXED) or int(m.actuator_biastype[k]) not in plain:
        return "only motors and servos of position and velocity are simulated"
    joint = imported.joints.get(reader.joints[m.actuator_trnid[k][0]])
    return "" if joint is not None and joint.joint.dof == 1 else "its joint has not one coordinate in the model"


def _ref(m, k):
    """What the file's coordinate is where that of the model is zero."""
    return float(m.qpos0[m.jnt_qposadr[m.actuator_trnid[k][0]]])


def _force(reader, k, joint, u, ref):
    """F of (1)."""
    m = reader.m
    gear, gain, (b0, b1, b2) = float(m.actuator_gear[k][0]), float(m.actuator_gainprm[k][0]), m.actuator_biasprm[k][:3]
    if m.actuator_ctrllimited[k] and not reader.off("CLAMPCTRL"):
        u = within(u, *m.actuator_ctrlrange[k])
    f = gain * u
    if m.actuator_biastype[k]:
        f += float(b0) + float(b1) * gear * (joint.coordinate + ref) + float(b2) * gear * joint.rate
    if m.actuator_forcelimited[k]:
        f = within(f, *m.actuator_forcerange[k])
    return gear * f


def within(x, low, high):
    """x, or the bound that it is beyond."""
    return ca.fmin(ca.fmax(x, float(low)), float(high))
