"""What `Simulation.advance` costs beyond the integration, beside MuJoCo's `mj_step`; memory over many steps.

python bench/stepping.py [steps] [--smoke]         a million steps for the memory by default
"""

import resource
import sys
import time

import numpy as np

import torsor as ts

DT, COUNT, REPEATS = 0.002, 5000, 7
MANY = 1000  # simulations that advance together


def arm(links=6):
    """A robot arm with a motor in each joint."""
    model, before = ts.Model("arm", gravity=(0, 0, -9.81)), None
    for k in range(links):
        body = model.body(f"link{k}", inertia=ts.inertia.box(1.0, 0.3, 0.1, 0.1), at=(0.3 * k + 0.15, 0, 0))
        joint = model.add(
            ts.Revolute(f"joint{k}", before or model.ground, body, point=(0.3 * k, 0, 0), axis="zyyxyx"[k % 6])
        )
        model.add(ts.JointForce(f"motor{k}", joint, model.input(f"torque{k}") - 0.05 * joint.rate[0]))
        before = body
    return model


def best(action):
    """Microseconds per step, the best of several times."""
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return 1e6 * min(taken) / COUNT


def advanced(sim, **inputs):
    for _ in range(COUNT):
        sim.advance(DT, **inputs)


def looked_at(sim):
    for k in range(COUNT):
        sim.advance(DT, torque0=0.1 * (k % 2))
        seen = sim.coordinates, sim.rates
    return seen


def mujoco_step():
    """Microseconds of `mj_step` of the same arm, Euler and RK4."""
    try:
        import mujoco
    except ImportError:
        return {}
    inner = ""
    for k in reversed(range(6)):
        axis = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}["zyyxyx"[k]]
        inner = (
            f'<body pos="{0.3 if k else 0} 0 0"><joint name="j{k}" axis="{axis}" damping="0.05"/><inertial pos="0.15 0 0" '
            f'mass="1" diaginertia="0.001667 0.008333 0.008333"/>{inner}</body>'
        )
    motors = "".join(f'<motor joint="j{k}"/>' for k in range(6))
    found = {}
    for method in ("Euler", "RK4"):
        option = f'<option timestep="{DT}" integrator="{method}"/>'
        text = f"<mujoco>{option}<worldbody>{inner}</worldbody><actuator>{motors}</actuator></mujoco>"
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)

        def steps(model=model, data=data):
            for _ in range(COUNT):
                mujoco.mj_step(model, data)

        found[method] = best(steps)
    return found


def main():
    global COUNT, REPEATS
    if "--smoke" in sys.argv:
        COUNT, REPEATS = 10, 1
    given = [word for word in sys.argv[1:] if word != "--smoke"]
    steps = int(given[0]) if given else 100 * COUNT if "--smoke" in sys.argv else 1_000_000
    for method in ("lie-euler", "rkmk4"):
        sim = ts.Simulation(arm(), formulation="relative", method=method, step=DT)
        stepper = sim.copy()._stepper

        def march(stepper=stepper):
            stepper.out.end = stepper.state.time + 1e9
            stepper.march(stepper.address, COUNT)

        pure, actions = best(march), (advanced, lambda s: advanced(s, torque0=0.1), looked_at)
        plain, driven, seen = (best(lambda s=sim, f=f: f(s)) for f in actions)
        print(f"{method}: integration {pure:.2f} µs a step; a call of advance takes {plain - pure:.2f} µs more, "
              f"{driven - pure:.2f} µs with an input, {seen - pure:.2f} µs with coordinates and rates looked at")  # fmt: skip
    for method in ("lie-euler", "rkmk4"):
        many, calls = ts.Simulations(arm(), MANY, formulation="relative", method=method, step=DT), max(2, COUNT // MANY)
        many.advance(DT)
        torque = np.linspace(-1.0, 1.0, MANY)

        def advance_many(many=many, calls=calls, torque=torque):
            for _ in range(calls):
                many.advance(DT, torque0=torque)

        print(
            f"{method}: {MANY} simulations that advance together: {best(advance_many) * COUNT / (calls * MANY):.2f} µs each a call"
        )
    print("; ".join(f"mj_step ({name}): {x:.2f} µs" for name, x in mujoco_step().items()) or "MuJoCo is not installed")
    began = time.perf_counter()
    sim.reset()
    for _ in range(300):
        sim.reset({"coordinates": np.zeros(6)})
    print(f"reset with a start: {1e6 * (time.perf_counter() - began) / 300:.0f} µs")
    advanced(sim)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    for k in range(steps):
        sim.advance(DT, torque0=0.01 * (k % 3))
        if k % 100 == 0:
            sim["energy"]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{steps:,} steps: {grown} kB more memory, {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
