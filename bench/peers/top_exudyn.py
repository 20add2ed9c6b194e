"""Heavy top in Exudyn: Lie-group RK44; time per step.

The explicit solvers take no joint, so the equivalent body at the pivot is used: inertia about the pivot, the weight as a
force at the centre of mass, the translations eliminated.
"""

import json
import time

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
from exudyn.utilities import RigidBodyInertia

H = 1e-4


def build():
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    com = np.array([0.0, 1.0, 0.0])
    inertia = np.diag([0.234375, 0.46875, 0.234375]) + 15 * (com @ com * np.eye(3) - np.outer(com, com))
    body = mbs.CreateRigidBody(
        referencePosition=[0, 0, 0], initialAngularVelocity=[0, 150, -4.61538],
        inertia=RigidBodyInertia(mass=15, inertiaTensor=inertia), gravity=[0, 0, 0],
        nodeType=exu.NodeType.RotationRotationVector, returnDict=True,
    )  # fmt: skip
    marker = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body["bodyNumber"], localPosition=list(com)))
    mbs.AddLoad(item.Force(markerNumber=marker, loadVector=[0, 0, -15 * 9.81]))
    ground = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
    for k in range(3):
        own = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=body["nodeNumber"], coordinate=k))
        mbs.AddObject(item.CoordinateConstraint(markerNumbers=[ground, own]))
    mbs.Assemble()
    return system, mbs


def seconds(steps):
    system, mbs = build()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, steps * H
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    start = time.process_time()
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
    return time.process_time() - start


best = min((seconds(19000) - seconds(1000)) / 18000 for _ in range(5))
print(json.dumps({"peer": "Exudyn Lie-group RK44, no joint", "step": H, "microseconds": best * 1e6}))
