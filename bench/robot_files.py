"""Robot files in MJCF: what is read, and accelerations against MuJoCo's.

    python bench/robot_files.py [FOLDER …]           all *.xml below; default: the files that gymnasium carries
    python bench/robot_files.py --smoke

One line for each file that MuJoCo loads, with the largest difference of joint accelerations over the largest acceleration at a
random state with random controls and activations. Contacts, limits and friction losses, which MuJoCo makes soft, do not act.

    tree      without closed loops
    closed    equality constraints close loops: MuJoCo's M, forces and constraint Jacobian, with exact constraints (a KKT system)
    partly    the report names something that changes the motion everywhere
    still     nothing moves
    refused   with the message
    fails     an error

A sum at the end. Files that are no models (included parts) are left out. `TORSOR_LEVEL=0` compiles faster.
"""

import argparse
import pathlib
import sys
import time
import warnings

import casadi
import mujoco
import numpy as np

import torsor as ts

STENCIL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}  # central difference of order 4
STEP = 1e-4
CLOSED = 1e-13  # of equality constraints


def rows(m, d):
    """Residuals and Jacobian of the active equality constraints."""
    mujoco.mj_fwdPosition(m, d)
    assert (d.efc_type[: d.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)).all()
    return d.efc_pos[: d.nefc].copy(), d.efc_J[: d.nefc * m.nv].reshape(d.nefc, m.nv).copy()


def random_state(m, random):
    """Positions, velocities, controls and activations near the file's own, on the equality constraints."""
    d = mujoco.MjData(m)
    d.qpos[:] = m.qpos0
    mujoco.mj_integratePos(m, d.qpos, (0.05 if m.neq else 0.3) * random.standard_normal(m.nv), 1.0)
    for _ in range(50 if m.neq else 0):
        g, J = rows(m, d)
        if not g.size or np.abs(g).max() < CLOSED:
            break
        mujoco.mj_integratePos(m, d.qpos, -np.linalg.lstsq(J, g, rcond=1e-9)[0], 1.0)
    d.qvel[:] = random.standard_normal(m.nv)
    if m.neq:
        g, J = rows(m, d)
        d.qvel[:] -= np.linalg.lstsq(J, J @ d.qvel, rcond=1e-9)[0]
        assert np.abs(g).max() < 1e-10, "MuJoCo's constraints are not met"
    d.ctrl[:] = 0.3 * random.standard_normal(m.nu)
    d.act[:] = 0.1 * random.standard_normal(m.na)
    return d


def accelerations(m, d):
    """MuJoCo's, with exact equality constraints."""
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_forward(m, d)
    m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    free = d.qacc.copy()
    if not m.neq:
        return free
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    there = d.qpos.copy()
    rate = 0.0
    for k, c in STENCIL.items():  # of the rows along the motion
        d.qpos[:] = there
        mujoco.mj_integratePos(m, d.qpos, d.qvel, k * STEP)
        rate = rate + c / STEP * rows(m, d)[1] @ d.qvel
    d.qpos[:] = there
    _, J = rows(m, d)
    root = np.linalg.cholesky(M)
    K = np.linalg.solve(root, J.T)  # M = L Lᵀ:  a = a₀ − L⁻ᵀ K (KᵀK)⁺ (J a₀ + J̇ v)
    return free - np.linalg.solve(root.T, np.linalg.lstsq(K.T, J @ free + rate, rcond=1e-10)[0])


def prepare(m):
    off = mujoco.mjtDisableBit
    for flag in (off.mjDSBL_CONTACT, off.mjDSBL_LIMIT, off.mjDSBL_FRICTIONLOSS):
        m.opt.disableflags |= int(flag)
    m.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)


