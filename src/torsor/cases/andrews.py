"""Andrews' squeezing mechanism: seven bodies in the plane, three loops, driven by a constant torque within milliseconds.

Frames at the centres of mass; joints are given by points in body axes, so that the coordinate of joint O is β, the
cumulative angle of K1. Moments of inertia about x and y, which play no role in the plane, are those about z.
"""

import torsor as ts

from ..registry import register
from .base import Case

A, B = (-0.06934, -0.00227), (-0.03635, 0.03273)  # fixed points
BODIES = {  # mass, Jz, x, y, angle at the start
    "K1": (0.04325, 2.194e-6, 9.182485980307614e-4, -5.674074562905483e-5, -0.06171389001427645),
    "K2": (0.00365, 4.410e-7, -4.4914333599330725e-3, 2.775362557942899e-4, -0.06171389001427645),
    "K3": (0.02373, 5.255e-6, -0.018742186670315457, 0.020485106789073934, 0.45527981916307037),
    "K4": (0.00706, 5.667e-7, -0.030222939830158887, 0.012071182356663938, 0.7100333697097284),
    "K5": (0.07050, 1.169e-5, -0.05323682815570414, 0.016631847966616306, 0.48736497954384256),
    "K6": (0.00706, 5.667e-7, -0.028543268536783597, -0.010722254707252287, 1.0078790543839353),
    "K7": (0.05498, 1.912e-5, -0.05626558178575735, -0.002135507029626142, 1.2305474445498212),
}
JOINTS = {  # first body and its point, second body and its point
    "O": ("ground", (0, 0), "K1", (-0.00092, 0)),
    "K1_K2": ("K1", (0.00608, 0), "K2", (0.0115, 0)),
    "P3": ("K2", (-0.0165, 0), "K3", (-0.01043, -0.01626)),
    "P4": ("K2", (-0.0165, 0), "K4", (0, -0.01421)),
    "P6": ("K2", (-0.0165, 0), "K6", (0.01421, 0)),
    "K4_K5": ("K4", (0, 0.00579), "K5", (0.01692, -0.00916)),
    "A5": ("ground", A, "K5", (-0.02308, -0.00916)),
    "K6_K7": ("K6", (-0.00579, 0), "K7", (-0.00449, -0.02772)),
    "A7": ("ground", A, "K7", (-0.00449, 0.01228)),
    "B": ("ground", B, "K3", (-0.01043, 0.01874)),
}


@register("andrews")
class Andrews(Case):
    title = "Andrews' squeezing mechanism, seven bodies and three loops driven by a torque"
    source = "MBS benchmark A03"
    until = 0.05
    recommended = {"tolerance": 1e-11}

    @staticmethod
    def build():
        model = ts.Model("andrews")
        for name, (mass, J, x, y, angle) in BODIES.items():
            model.body(name, mass=mass, inertia=(J, J, J), at=(x, y, 0), rotation=(0, 0, angle))
        for name, (first, p, second, r) in JOINTS.items():
            ends = model[first], model[second]
            frames = ends[0].frame((*p, 0)), ends[1].frame((*r, 0))
            model.add(ts.Revolute(name, *ends, frames=frames, axis=(0, 0, 1)))
        K3 = model["K3"]
        frames = model.ground.frame((0.014, 0.072, 0)), K3.frame((0.00957, 0.00074, 0))
        model.add(ts.SpringDamper("spring", model.ground, K3, frames=frames, stiffness=4530.0, length=0.07785))
        model.add(ts.Torque("motor", model["K1"], torque=(0, 0, 0.033)))
        return model
