"""Reactions: every body obeys Newton and Euler with them, and those that are not unique are marked."""

import numpy as np
import pytest

import torsor as ts


def on_each_body(model, data):
    """Force, and torque about the centre of mass, that all connections exert on each body, in world axes."""
    force = {b.name: 0.0 for b in model.bodies}
    torque = {b.name: 0.0 for b in model.bodies}
    for joint in [c for c in model.constraints if c.name in data.joint.values]:
        part = data.sel(joint=joint.name)
        F, T = part.reaction_force.values, part.reaction_torque.values
        local = np.array(ts.quantity.numbers(joint.placed[1]))[:3, 3]
        second = data.sel(body=joint.second.name)
        at = second.position.values + second.rotation.values @ local
        for body, sign in ((joint.first, -1), (joint.second, 1)):
            if body.name in force:
                arm = at - data.sel(body=body.name).position.values
                force[body.name] = force[body.name] + sign * F
                torque[body.name] = torque[body.name] + sign * (T + np.cross(arm, F))
    return force, torque


@pytest.mark.parametrize("case", ["three-link", "four-bar", "heavy-top"])
def test_reactions_and_weight_give_every_body_its_acceleration(case):
    model = ts.cases.load(case)
    data = ts.simulate(model, 2.0, outputs=23, tolerance=1e-10)
    force, torque = on_each_body(model, data)
    weight = np.array(ts.quantity.numbers(model.gravity)).ravel()
    for body in model.bodies:
        part = data.sel(body=body.name)
        m, J = float(body.mass), np.array(ts.quantity.numbers(body.inertia))
        scale = np.abs(data.reaction_force.values).max()
        newton = m * part.acceleration.values - m * weight
        assert np.abs(force[body.name] - newton).max() < 1e-10 * scale  # linear algebra, near singular positions too
        w, dw, R = (part[k].values for k in ("angular_velocity", "angular_acceleration", "rotation"))
        euler = np.einsum("tij,tj->ti", R, dw @ J.T + np.cross(w, w @ J.T))
        assert np.abs(torque[body.name] - euler).max() < 1e-10 * scale


def test_reactions_of_a_resting_chain_carry_the_weight_below_them():
    model = ts.Model("plumb-line", gravity=(0, 0, -9.81))
    above = model.ground
    for k in range(3):
        body = model.body(f"link{k}", mass=1.0 + k, inertia=(0.1, 0.1, 0.02), at=(0, 0, -k - 0.5))
        model.add(ts.Spherical(f"ball{k}", above, body, point=(0, 0, -k)))
        above = body
    data = ts.simulate(model, 1.0, outputs=4)
    for k, below in enumerate((6.0, 5.0, 3.0)):
        F = data.reaction_force.sel(joint=f"ball{k}").values
        assert np.abs(F - [0, 0, 9.81 * below]).max() < 1e-12 * 9.81 * 6
        assert np.abs(data.reaction_torque.sel(joint=f"ball{k}").values).max() < 1e-12


def test_a_cantilevered_weld_carries_force_and_moment():
    model = ts.Model("bracket", gravity=(0, 0, -9.81), hints=False)  # nothing can move
    body = model.body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.7, 0, 0))
    model.add(ts.Fixed("weld", model.ground, body, point=(0, 0, 0)))
    data = ts.simulate(model, 1.0, outputs=2)
    weight = 2.0 * 9.81
    assert np.abs(data.reaction_force.values[:, 0] - [0, 0, weight]).max() < 1e-12 * weight
    assert np.abs(data.reaction_torque.values[:, 0] - [0, -0.7 * weight, 0]).max() < 1e-12 * weight  # r × W on the weld


def test_reactions_of_redundant_loops_are_marked():
    """A planar loop of spatial hinges: out of the plane the reactions are not unique, in a chain they are."""
    loop = ts.simulate(ts.cases.load("four-bar", n=1), 0.5, outputs=5)
    assert len(eval(loop.attrs["redundant_constraints"])) == 3
    assert loop.reaction_unique.sel(axis=["x", "y"]).all() and not loop.reaction_unique.sel(axis="z").any()
    assert (
        not loop.reaction_torque_unique.sel(axis=["x", "y"]).any() and loop.reaction_torque_unique.sel(axis="z").all()
    )
    chain = ts.simulate(ts.cases.load("three-link"), 0.5, outputs=5)
    assert chain.attrs["redundant_constraints"] == "[]"
    assert chain.reaction_unique.all() and chain.reaction_torque_unique.all() and chain.multiplier_unique.all()


def test_reactions_in_the_plane_of_a_redundant_loop_are_those_of_the_plane():
    """The in-plane parts are unique: the cranks of a parallelogram share the coupler's load as planar statics says."""
    model = ts.cases.load("four-bar", n=1)
    data = ts.simulate(model, 0.5, outputs=10, tolerance=1e-11)
    at = lambda joint: data.reaction_force.sel(joint=joint).values
    coupler = data.sel(body="coupler0")
    total = at("B0") - at("C0")  # on the coupler: B0 acts on it as second body, C0 on the crank after it
    assert np.abs(total - (coupler.acceleration.values + [0, 9.81, 0])).max() < 1e-9
    assert np.abs(at("A0")[:, 2]).max() < 1e-12  # nothing pushes out of the plane


H, LOAD, TORQUE, TURNED = 0.02 / (2 * np.pi), 100.0, 2.0, 0.01 + 2.0 * (0.02 / (2 * np.pi)) ** 2


def jack(metre, by):
    """A nut of 2 kg on a thread of 20 mm, under a load, in units of which a metre has so many; a torque lifts it."""
    model = ts.Model("jack")
    nut = model.body("nut", mass=2.0, inertia=(0.01 * metre**2,) * 3)
    thread = model.add(ts.Screw("thread", model.ground, nut, axis=(0, 0, 1), pitch=0.02 * metre))
    model.add(ts.PointForce("load", nut, force=(0, 0, -LOAD * metre)))
    torque = TORQUE * metre**2
    if by == "drive":
        model.add(ts.Drive("lift", thread, lambda t: (TORQUE - H * LOAD) / TURNED * t**2 / 2))
    elif by == "spring":
        model.add(ts.TorsionSpring("lift", thread, stiffness=1e-9 * torque, rest=1e9))
    else:
        model.add(ts.JointForce("lift", thread, torque))
    if by == "force against friction":
        model.add(ts.Friction("rub", thread, coefficient=0.1, radius=0.05 * metre))
    return model


@pytest.mark.parametrize("by", ["force", "spring", "drive", "force against friction"])
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_a_thread_bears_what_a_torque_lifts(by, formulation):
    """(J + m h²) α = Q − h F − μ r N and N = F + m h α, in metres and in millimetres, however the torque is made."""
    rub = 0.1 * 0.05 if by == "force against friction" else 0.0
    alpha = (TORQUE - (H + rub) * LOAD) / (TURNED + 2.0 * H * rub)
    for metre in (1.0, 1e3):
        data = ts.simulate(jack(metre, by), 0.1, outputs=2, formulation=formulation)
        force, torque = (data[x].sel(joint="thread", axis="z").values[1] for x in ("reaction_force", "reaction_torque"))
        assert abs(float(data.coordinate[-1, 0]) - alpha * 0.1**2 / 2) < 1e-8
        assert abs(force / metre - LOAD - 2.0 * H * alpha) < 1e-8 * LOAD
        assert abs(torque / metre**2 + H * (LOAD + 2.0 * H * alpha)) < 1e-8 * TORQUE
