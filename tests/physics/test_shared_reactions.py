"""Redundant constraints share loads with the least norm: the pseudoinverse of equilibrium, assembled here by itself, says how."""

import numpy as np
import pytest

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz", "hierarchical", "hamiltonian")


def held_directions(joint, R):
    """Forces and torques that a joint can exert on its second body, in world axes at its point: unit columns (F, T)."""
    axis = R @ np.array(joint.axis, float) if hasattr(joint, "axis") else None
    across = None if axis is None else np.linalg.svd(axis[None])[2][1:].T
    force, torque = {
        "revolute": (np.eye(3), across), "spherical": (np.eye(3), np.zeros((3, 0))), "prismatic": (across, np.eye(3)),
        "fixed": (np.eye(3), np.eye(3)),
    }[joint.key]  # fmt: skip
    empty = lambda A: np.zeros((3, A.shape[1]))
    return np.hstack([np.vstack([force, empty(force)]), np.vstack([empty(torque), torque])])


def equilibrium(model, data, k):
    """Columns of wrenches (force, torque about the centre of mass) of all joints on all bodies at output k, in world axes; and
    for each joint which columns are its own, with the directions of its forces and torques."""
    names, x = data.body.values.tolist(), data.position.values[k]
    columns, owner = [], []
    for joint in model.joints:
        local = joint.placed_numbers[1][:3, 3]
        place = names.index(joint.second.name) if joint.second.name in names else None
        turn = np.eye(3) if place is None else data.rotation.values[k, place]
        point = local if place is None else x[place] + turn @ local
        basis = held_directions(joint, turn)
        E = np.zeros((6 * len(names), basis.shape[1]))
        for body, sign in ((joint.second, 1), (joint.first, -1)):
            if body.name in names:
                b = names.index(body.name)
                F, T = basis[:3], basis[3:]
                arm = np.cross(point - x[b], F.T).T
                E[6 * b : 6 * b + 6] = sign * np.vstack([F, T + arm])
        columns.append(E)
        owner.append((slice(sum(c.shape[1] for c in columns[:-1]), sum(c.shape[1] for c in columns)), basis))
    return np.hstack(columns), owner


def needed(model, data, k):
    """Wrenches that the joints have to exert together: M a − weight, with the rate of spin."""
    found = []
    for b, body in enumerate(model.bodies):
        R, w, dw = (data[name].values[k, b] for name in ("rotation", "angular_velocity", "angular_acceleration"))
        m, J = float(body.mass), np.array(body.numbers.inertia)
        found.append(m * (data.acceleration.values[k, b] - np.array([0, 0, -9.81])))
        found.append(R @ (J @ dw + np.cross(w, J @ w)))
    return np.concatenate(found)


