"""Variants of random mechanisms: what must leave their motion as it is, or can be computed in two ways.

| variant | what is changed | what must hold |
|---|---|---|
| turned | the description is turned and shifted in the world | the motion turns along, energies stay |
| included | the model is a component that is turned and shifted | likewise |
| inactive | elements of all kinds are added with `active=False` | the same motion |
| inputs | a load by an input: from Python, by a study, as a parameter | the motion under the load as a function of time |
| stiff | own states with fast rates, by an implicit method | the motion by an explicit method |
"""

from itertools import pairwise

import casadi as ca
import numpy as np
import xarray as xr
from agreement import ENERGIES, FORMULATIONS, Verdict, difference, energy_defect, energy_difference, run
from mechanisms import describe, drawing, matrix_of
from random_elements import contacts, drives, floor, forces, numbers, rubbing

import torsor as ts

INTERVALS = 4  # of a run, in which inputs are constant
OUTPUTS = 7  # intervals of outputs, none of which is an instant at which inputs jump
KINDS = [
    cls for kind in ("joint", "constraint", "force", "rule") for cls in ts.registered(kind).values() if cls.variants
]


def judge_variant(seed, name, **options):
    """Run a mechanism as it is and as a variant, each in a random formulation, and compare motions and energies."""
    rng = np.random.default_rng([*seed, 99])
    one, two = (str(f) for f in rng.choice(FORMULATIONS, 2))
    reference, variant, words = VARIANTS[name](seed, rng, one, two, options)
    verdict = Verdict(f"{name}, {one} and {two}: {words}", {})
    runs = [run(simulate, role, verdict) for role, simulate in (("reference", reference), ("variant", variant))]
    if not any(verdict.outcomes.values()):  # a run that is refused, or warns, is not silent
        verdict.disagreement = "".join(energy_defect(data) for data in runs)
        for compare in (difference, energy_difference):
            gap, at, allowed = compare(*runs)
            verdict.size = max(verdict.size, gap)
            if not gap <= allowed:
                verdict.disagreement += f"{compare.__name__} {gap:.1e} at t = {at:.3g} s, allowed {allowed:.1e}; "
    return verdict


def simulation(draw, formulation, **options):
    """A function that simulates a drawing and certifies the result."""
    options = {"outputs": OUTPUTS, "tolerance": 1e-9, "certify": True} | options

    def simulate():
        return ts.simulate(draw.model, 2.0 * draw.time, formulation=formulation, **options)

    return simulate


def random_pose(rng):
    """A rotation by an angle up to π, and a shift by up to three lengths in each axis."""
    turn = rng.normal(size=3)
    return matrix_of(turn * rng.uniform(0.1, np.pi) / np.linalg.norm(turn)), rng.uniform(-3, 3, 3)


def turn_back(simulate, pose, length):
    """A function that returns a result as seen from a frame with this pose."""
    R, shift = pose

    def simulate_and_turn():
        data = simulate()
        position = (data.position.values - length * shift) @ R
        rotation = np.swapaxes(np.swapaxes(data.rotation.values, -1, -2) @ R, -1, -2)
        return data.assign(position=(data.position.dims, position), rotation=(data.rotation.dims, rotation))

    return simulate_and_turn


def turned(seed, rng, one, two, options):
    pose, draw = random_pose(rng), drawing(seed, **options)
    rubbed = [c for c in draw.model.constraints if isinstance(c, ts.Friction) and isinstance(c.on, ts.Planar)]
    if any(c.index < 2 for c in rubbed):  # along n₁ or n₂, which follow from the axis and do not turn with it
        return included(seed, rng, one, two, options)
    other = drawing(seed, **options, pose=pose)
    return simulation(draw, one), turn_back(simulation(other, two), pose, draw.length), describe(draw)


def included(seed, rng, one, two, options):
    pose, draw, other = random_pose(rng), drawing(seed, **options), drawing(seed, **options)
    gravity = pose[0] @ numbers(other.model.gravity)
    other.model, part = ts.Model("world", gravity=tuple(gravity)), other.model
    other.model.include("part", part, at=tuple(draw.length * pose[1]), rotation=pose[0])
    return simulation(draw, one), turn_back(simulation(other, two), pose, draw.length), describe(draw)


def inactive(seed, rng, one, two, options):
    draw, other = drawing(seed, **options), drawing(seed, **options)
    other.rng, other.active, other.prefix = rng, False, "off_"
    for decorate in (forces, drives, contacts, floor, rubbing):
        decorate(other)
    first, second = (other.model.bodies[k] for k in rng.choice(len(other.model.bodies), 2, replace=False))
    slender = [j for j in other.joints if j.dof == 1] or other.joints
    scene = {"first": first, "second": second, "body": second, "joint": slender[rng.integers(len(slender))]}
    scene["other"] = slender[rng.integers(len(slender))]
    words = []
    for k, cls in enumerate(rng.choice(KINDS, 3, replace=False)):
        try:
            other.add(cls.examples(scene, f"off_{k}")[0])
            words.append(cls.key)
        except ts.ModelError:  # some elements need a joint with one coordinate
            pass
    return simulation(draw, one), simulation(other, two), f"{' '.join(words)}; {describe(draw)}"