def state_of(robot, arm, m, names, qpos, qvel):
    """Configuration and velocities of torsor, from the numbers of MuJoCo."""
    start = robot.keyframe(qpos, qvel)
    values = {k: v for k, v in start.items() if not k.endswith(".rate")}
    rates = {name: np.ravel(start.get(f"{name}.rate", np.zeros(0))) for name in names}
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_kinematics(m, d)
    for j in np.flatnonzero(m.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)):
        # velocities of a free body are those of its centre of mass, in its own axes
        number, dof = m.jnt_bodyid[j], m.jnt_dofadr[j]
        place = robot.links[m.body(number).name or f"body_{number}"]
        body = robot.model[place.body]
        R = d.xmat[number].reshape(3, 3) @ place.rotation.T
        turning = place.rotation @ qvel[dof + 3 : dof + 6]
        arm_of = np.array(ts_numbers(body.center)) - place.at
        own = [name for name, joint in robot.joints.items() if joint.joint.second is body]
        rates[robot.joints[own[0]].joint.name] = np.concatenate(
            [turning, R.T @ qvel[dof : dof + 3] + np.cross(turning, arm_of)]
        )
    return arm.configuration({k: values[k] for k in names}), np.concatenate([rates[name] for name in names])


def ts_numbers(column):
    return np.array(casadi.evalf(casadi.SX(column)), float).ravel()


def difference(robot, m, random):
    """The largest difference of accelerations over the largest acceleration, in torsor's velocities."""
    prepare(m)
    d = random_state(m, random)
    inputs = dict(zip(robot.model.declared_inputs, d.ctrl.tolist()))
    arm = ts.compile(robot.model, "relative", parameters=inputs)
    expected = accelerations(m, d)
    names = list(dict.fromkeys(c.split("[")[0] for c in arm.coordinates))
    numbers = lambda qpos, qvel: state_of(robot, arm, m, names, qpos, qvel)
    moved = {}
    for k in STENCIL:
        moved[k] = d.qpos.copy()
        mujoco.mj_integratePos(m, moved[k], d.qvel, k * STEP)
    bias = sum(c * numbers(moved[k], d.qvel)[1] for k, c in STENCIL.items()) / STEP
    q, v = numbers(d.qpos, d.qvel)
    p = np.array(arm.p)
    for (_, place), value in zip(arm.system.states, d.act):
        p[place] = value
    a = np.array(arm.accelerations(q, v, p=p))
    target = numbers(d.qpos, expected)[1] + bias
    return float(np.abs(a - target).max() / max(np.abs(target).max(), 1.0))


def files_of(folders):
    if folders:
        return sorted(x for folder in folders for x in pathlib.Path(folder).rglob("*.xml"))
    import gymnasium

    return sorted(pathlib.Path(gymnasium.__file__).parent.rglob("*.xml"))


def judge(file, random):
    """A word for what became of a file, a number or None, and a message; None for files that MuJoCo does not load."""
    try:
        m = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        return None
    try:
        robot = ts.read(str(file), actuators=True)
    except ts.ModelError as error:
        return "refused", None, str(error)
    if not m.nv:
        return "still", None, ""
    skipped = [n for n in robot.report if n.importance == 0 and n.kind in ("ignored", "unsupported")]
    skipped += [n for n in robot.report if n.kind == "unsupported" and n.element.startswith("actuator")]
    message = "; ".join(sorted({f"{n.element.split()[0]}: {n.message}" for n in skipped}))
    try:
        found = difference(robot, m, random)
    except Exception as error:
        return "fails", None, f"{type(error).__name__}: {error} | {message}"
    return "partly" if skipped else "closed" if m.neq else "tree", found, message


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    files = files_of(given.folders)
    files = [f for f in files if f.stem == "inverted_double_pendulum"] if given.smoke else files
    random = np.random.default_rng(0)
    count, worst = {}, {}
    for file in files:
        begin = time.perf_counter()
        judged = judge(file, random)
        if judged is None:
            continue
        word, number, what = judged
        count[word] = count.get(word, 0) + 1
        if number is not None:
            worst[word] = max(worst.get(word, 0.0), number)
        shown = "" if number is None else f"{number:.1e}"
        print(
            f"{word:8s} {shown:8s} {file.parent.name}/{file.name}  {time.perf_counter() - begin:.1f} s  {what}",
            flush=True,
        )
    print(", ".join(f"{n} {word}" for word, n in sorted(count.items())))
    print("largest differences:", ", ".join(f"{word} {x:.1e}" for word, x in sorted(worst.items())))


if __name__ == "__main__":
    sys.exit(main())
