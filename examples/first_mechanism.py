"""A first mechanism of your own: a wheel on a swing arm, driven over a bump.

The car body slides on a vertical guide, the arm swings on it, the wheel turns at the arm's end; one spring–damper carries
the body, another stands for the tyre between the wheel's centre and the road, which moves up and down below it.

    python examples/first_mechanism.py [picture.png]
"""

import sys

import casadi as ca
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import torsor as ts


def swing_arm():
    model = ts.Model("swing-arm", gravity=(0, 0, -9.81))
    bump = 0.04 * ca.exp(-(((ts.time - 1.5) / 0.08) ** 2))  # 4 cm high, passed in about 0.3 s
    road = model.add(ts.Ground("road", at=(0.5, 0, bump)))
    body = model.body("body", inertia=ts.inertia.box(250.0, 1.0, 0.6, 0.4), at=(0, 0, 0.6))
    arm = model.body("arm", inertia=ts.inertia.rod(8.0, 0.55, axis="x"), at=(0.25, 0, 0.35), rotation=(0, 0.2, 0))
    wheel = model.body("wheel", inertia=ts.inertia.cylinder(15.0, 0.3, 0.2, axis="y"), at=(0.5, 0, 0.3))

    guide = model.add(ts.Prismatic("guide", model.ground, body, axis=(0, 0, 1)))
    pivot = model.add(ts.Revolute("pivot", body, arm, point=(0, 0, 0.4), axis=(0, 1, 0)))
    axle = model.add(ts.Revolute("axle", arm, wheel, point=(0.5, 0, 0.3), axis=(0, 1, 0), start_rate=30.0))
    ends = ((0.35, 0, 0.75), (0.4, 0, 0.32))
    strut = ts.SpringDamper("strut", body, arm, points=ends, stiffness=3e4, damping=2.5e3, length=0.5385)
    ends = ((0.5, 0, 0), (0.5, 0, 0.3))
    tyre = ts.SpringDamper("tyre", road, wheel, points=ends, stiffness=2e5, damping=300.0, length=0.313)
    model.add(strut)
    model.add(tyre)
    return model, (guide, pivot, axle)


def main(picture="first_mechanism.png"):
    model, (guide, pivot, axle) = swing_arm()
    data = ts.simulate(model, 3.0, outputs=600, signals={"pivot load": ca.norm_2(pivot.reaction_force)})
    figure, (height, angle, load) = plt.subplots(3, 1, figsize=(8, 8), sharex=True, layout="constrained")
    for name in ("body", "wheel"):
        z = data.position.sel(body=name, axis="z")
        height.plot(data.time, 100 * (z - z[0]), label=name)
    height.set_ylabel("height above the start [cm]")
    height.legend()
    angle.plot(data.time, data.coordinate.sel(joint_coordinate="pivot"))
    angle.set_ylabel("swing of the arm [rad]")
    load.plot(data.time, data["pivot load"] / 1e3)
    load.set_ylabel("force in the pivot [kN]")
    load.set_xlabel("time [s]")
    figure.savefig(picture, dpi=120)
    a = data.attrs
    print(
        f"{a['steps']} steps in {1e3 * a['wall_seconds']:.1f} ms, {a['degrees_of_freedom']} degrees of freedom, drift "
        f"{a['position_drift_max']:.1e} m, energy against work {a['energy_balance_error']:.1e} J. The picture is in {picture}."
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
