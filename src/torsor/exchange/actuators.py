"""Actuators of MJCF files as inputs of the model: motors, and servos of positions and speeds, on joints of one coordinate.

    F = r f(l, l̇, u),    l = r q_file,    f = k u + b₀ + b₁ l + b₂ l̇                                   (1)

u   the input, within the control range of the file where it has one
r   gear;  k, b   gain and bias: motor k = 1, position servo k = −b₁, velocity servo k = −b₂
f   within the force range of the file where it has one
"""

from dataclasses import replace

import casadi as ca

from ..describe.parameters import Input
from ..forces.laws import JointForce
from .assemble import legal


def actuated(reader, imported):
    """The model with its actuators; what cannot be simulated of them is told."""
    notes = [note for note in imported.report if not note.element.startswith("actuator ")]
    tree = reader.out
    tree.notes[:] = notes
    for k in range(reader.m.nu):
        name, where = reader.m.actuator(k).name or f"actuator_{k}", reader._where(reader.spec.actuators, k)
        trouble = _unsupported(reader, k, imported)
        if trouble:
            tree.note("unsupported", f"actuator {name!r}", trouble, where)
            continue
        own = _free(imported.model, legal(name) or f"actuator_{k}", "input")
        if own != name:
            tree.note("renamed", f"actuator {name!r}", f"its input is {own!r}", where)
        joint = imported.joints[reader.joints[reader.m.actuator_trnid[k][0]]]
        force = _force(reader.m, k, joint, imported.model.input(own), _ref(reader.m, k))
        imported.model.add(JointForce(_free(imported.model, f"{own}_force", "force"), joint.joint, value=force))
    return replace(imported, report=tree.notes)


def _free(model, name, kind):
    """A name that the model has not yet, and that an input may have."""
    names = (name, f"{name}_{kind}", *(f"{name}_{kind}{k}" for k in range(2, 1000)))
    return next(x for x in names if x not in model and x not in Input.REFUSED)


def _unsupported(reader, k, imported):
    """Why an actuator is not simulated; empty: it is."""
    m, mj = reader.m, reader.mj
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


def _force(m, k, joint, u, ref):
    """F of (1)."""
    gear, gain, (b0, b1, b2) = float(m.actuator_gear[k][0]), float(m.actuator_gainprm[k][0]), m.actuator_biasprm[k][:3]
    if m.actuator_ctrllimited[k]:
        u = within(u, *m.actuator_ctrlrange[k])
    f = gain * u
    if m.actuator_biastype[k]:
        f += float(b0) + float(b1) * gear * (joint.coordinate + ref) + float(b2) * gear * joint.rate
    if m.actuator_forcelimited[k]:
        f = within(f, *m.actuator_forcerange[k])
    F = gear * f
    joint_number = m.actuator_trnid[k][0]
    return within(F, *m.jnt_actfrcrange[joint_number]) if m.jnt_actfrclimited[joint_number] else F


def within(x, low, high):
    """x, or the bound that it is beyond."""
    return ca.fmin(ca.fmax(x, float(low)), float(high))
