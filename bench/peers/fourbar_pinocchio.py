"""N four-bar in Pinocchio: joint coordinates, cut joints as 3D constraints with Baumgarte gains, RK4 in Python.

Prints one JSON line per step size tried, largest first, until the energy error over 10 s is below 1e-3 J.
"""

import json
import sys
import time

import numpy as np
import pinocchio as pin

G = 9.81


def build(n):
    """Cranks 0..n on the ground, coupler i on crank i; the loops close on crank i + 1. Depth first, as Pinocchio needs."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -G, 0.0])
    rod = 1 / 12
    cranks, couplers = [], []
    for i in range(n + 1):
        place = pin.SE3(np.eye(3), np.array([float(i), 0, 0]))
        j = model.addJoint(0, pin.JointModelRZ(), place, f"crank{i}")
        model.appendBodyToJoint(
            j, pin.Inertia(1.0, np.array([0, 0.5, 0]), np.diag([rod, 1e-4, rod])), pin.SE3.Identity()
        )
        cranks.append(j)
        if i < n:
            place = pin.SE3(np.eye(3), np.array([0, 1.0, 0]))
            c = model.addJoint(j, pin.JointModelRZ(), place, f"coupler{i}")
            inertia = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([1e-4, rod, rod]))
            model.appendBodyToJoint(c, inertia, pin.SE3.Identity())
            couplers.append(c)
    return model, cranks, couplers


def run(n, h, span=10.0):
    model, cranks, couplers = build(n)
    data = model.createData()
    constraints, constraint_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    place = lambda x, y: pin.SE3(np.eye(3), np.array([x, y, 0.0]))
    for i, c in enumerate(couplers):
        closure = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            model,
            c,
            place(1.0, 0.0),
            cranks[i + 1],
            place(0.0, 1.0),
            pin.ReferenceFrame.LOCAL,
        )
        kp, kd = 1 / (20 * h) ** 2, 2 / (20 * h)
        if hasattr(closure, "corrector"):
            closure.corrector.Kp[:], closure.corrector.Kd[:] = kp, kd
        else:
            closure.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(kp, kd))
        constraints.append(closure)
    for closure in constraints:
        constraint_data.append(closure.createData())
    pin.initConstraintDynamics(model, data, constraints, constraint_data)
    settings, tau = pin.ProximalSettings(1e-12, 1e-10, 10), np.zeros(model.nv)
    acc = lambda q, v: pin.constraintDynamics(model, data, q, v, tau, constraints, constraint_data, settings).copy()
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    for j in cranks:
        v[model.joints[j].idx_v] = -1.0
    for c in couplers:
        v[model.joints[c].idx_v] = 1.0
    energy = lambda: pin.computeMechanicalEnergy(model, data, q, v)
    first, worst = energy(), 0.0
    steps = round(span / h)
    start = time.process_time()
    spent_on_energy = 0.0
    for k in range(steps):
        a1 = acc(q, v)
        v2 = v + 0.5 * h * a1
        a2 = acc(q + 0.5 * h * v, v2)
        v3 = v + 0.5 * h * a2
        a3 = acc(q + 0.5 * h * v2, v3)
        v4 = v + h * a3
        a4 = acc(q + h * v3, v4)
        q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        if k % 20 == 19:
            mark = time.process_time()
            worst = max(worst, abs(energy() - first)) if np.isfinite(v).all() else np.inf
            spent_on_energy += time.process_time() - mark
            if not np.isfinite(worst):
                break
    return time.process_time() - start - spent_on_energy, worst


if __name__ == "__main__":
    n = int(sys.argv[1])
    for h in (0.02, 0.0125, 0.01, 0.008, 0.00625, 0.005, 0.0025):
        wall, error = run(n, h)
        if error < 1e-3:
            wall = min(wall, *(run(n, h)[0] for _ in range(2)))
        print(
            json.dumps(
                {"peer": "Pinocchio constraintDynamics, RK4", "step": h, "seconds": wall, "energy_error": error}
            ),
            flush=True,
        )
        if error < 1e-3:
            break