def add_load(draw, value, choice):
    """Load a drawing with `value` in units of its force: a force at a point, a torque, gravity, or a force in a joint."""
    model, rng = draw.model, np.random.default_rng(choice)
    force = draw.mass * draw.length / draw.time**2
    body, n = model.bodies[rng.integers(len(model.bodies))], draw.direction()
    point = draw.point(draw.centre(body) + draw.place(0.3))
    slender = [j for j in draw.joints if type(j) in (ts.Revolute, ts.Prismatic)]
    kind = int(rng.integers(4))
    if kind == 0 and slender:
        joint = slender[rng.integers(len(slender))]
        unit = force if isinstance(joint, ts.Prismatic) else force * draw.length
        model.add(ts.JointForce("load", joint, value=unit * value))
    elif kind == 1:
        model.add(ts.Torque("load", body, torque=force * draw.length * value * ca.DM(draw.vector(n))))
    elif kind == 2:
        model.gravity = ca.SX(model.gravity) + draw.length / draw.time**2 * value * ca.DM(draw.vector(n))
    else:
        model.add(ts.PointForce("load", body, force=force * value * ca.DM(draw.vector(n)), point=point))
    return ("joint force", "torque", "gravity", "point force")[kind]


def inputs(seed, rng, one, two, options):
    draw, other = drawing(seed, **options), drawing(seed, **options)
    choice, way = int(rng.integers(2**31)), str(rng.choice(["parameter", "advance", "study"]))
    levels = rng.uniform(-5, 5, 1 if way == "parameter" else INTERVALS)
    until = 2.0 * draw.time
    load = levels[-1]
    for k in reversed(range(len(levels) - 1)):
        load = ca.if_else(ts.time < (k + 1) / INTERVALS * until, levels[k], load)
    words = add_load(draw, load, choice)
    add_load(other, other.model.input("u", rng.uniform(-5, 5)), choice)
    if way != "parameter":  # without a certificate of its own
        two = one
    reference = simulation(draw, one)

    def by_study():
        asked = {"outputs": OUTPUTS, "tolerance": 1e-9, "formulation": two}
        return ts.study(other.model, until, inputs={"u": levels}, **asked).isel(run=0)

    def by_steps():
        return advance(other.model, until, levels, two)

    by_parameter = simulation(other, two, parameters={"u": levels[0]})
    variant = {"parameter": by_parameter, "advance": by_steps, "study": by_study}[way]
    return reference, variant, f"{words}, {way}{'' if two != one else f', both {one}'}; {describe(draw)}"


def advance(model, until, levels, formulation):
    """The result of a run that is driven from Python, with another input in each interval."""
    sim = ts.Simulation(model, formulation=formulation, tolerance=1e-9, horizon=until)
    sim.inputs["u"] = levels[0]
    names, edges = ("position", "rotation", *ENERGIES), np.arange(1, INTERVALS + 1) / INTERVALS
    shown = [[np.array(sim[name]) for name in names]]
    for now, to in pairwise(sorted({0.0, *edges, *np.arange(1, OUTPUTS + 1) / OUTPUTS})):
        sim.advance((to - now) * until, u=levels[np.searchsorted(edges, to)])
        if to not in edges[:-1]:
            shown.append([np.array(sim[name]) for name in names])
    columns = (np.array(column) for column in zip(*shown))
    return xr.Dataset({name: (("time", *"abc"[: x.ndim - 1]), x) for name, x in zip(names, columns)})


def stiff(seed, rng, one, two, options):
    draw = drawing(seed, **options)
    model, method = draw.model, str(rng.choice(["radau5", "bdf"]))
    fast = 10 ** rng.uniform(1, 3.5) / draw.time
    body, n = model.bodies[rng.integers(len(model.bodies))], draw.vector(draw.direction())
    shift = ca.dot(ca.DM(n), body.position - ca.DM(numbers(body.start_position))) / draw.length
    law = str(rng.choice(["linear", "cubic", "pair"]))
    if law == "linear":
        state = model.state("s", lambda s: fast * (shift - s), start=rng.uniform(-1, 1))
    elif law == "cubic":
        state = model.state("s", lambda s: fast * (shift - s - s**3), start=rng.uniform(-1, 1))
    else:
        A = ca.DM([[-1.0, 1.0], [-1.0, -1.0]])
        state = model.state("s", lambda s: fast * (A @ s + ca.vertcat(shift, 0)), start=rng.uniform(-1, 1, 2))
    force = draw.mass * draw.length / draw.time**2
    model.add(ts.PointForce("lag", body, force=-3 * force * state[0] * ca.DM(n)))
    words = f"{law} at {fast * draw.time:.0f}, {method}; {describe(draw)}"
    return simulation(draw, one), simulation(draw, two, method=method, tolerance=1e-8), words


VARIANTS = {"turned": turned, "included": included, "inactive": inactive, "inputs": inputs, "stiff": stiff}
