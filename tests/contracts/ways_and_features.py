"""Features and ways of running: a tiny model with each feature, and a run of it in each way."""

import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import casadi as ca
import numpy as np

import torsor as ts
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE
from torsor.parallel.threads import run_together

UNTIL, OUTPUTS, STEP = 0.06, 3, 0.01
FIXED = {"method": "rkmk4", "step": STEP}


class NotApplicable(Exception):
    """A way of running that has no such feature."""


def machine():
    """Two arms of three links on the ground, a spring between their tips, and torques by a parameter."""
    model = ts.Model("machine", gravity=(0.5, 0, -9.81))
    torque, tips = model.parameter("torque", 0.3), []
    for k in range(2):
        above = model.ground
        for i in range(3):
            link = model.body(f"link{k}{i}", mass=1.0 + i, inertia=(0.1, 0.2, 0.15), at=(k + 0.1 * i, 0, -i - 1))
            hinge = model.add(ts.Revolute(f"hinge{k}{i}", above, link, point=(k, 0.05, -i - 0.5), axis="y"))
            above = link
        model.add(ts.JointForce(f"motor{k}", hinge, torque * (k + 1)))
        tips.append(above)
    model.add(ts.SpringDamper("spring", *tips, stiffness=30.0, damping=0.4, length=0.9))
    return model


def closed(model):
    """The model with a rod that closes a loop."""
    model.add(ts.Distance("rod", model.ground, model["link01"], points=((0, 0, 0), (0.1, 0, -2))))
    return model


def plain(model):
    return {}


def adaptive(model):
    return {"method": "rkmk54", "step": None, "tolerance": 1e-9}


def implicit(model):
    return {"method": "radau5", "step": 0.02}


def variational(model):
    return {"method": "variational"}


def automatic(model):
    return {"method": "auto", "step": None}


def events(model):
    hinge = model["hinge00"]
    extra = model.add(ts.JointForce("extra", model["hinge10"], 1.0))
    switch = ts.switch(extra, on=False)
    model.when(hinge.rate[0] >= 0.1, ts.record("height", model["link02"].position[2]), switch, name="fast")
    return {"tolerance": 1e-12}


def contacts(model):
    model.add(
        ts.Contact(
            "foot",
            model.ground,
            model["link02"],
            point=(0.2, 0, -3),
            plane=(0, 0, -3.0005),
            normal="z",
            restitution=0.3,
        )
    )
    model.add(ts.JointForce("push", model["hinge00"], -20.0))
    return {}


def friction(model):
    model.add(ts.Friction("rub", model["hinge00"], coefficient=0.1, radius=0.05))
    return {}


def drives(model):
    model.add(ts.Drive("drive", model["hinge00"], 0.1 * ts.time**2))
    return {}


def inputs(model):
    model.add(ts.JointForce("push", model["hinge00"], model.input("push_torque", 2.0)))
    return {}


def law(t, u):
    """A law of a controller."""
    return 2.0 - u[0]


def python_controllers(model):
    hinge = model["hinge00"]
    pilot = model.add(ts.Controller("pilot", 0.02, [hinge.coordinate], ["push"], law))
    model.add(ts.JointForce("driven", hinge, pilot["push"]))
    return {}


def compiled_controllers(model):
    hinge = model["hinge00"]
    pilot = model.add(ts.Controller("pilot", 0.02, [], outputs={"push": 2.0 - hinge.coordinate[0]}))
    model.add(ts.JointForce("driven", hinge, pilot["push"]))
    return {}


def states(model):
    pressure = model.state("pressure", rate=lambda p: 5.0 * (model["hinge00"].rate[0] - p), start=0.2)
    model.add(ts.JointForce("piston", model["hinge00"], -3.0 * pressure))
    return {}


def tables(model):
    law = ts.table([-1.0, 0.0, 0.5, 1.0], [1.0, 0.3, -0.5, -1.0], "cubic", "extrapolate")
    model.add(ts.JointForce("bow", model["hinge00"], law(model["hinge00"].coordinate[0])))
    return {}


def signals(model):
    model.signal("carried", model["hinge00"].reaction_force[2] + model["link02"].acceleration[0])
    return {"signals": {"height": model["link02"].position[2]}}


def certify(model):
    return {"certify": True}


def checkpoints(model):
    return {"checkpoint": True}


def parameters(model):
    return {"parameters": {"torque": 1.7}}


def start(model):
    return {"start": {"hinge00": 0.2, "hinge01.rate": -0.3}}


def loops(model):
    closed(model)
    return {}


def projection_of(key):
    def projected(model):
        closed(model)
        return {"projection": key}

    return projected


def moving_grounds(model):
    table = model.add(ts.Ground("table", at=(3.0 + 0.1 * ts.time**2, 0, 0)))
    cart = model.body("cart", mass=1.0, inertia=(1, 1, 1), at=(3, 0, 0))
    model.add(ts.Revolute("carried", table, cart, point=(3, 0, 0.5), axis="y"))
    return {}


def particles(model):
    ball = model.body("ball", mass=1.0, inertia=0, at=(5, 0, 0))
    model.add(ts.SpringDamper("thread", ball, model["link02"], stiffness=5.0, length=1.0))
    return {"formulation": "absolute"}


def velocity_level(model):
    wheel = model.body(
        "skate", mass=1.0, inertia=(0.1, 0.1, 0.2), at=(5, 0, 0), velocity=(1, 0, 0), angular_velocity=(0, 0, 1)
    )
    model.add(ts.Planar("ice", model.ground, wheel, axis="z", point=(5, 0, 0)))
    model.add(ts.Nonholonomic("blade", ca.dot(wheel.direction((0, 1, 0)), wheel.velocity)))
    return {}


