"""N four-bar in Exudyn: generalised-α (index 3) on planar bodies with revolute joints, or on a kinematic tree with closed loops.

    python fourbar_exudyn.py N planar|tree RHO STEP [STEP ...]

Prints one JSON line per step size: seconds of processor time in the solver over 10 s of motion, the largest energy error on the
way, at 500 outputs, and that at the end [J]. Times are those of runs without sensors.
"""

import json
import sys
import time

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np

G, SPAN, ROD = 9.81, 10.0, 1 / 12


def settings(h, rho, recorded):
    chosen = exu.SimulationSettings()
    chosen.timeIntegration.endTime, chosen.timeIntegration.numberOfSteps = SPAN, round(SPAN / h)
    chosen.timeIntegration.verboseMode = 0
    chosen.timeIntegration.generalizedAlpha.spectralRadius = rho
    chosen.solution.file.write = False
    chosen.solution.sensors.writePeriod = SPAN / 500
    chosen.solution.sensors.active = recorded
    chosen.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    return chosen


def planar(n):
    """Bars as planar bodies: centre, start velocity, and whether they stand or lie."""
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground, bodies, nodes = mbs.AddObject(item.ObjectGround()), {}, []
    bars = [("crank", i, (i, 0.5), (0.5, 0.0, -1.0)) for i in range(n + 1)]
    bars += [("coupler", i, (i + 0.5, 1.0), (1.0, 0.0, 0.0)) for i in range(n)]
    for kind, i, centre, velocity in bars:
        node = mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[*centre, 0.0], initialVelocities=list(velocity)))
        bodies[kind, i] = mbs.AddObject(item.ObjectRigidBody2D(mass=1.0, inertia=ROD, nodeNumber=node))
        weight = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=bodies[kind, i]))
        mbs.AddLoad(item.LoadMassProportional(markerNumber=weight, loadVector=[0, -G, 0]))
        nodes.append(node)

    def joint(*ends):
        markers = [mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=b, localPosition=[*p, 0.0])) for b, p in ends]
        mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=markers))

    for i in range(n + 1):
        joint((ground, (float(i), 0.0)), (bodies["crank", i], (0.0, -0.5)))
    for i in range(n):
        joint((bodies["crank", i], (0.0, 0.5)), (bodies["coupler", i], (-0.5, 0.0)))
        joint((bodies["coupler", i], (0.5, 0.0)), (bodies["crank", i + 1], (0.0, 0.5)))
    sensors = [[_sensor(mbs, node, kind) for node in nodes] for kind in ("Coordinates", "Coordinates_t")]
    mbs.Assemble()

    def energy():
        x, v = (np.stack([mbs.GetSensorStoredData(s)[:, 1:4] for s in group], axis=1) for group in sensors)
        return 0.5 * (v[:, :, :2] ** 2).sum((1, 2)) + 0.5 * ROD * (v[:, :, 2] ** 2).sum(1) + G * x[:, :, 1].sum(1)

    return system, mbs, energy


def tree(n):
    """Cranks and couplers as one kinematic tree, coupler i on crank i; loops closed in the plane."""
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    size, stands = 2 * n + 1, [True] * (n + 1) + [False] * n
    start = [-1.0] * (n + 1) + [1.0] * n
    node = mbs.AddNode(
        item.NodeGenericODE2(
            referenceCoordinates=[0.0] * size, initialCoordinates=[0.0] * size, initialCoordinates_t=start,
            numberOfODE2Coordinates=size,
        )
    )  # fmt: skip
    inertias = [np.diag([ROD, 1e-4, ROD] if up else [1e-4, ROD, ROD]) for up in stands]
    whole = mbs.AddObject(
        item.ObjectKinematicTree(
            nodeNumber=node, gravity=[0, -G, 0], jointTypes=[exu.JointType.RevoluteZ] * size,
            linkParents=[-1] * (n + 1) + list(range(n)), jointTransformations=exu.Matrix3DList([np.eye(3)] * size),
            jointOffsets=exu.Vector3DList([[float(i), 0, 0] for i in range(n + 1)] + [[0, 1.0, 0]] * n),
            linkInertiasCOM=exu.Matrix3DList(inertias), linkMasses=[1.0] * size,
            linkCOMs=exu.Vector3DList([[0, 0.5, 0] if up else [0.5, 0, 0] for up in stands]),
        )
    )  # fmt: skip
    for i in range(n):
        ends = ((n + 1 + i, [1.0, 0, 0]), (i + 1, [0, 1.0, 0]))
        markers = [
            mbs.AddMarker(item.MarkerKinematicTreeRigid(objectNumber=whole, linkNumber=k, localPosition=p))
            for k, p in ends
        ]
        mbs.AddObject(item.ObjectJointSpherical(markerNumbers=markers, constrainedAxes=[1, 1, 0]))
    sensors = [_sensor(mbs, node, kind) for kind in ("Coordinates", "Coordinates_t")]
    mbs.Assemble()

    def energy():
        q, v = (mbs.GetSensorStoredData(s)[:, 1:] for s in sensors)
        crank, spin = q[:, : n + 1], v[:, : n + 1]
        along, turning = (q[:, n + 1 :] + crank[:, :n]), (v[:, n + 1 :] + spin[:, :n])
        tip = np.stack([-np.cos(crank[:, :n]), -np.sin(crank[:, :n])]) * spin[:, :n]
        middle = tip + 0.5 * turning * np.stack([-np.sin(along), np.cos(along)])
        height = 0.5 * np.cos(crank).sum(1) + (np.cos(crank[:, :n]) + 0.5 * np.sin(along)).sum(1)
        kinetic = (spin**2).sum(1) / 6 + 0.5 * (middle**2).sum((0, 2)) + 0.5 * ROD * (turning**2).sum(1)
        return kinetic + G * height

    return system, mbs, energy


def _sensor(mbs, node, kind):
    chosen = getattr(exu.OutputVariableType, kind)
    return mbs.AddSensor(item.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=chosen))


def run(build, n, h, rho, recorded):
    system, mbs, energy = build(n)
    start = time.process_time()
    mbs.SolveDynamic(settings(h, rho, recorded), solverType=exu.DynamicSolverType.GeneralizedAlpha)
    spent = time.process_time() - start
    return spent, energy() if recorded else None


if __name__ == "__main__":
    n, form, rho = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    for h in map(float, sys.argv[4:]):
        record = {"peer": f"Exudyn generalised-α, {form}", "step": h}
        try:
            E = run({"planar": planar, "tree": tree}[form], n, h, rho, True)[1]
            seconds = min(run({"planar": planar, "tree": tree}[form], n, h, rho, False)[0] for _ in range(2))
            record |= {
                "seconds": seconds,
                "energy_error": float(np.abs(E - E[0]).max()),
                "at_end": abs(float(E[-1] - E[0])),
            }
        except exu.SolverError:
            record |= {"seconds": None, "energy_error": None, "at_end": None}
        print(json.dumps(record), flush=True)