def slider_crank():
    model = ts.Model("slider-crank", gravity=(0, 0, -9.81))
    crank = model.body("crank", inertia=ts.inertia.rod(1.0, 0.2, axis="x"), at=(0.1, 0, 0))
    rod = model.body("rod", inertia=ts.inertia.rod(2.0, 0.6, axis="x"), at=(0.5, 0.03, 0))
    piston = model.body("piston", inertia=ts.inertia.cylinder(1.5, 0.05, 0.1, axis="x"), at=(0.8, 0, 0))
    model.add(ts.Revolute("shaft", model.ground, crank, point=(0, 0, 0), axis=(0, 1, 0), start_rate=20.0))
    model.add(ts.Revolute("pin", crank, rod, point=(0.2, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("wrist", rod, piston, point=(0.8, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Prismatic("bore", model.ground, piston, point=(0.8, 0, 0), axis=(1, 0, 0)))
    return model


def door():
    """A door on three hinges, off the vertical."""
    model = ts.Model("door", gravity=(0, 0, -9.81))
    leaf = model.body("leaf", inertia=ts.inertia.box(30.0, 0.9, 0.04, 2.0), at=(0.45, 0, 1.0))
    axis = np.array([0.1, 0.2, 1.0]) / np.linalg.norm([0.1, 0.2, 1.0])
    for k, height in enumerate((0.2, 0.9, 1.8)):
        model.add(
            ts.Revolute(
                f"hinge{k}", model.ground, leaf, point=axis * height, axis=axis, start_rate=0.5 if k == 0 else None
            )
        )
    return model


def frame():
    """Two welds and a ball hold a beam; a bar hangs on it by two balls and a hinge."""
    model = ts.Model("frame", gravity=(0, 0, -9.81))
    beam = model.body("beam", inertia=ts.inertia.box(12.0, 2.0, 0.1, 0.1), at=(1, 0, 0))
    bar = model.body("bar", inertia=ts.inertia.box(3.0, 1.0, 0.1, 0.1), at=(1.1, 0.2, -0.5))
    model.add(ts.Fixed("left", model.ground, beam, point=(0, 0, 0)))
    model.add(ts.Fixed("right", model.ground, beam, point=(2, 0.1, 0)))
    model.add(ts.Spherical("middle", model.ground, beam, point=(0.8, 0, 0.1)))
    model.add(ts.Spherical("one", beam, bar, point=(0.6, 0.1, -0.2)))
    model.add(ts.Spherical("two", beam, bar, point=(1.6, 0.1, -0.2)))
    return model


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("build", [slider_crank, door, frame])
def test_reactions_are_those_of_least_norm(build, formulation):
    model = build()
    data = ts.simulate(model, 0.1, outputs=3, formulation=formulation, reactions="share", tolerance=1e-10)
    for k in range(1, data.sizes["time"]):  # a crank starts at its dead centre
        E, owners = equilibrium(model, data, k)
        assert np.linalg.matrix_rank(E, tol=1e-9) < E.shape[1]  # there is something to share
        wrench, rest, *_ = np.linalg.lstsq(E, needed(model, data, k), rcond=1e-9)
        for j, (columns, basis) in enumerate(owners):
            F, T = np.split(basis @ wrench[columns], 2)
            size = np.abs(wrench).max()
            np.testing.assert_allclose(
                data.reaction_force.values[k, j], F, atol=1e-7 * size, err_msg=model.joints[j].name
            )
            np.testing.assert_allclose(
                data.reaction_torque.values[k, j], T, atol=1e-7 * size, err_msg=model.joints[j].name
            )


def test_sharing_changes_neither_the_motion_nor_what_is_unique():
    solved, shared = (ts.simulate(slider_crank(), 0.1, outputs=4, reactions=how) for how in ("solved", "share"))
    np.testing.assert_allclose(solved.position, shared.position, atol=1e-12)
    for name, flag in (("reaction_force", "reaction_unique"), ("reaction_torque", "reaction_torque_unique")):
        unique = solved[flag].values
        np.testing.assert_allclose(shared[name].values[:, unique], solved[name].values[:, unique], rtol=1e-9, atol=1e-9)
    square = lambda data: (data.reaction_force**2 + data.reaction_torque**2).sum(("joint", "axis"))
    assert (square(shared) <= square(solved) * (1 + 1e-12)).all() and (
        square(shared) < (1 - 1e-5) * square(solved)
    ).all()


def planetary():
    """Three planets between a sun and a ring that is held."""
    model = ts.Model("planetary")
    bodies = {name: model.body(name, mass=1, inertia=(1e-3,) * 3) for name in ("sun", "carrier", "ring")}
    turns = {n: model.add(ts.Revolute(f"{n}_j", model.ground, b, point=(0, 0, 0), axis="z")) for n, b in bodies.items()}
    for k in range(3):
        at = (np.cos(2.1 * k), np.sin(2.1 * k), 0)
        planet = model.body(f"p{k}", mass=0.1, inertia=(3e-5,) * 3, at=at)
        own = model.add(ts.Revolute(f"pj{k}", bodies["carrier"], planet, point=at, axis="z"))
        sun, carrier, ring = (turns[n].coordinate for n in ("sun", "carrier", "ring"))
        model.add(ts.Holonomic(f"sun_mesh{k}", 24 * (sun - carrier) / 18 + own.coordinate))
        model.add(ts.Holonomic(f"ring_mesh{k}", own.coordinate - 60 * (ring - carrier) / 18))
    model.add(ts.JointForce("in", turns["sun"], 1.0))
    model.add(ts.JointForce("load", turns["carrier"], -2.0))
    model.add(ts.Lock("hold", turns["ring"]))
    return model


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_planets_share_their_load(formulation):
    data = ts.simulate(planetary(), 0.05, outputs=2, formulation=formulation, reactions="share")
    for mesh in ("sun_mesh", "ring_mesh"):
        rows = [f"{mesh}{k}[0]" for k in range(3)]
        loads = data.multiplier.sel(constraint=rows).values
        assert np.abs(loads).min() > 1e-3
        np.testing.assert_allclose(loads, loads[:, :1] * np.ones(3), rtol=1e-9)
        assert not data.multiplier_unique.sel(constraint=rows).any()


def test_studies_simulations_and_signals_share_too(tmp_path):
    model = slider_crank()
    model.signal("across", model["pin"].reaction_force[1])
    options = {"reactions": "share", "method": "rkmk4", "step": 1e-3}
    alone = ts.simulate(model, 0.05, outputs=2, **options)
    np.testing.assert_array_equal(alone.across, alone.reaction_force.sel(joint="pin", axis="y"))
    sim = ts.Simulation(model, horizon=0.05, **options)
    sim.advance(0.05)
    np.testing.assert_allclose(sim["pin.reaction_torque"], alone.reaction_torque.sel(joint="pin")[-1], atol=1e-9)
    runs = ts.study(
        model, 0.05, start={"shaft.rate": [20.0, 20.0]}, outputs=2, keep=["reaction_torque", "multiplier"], **options
    )
    np.testing.assert_allclose(runs.reaction_torque[1], alone.reaction_torque, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(runs.multiplier[1], alone.multiplier, rtol=1e-9, atol=1e-9)
    kept = ts.simulate(model, 0.05, outputs=2, checkpoint=tmp_path / "run", **options)
    np.testing.assert_array_equal(kept.reaction_torque, alone.reaction_torque)
    again = ts.resume(tmp_path / "run", model)
    np.testing.assert_array_equal(again.reaction_torque, alone.reaction_torque)


@pytest.mark.parametrize("wrong", ["equal", None, 1, ["share"]])
def test_another_value_is_refused(wrong):
    for run in (lambda: ts.simulate(door(), 0.1, reactions=wrong), lambda: ts.Simulation(door(), reactions=wrong),
                lambda: ts.study(door(), 0.1, reactions=wrong)):  # fmt: skip
        with pytest.raises(ts.OptionError, match=r"reactions.*'solved'.*'share'|reactions is an argument"):
            run()


def test_threads_refuse_to_share(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    with pytest.raises(ts.OptionError, match="reactions='share' is not supported with threads"):
        ts.simulate(door(), 0.1, reactions="share", threads=2)
