"""Calls of everyday work with good arguments, which `fuzzing.py` makes odd."""

from functools import cache

import numpy as np

import torsor as ts


@cache
def spring_arm():
    """An arm on a hinge, a result of it, and where it rests."""
    model = ts.Model("everyday", gravity=(0, 0, -9.81))
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis="y"))
    model.add(ts.TorsionSpring("spring", hinge, stiffness=model.parameter("k", 20.0), damping=0.5))
    model.add(ts.JointForce("motor", hinge, model.input("u")))
    model.signal("tip", arm.point((0.5, 0, 0)))
    return model, ts.simulate(model, 0.1, outputs=2), ts.equilibrium(model)


RUN = {
    "step": None,
    "method": "rkmk54",
    "formulation": "auto",
    "projection": "least-squares",
    "tolerance": 1e-6,
    "map": "exp",
}


def everyday():
    model, data, rest = spring_arm()
    times = {"times": [0, 0.1, 0.2]}
    several = {"parameters": {"k": [1.0, 2.0]}, "grid": False, "outputs": 2, "reduce": "last", "keep": ["coordinate"]}
    several |= {"start": {"hinge": [0.1, 0.2]}, "inputs": None, "signals": None, "executor": 1, "store": None}
    single = {"start": {"hinge": 0.3}, "parameters": {"k": 3.0}, "signals": None, "horizon": 10.0}
    asked = {"weights": None, "least_squares": False, "modes": False, "starts": 2, "start": {"hinge": 0.1}, "time": 0.0}
    return [
        ("study", ts.study, (model, 0.02), several | RUN),
        ("rollouts", ts.study, (model, 0.02), {"inputs": {"u": np.ones((2, 3))}, "reduce": {"a": ("energy", "max"), "b": len}}),
        ("Simulation", ts.Simulation, (model,), single | RUN),
        *[(name, call, args, named) for name, (call, args, named) in stepping(model).items()],
        ("Controller", sampled, (), {"period": 0.01, "outputs": ["torque"], "function": law, "state": None, "delay": 0.0,
        "start": 0.0, "compiled": False, "phase": 0.0}),
        ("table", ts.table, ([0, 1, 2, 3], [0, 1, 4, 9]), {"kind": "cubic", "outside": "hold", "name": "t"}),
        ("map", ts.table, (([0, 1, 2, 3], [0, 1]), np.ones((4, 2))), {"kind": "linear"}),
        ("call of a table", ts.table([0, 1], [0, 1]), (0.5,), {}), ("read_table", ts.read_table, ("nothing.csv", "t", "x"), {}),
        ("equilibrium", ts.equilibrium, (model,), {"start": {"hinge": 0.3}, "formulation": "auto", "parameters": {"k": 3.0},
        "inputs": {"u": 1.0}, "stable": False, "time": 0.0}),
        ("linearise", ts.linearise, (model,), {"inputs": ["u"], "outputs": ["tip", "hinge"], "at": rest, "formulation": "auto",
        "parameters": None, "time": 0.0, "coordinates": None}),
        ("assemble", ts.assemble, (model, {"hinge": 0.3}), asked | {"limits": {"hinge": (-1, 1)}, "formulation": None}),
        ("least squares", ts.assemble, (model, {"tip": (0, 0, -1)}), {"weights": {"tip": 1.0}, "least_squares": True}),
        ("kinematics", ts.kinematics, (model, {"hinge": ts.time}), times | {"signals": None, "start": None, "formulation": None}),
        ("rates", ts.kinematics, (model, {"hinge": [0, 0.1, 0.2]}), times | {"rates": {"hinge": [1, 1, 1]}, "accelerations": None}),
        ("path", ts.kinematics, (model,), times | {"targets": {"hinge": [0.0, 0.1, 0.2]}, "actuators": ["hinge"]}),
        ("range", ts.range_of_motion, (model, "hinge"), {"start": {"hinge": 0.1}, "parameters": None, "formulation": None}),
        ("to_pandas", ts.to_pandas, (data,), {"per": "time"}), ("load_state", ts.load_state, ("nothing.state",), {}),
        ("start", ts.simulate, (model, 0.01), {"outputs": 1, "start": {"hinge": 0.1}}),
        ("view", ts.plot, (data, "coordinates"), {"only": None}),
        ("former result", ts.simulate, (model, 0.01), {"outputs": 1, "start": data.isel(time=-1)}),
        ("input", ts.Model("m").input, ("torque", 0.0), {}),
    ]  # fmt: skip


def stepping(model):
    """What is done with a simulation."""
    sim = ts.Simulation(model)

    def state(value):
        sim.state = value

    return {
        "advance": (sim.advance, (), {"dt": 0.01, "u": 1.0}), "reset": (sim.reset, (), {"start": {"hinge": 0.2}, "time": 0.5}),
        "shown": (sim.__getitem__, ("hinge",), {}), "state": (state, (None,), {}),
        "inputs": (sim.inputs.__setitem__, ("u", 1.0), {}),
    }  # fmt: skip


def law(t, u):
    return -u[0]


def sampled(**given):
    """A run with a controller."""
    model = ts.Model("sampled")
    hinge = model.add(ts.Revolute("hinge", model.ground, model.body("arm", mass=1.0, inertia=(1, 1, 1)), axis="y"))
    model.add(ts.Controller("pilot", inputs=[hinge.coordinate], **given))
    return ts.simulate(model, 0.02, outputs=1)
