"""A chaser that docks at a tumbling target: when its tip is near enough to the port, the gripper closes.

A weld holds two bodies as they are when it is engaged. The velocities jump: an impulse acts between the two that makes
them move as one, and changes nothing else, so that linear and angular momentum stay what they were and energy is lost:

    T⁺ = p²/2m + ½ L·J⁻¹ L       m, J, p, L of both together, about their common centre of mass                     (1)

    python examples/docking_gripper.py
"""

import casadi as ca
import numpy as np

import torsor as ts


def spacecraft():
    model = ts.Model("docking")
    cube, hull = ts.inertia.box(200.0, 1.0, 1.0, 1.0), ts.inertia.box(500.0, 1.5, 1.0, 1.0)
    chaser = model.body("chaser", inertia=cube, at=(-3, 0, 0), velocity=(0.4, 0.02, 0))
    target = model.body("target", inertia=hull, angular_velocity=(0.3, 0.02, 0.05))
    port = target.point((-0.75, 0, 0)) - chaser.point((0.5, 0, 0))  # from the tip of the gripper
    gripper = model.add(ts.Weld("gripper", chaser, target), active=False)
    state = model.modes("state", "apart", "docked")
    speed = ts.record("approach", ca.norm_2(chaser.velocity - target.velocity))
    near = ca.norm_2(port) <= 0.3
    docked = model.when(near, speed, ts.engage(gripper), ts.enter(state["docked"]), name="dock", during=state["apart"])
    model.when(ts.time >= docked.time + 8, ts.end(), name="done", during=state["docked"])
    signals = {"momentum": 200 * chaser.velocity + 500 * target.velocity, "spin": ts.angular_momentum(model.bodies)}
    return model, signals, (np.array([cube.mass, hull.mass]), np.array([cube.tensor, hull.tensor]))


def as_one(before, mass, inertia):
    """Kinetic energy of both as one rigid body with the momentum that they have: (1)."""
    x, v, R, w = (before[name].values for name in ("position", "velocity", "rotation", "angular_velocity"))
    J, r = R @ inertia @ R.transpose(0, 2, 1), x - mass @ x / mass.sum()
    p, L = mass @ v, (mass[:, None] * np.cross(r, v)).sum(0) + np.einsum("bij,bj->i", R @ inertia, w)
    whole = sum(J) + sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(mass, r))
    return p @ p / mass.sum() / 2 + L @ np.linalg.solve(whole, L) / 2


def main():
    model, signals, inertias = spacecraft()
    data = ts.simulate(model, 60.0, outputs=600, signals=signals)
    when = float(data.event_time[0])
    later = data.attrs["time_reached"] - when
    print(f"docked at {when:.9f} s with {float(data.approach[0]):.4f} m/s; the run ended {later:.4f} s later")
    before, after = data.sel(time=slice(0, when)).isel(time=-1), data.isel(time=-1)
    for name in [n for n in data.data_vars if n.startswith(("momentum", "spin"))]:
        print(f"  {name:<12} {float(before[name]):14.9f} before, {float(after[name]):14.9f} after")
    at = ts.simulate(spacecraft()[0], when, outputs=[when - 1e-9]).isel(time=-1)
    lost, exact = -float(data.event_energy[0]), float(at.kinetic_energy) - as_one(at, *inertias)
    print(f"energy lost by the event {lost:.9f} J, as one rigid body with the same momentum {exact:.9f} J")
    assert abs(lost - exact) < 1e-7 and np.isclose(float(before.energy - after.energy), lost, rtol=1e-9)


if __name__ == "__main__":
    main()