PROJECTIONS = ("post", "partition", "weighted", "none", "baumgarte")
FEATURES = {
    "adaptive step": adaptive, "implicit method": implicit, "variational method": variational, 'method="auto"': automatic,
    "events": events, "contacts": contacts, "friction": friction, "drives": drives, "inputs": inputs,
    "controllers in Python": python_controllers, "compiled controllers": compiled_controllers, "own states": states,
    "tables": tables, "signals and records": signals, "certify": certify, "checkpoints and resume": checkpoints,
    "parameters": parameters, "start=": start, "loops": loops,
    **{f"projection {key}": projection_of(key) for key in PROJECTIONS},
    "moving grounds": moving_grounds, "particles": particles, "velocity-level constraints": velocity_level,
}  # fmt: skip
TABLES_FROM = {"small": 64, "large": 2, "threads": 2, "ranks": 2}


def request(feature, formulation="hierarchical"):
    """A model with a feature, and the options of a run of it."""
    model = machine()
    return model, FIXED | {"formulation": formulation} | FEATURES[feature](model)


@cache
def truth(feature, formulation):
    """The small serial run."""
    os.environ[TABLES_ABOVE] = "64"
    return outcome(simulate(feature, formulation))[0]


def formulation_of(way):
    """The formulation that runs of a way are compared in, unless a feature needs another one: lanes need short code."""
    return "relative" if way == "study, lanes" else "hierarchical"


def run(feature, way):
    """Variables over time by name, and the path with its reason."""
    os.environ[TABLES_ABOVE] = str(TABLES_FROM.get(way, 64))
    try:
        return RUNNERS[way](feature)
    finally:
        os.environ[TABLES_ABOVE] = "64"


def simulate(feature, formulation="hierarchical", **more):
    """A run of `simulate`; with a checkpoint it is resumed from the middle of the motion."""
    model, options = request(feature, formulation)
    if not options.pop("checkpoint", False):
        return ts.simulate(model, UNTIL, outputs=OUTPUTS, progress=False, **options | more)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        ts.simulate(model, UNTIL / 3, outputs=1, progress=False, checkpoint=path, **options | more).close()
        return ts.resume(path, model, until=UNTIL, outputs=OUTPUTS - 1, progress=False).load()


def outcome(data):
    """Values over time, and the path with its reason."""
    found = {name: data[name].values for name in data.data_vars if data[name].dims[:1] == ("time",)}
    return found, data.attrs["path"], data.attrs["path_reason"]


def by_ranks(feature):
    """Two ranks, which are threads of this process."""
    results = run_together(2, lambda ranks: [simulate(feature, ranks=ranks)])
    return outcome(results[0])


def by_study(executor, runs=1, level=None, formulation="hierarchical"):
    def carry_out(feature):
        model, options = request(feature, formulation)
        if {"certify", "checkpoint"} & set(options):
            raise NotApplicable("runs of a study are neither certified nor kept in checkpoints; `store` keeps a study")
        value = options.pop("parameters", {"torque": 0.3})["torque"]
        before = os.environ.get("TORSOR_LEVEL")
        if level is not None:
            os.environ["TORSOR_LEVEL"] = level
        try:
            data = ts.study(
                model,
                UNTIL,
                parameters={"torque": [value] * runs},
                outputs=OUTPUTS,
                executor=executor(),
                progress=False,
                **options,
            )
        finally:
            if before is not None:
                os.environ["TORSOR_LEVEL"] = before
        if message := str(data["message"].values[0] if "message" in data else ""):
            raise ts.errors.RunError(message, None)
        return outcome(data.isel(run=0))

    return carry_out


@cache
def processes():
    return ProcessPoolExecutor(1, mp_context=get_context("fork"))


@cache
def dask():
    from distributed import Client

    return Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")


def by_simulation(feature):
    model, options = request(feature)
    if options.pop("certify", False):
        raise NotApplicable("a certificate compares whole runs")
    resumed = options.pop("checkpoint", False)
    until = {"horizon": UNTIL}
    sim = ts.Simulation(model, **options, **until)
    rows = []
    for k in range(OUTPUTS + 1):
        if k:
            sim.advance(UNTIL / OUTPUTS)
        if resumed:
            state, sim = sim.state, ts.Simulation(model, **options, **until)
            sim.state = state
        rows.append({name: np.array(sim[name]) for name in ("position", "velocity", "energy")})
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return found, sim.path, sim.path_reason


RUNNERS = {
    "small": lambda feature: outcome(simulate(feature)),
    "large": lambda feature: outcome(simulate(feature)),
    "threads": lambda feature: outcome(simulate(feature, threads=2)),
    "ranks": by_ranks,
    "study, threads": by_study(lambda: 1),
    "study, processes": by_study(processes),
    "study, Dask": by_study(dask),
    "study, lanes": by_study(lambda: 1, 32, "2", "relative"),
    "Simulation": by_simulation,
}


def difference(feature, way, found):
    """The largest difference from the small serial run, relative to each variable."""
    expected = truth(feature, formulation_of(way))
    missing = [name for name in expected if name not in found and way != "Simulation"]
    assert not missing, f"variables {missing} are missing"
    worst = 0.0
    for name, values in found.items():
        if name in expected and values.dtype.kind == "f" and values.shape == expected[name].shape:
            size = 1 + np.abs(expected[name]).max(initial=0.0)
            worst = max(worst, np.abs(values - expected[name]).max(initial=0.0) / size)
    return worst
