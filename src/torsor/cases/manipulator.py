"""A manipulator of three links, each a motor with a beam, in the hierarchy of its document.

    motor = housing + rotor + torque        link = motor + beam        manipulator = 3 links

    τ(t) = C cos(2π · 2 t)        on the rotor about y, its opposite on the housing, C = −600, 300, −12 N m        (1)

The origin of a motor and of a link is where its housing is mounted. [vlasenko2006], ch. 8.
"""

import torsor as ts

from ..lie import so3
from ..registry import register
from .base import Case

TORQUE = (-600.0, 300.0, -12.0)  # C
ANGLE = (0.0, 2.5, 0.0)  # at the start
UPRIGHT = (0.5**0.5, 0.5**0.5, 0.0, 0.0)  # quaternion from the ground to housing 1
ELBOW = (0.5, -0.5, -0.5, -0.5)  # quaternion from beam 1 to housing 2
BEAM = (0.0, 0.37, 0.483)  # centre of the beam in the link, with the motor at 0
BEAM_SHAPE = ts.shapes.box((0.05, 0.04, 1.0))


def motor():
    """Housing and rotor on a shaft along y, with the motor's torque.

    Parameters: torque, the amplitude C [N m]; angle, where the shaft starts [rad]. Ports: housing, rotor, shaft; mount, the
    frame in which the housing is held.
    """
    model = ts.Model("motor")
    torque, angle = model.parameter("torque", 0.0), model.parameter("angle", 0.0)
    housing = model.body("housing", inertia=ts.inertia.cylinder(2.0, 0.034, 0.3, axis="y", inner=0.03), at=(0, 0.15, 0))
    rotor = model.body("rotor", inertia=ts.inertia.cylinder(7.7, 0.03, 0.35, axis="y"), at=(0, 0.175, 0))
    frames = housing.frame((0, -0.15, 0)), rotor.frame((0, -0.175, 0))
    shaft = model.add(ts.Revolute("shaft", housing, rotor, frames=frames, axis=(0, 1, 0), start=angle, start_rate=0.0))
    model.add(ts.CosineTorque("drive", shaft, amplitude=torque, frequency=2.0))  # (1)
    model.expose("housing", housing)
    model.expose("rotor", rotor)
    model.expose("shaft", shaft)
    model.expose("mount", frames[0])
    return model


def link():
    """A motor whose rotor carries a beam. Parameters as the motor's. Ports: housing, beam, shaft, mount."""
    model = ts.Model("link")
    torque, angle = model.parameter("torque", 0.0), model.parameter("angle", 0.0)
    drive = model.include("motor", motor(), torque=torque, angle=angle)
    beam = model.body("beam", mass=0.71, inertia=(0.06, 0.06, 0.0002), at=BEAM, shape=BEAM_SHAPE)
    frames = drive.rotor.frame((0, 0.175, 0)), beam.frame((0, -0.02, -0.483))
    model.add(ts.Fixed("clamp", drive.rotor, beam, frames=frames))
    model.expose("housing", drive.housing)
    model.expose("beam", beam)
    model.expose("shaft", drive.shaft)
    model.expose("mount", drive.mount)
    return model


def manipulator():
    """Three links on the ground, each with its torque and its angle at the start. Port: beam, that of the last link."""
    model = ts.Model("manipulator", gravity=(0, 0, -9.8))
    first = so3.from_quaternion(UPRIGHT)
    second = first @ so3.from_quaternion(ELBOW)
    elbow = first @ (0, 0.37, 0.483 + 0.5)
    wrist = elbow + second @ (0, 0.37 + 0.02, 0.483 + 0.483)
    places = ((0, 0, 0), first), (elbow, second), (wrist, second)
    mounts = (
        (lambda: model.ground.frame(rotation=UPRIGHT)),
        (lambda: model["link1.beam"].frame((0, 0, 0.5), rotation=ELBOW)),
        (lambda: model["link2.beam"].frame((0, 0.02, 0.483))),
    )
    for k, ((at, rotation), mount) in enumerate(zip(places, mounts)):
        arm = model.include(f"link{k + 1}", link(), at=at, rotation=rotation, torque=TORQUE[k], angle=ANGLE[k])
        frames = mount(), arm.mount
        model.add(ts.Fixed(f"mount{k + 1}", frames[0].body, arm.housing, frames=frames))
    model.expose("beam", model["link3.beam"])
    return model


@register("manipulator")
class Manipulator(Case):
    title = "three-link manipulator of motors and beams, driven by cosine torques"
    source = "Vlasenko's thesis, ch. 8"
    until = 5.0

    @staticmethod
    def build():
        return manipulator()
