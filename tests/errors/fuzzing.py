"""Random calls of the public interface, with good, bad and odd arguments: each ends well, or with an error that torsor means."""

import datetime
import decimal
import fractions
import inspect
import os
import subprocess
import sys
import tempfile
import warnings

import casadi as ca
import numpy as np
from everyday_calls import everyday

import torsor as ts

MISSING = ("missing", "unexpected keyword", "positional argument", "multiple values", "required positional")


def workshop():
    """A model with something of everything, and another one."""
    model = ts.Model("shop", gravity=(0, 0, -9.81))
    k = model.parameter("k", 2.0, positive=True)
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(1, 0, 0))
    rod = model.body("rod", inertia=ts.inertia.rod(1.0, 0.5, axis="x"), at=(2, 0, 0))
    dot = model.body("dot", mass=0.5, inertia=0, at=(0, 1, 1))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    ball = model.add(ts.Spherical("ball", arm, rod, point=(1.5, 0, 0)))
    floor = model.add(ts.Contact("floor", model.ground, rod, plane=(0, 0, -9)))
    push = model.add(ts.PointForce("push", rod, force=(0, 0, k)))
    late = model.add(ts.Fixed("late", arm, rod), active=False)
    state = model.modes("state", "on", "off")
    event = model.when(arm.position[2] <= -0.9, ts.record("speed", arm.velocity[0]), name="low")
    height = model.signal("height", arm.position[2])
    other = ts.Model("other")
    far = other.body("far", mass=1.0, inertia=(1, 1, 1))
    things = dict(
        model=model, k=k, arm=arm, rod=rod, dot=dot, hinge=hinge, ball=ball, floor=floor, push=push, late=late, state=state,
        event=event,
        height=height, other=other, far=far, ground=model.ground, frame=arm.frame(at=(0.1, 0, 0)), mode=state["on"],
    )  # fmt: skip
    return model, things


def odd(rng, things):
    """Something that may or may not be acceptable."""
    plain = [
        None, True, False, 0, 1, -1, 2, 10**400, -0.0, 0.5, 1e-320, 1e-30, 1e30, 1e200, 1e308, float("nan"), float("inf"),
        -float("inf"),
        "", "x", "arm", "hinge", "a b", "ä/…", "\x00", "x" * 300, "1.5", "rkmk4", "relative", b"bytes", 1j, 2 + 0j, (), [], {},
        set(), (0, 0, 1),
        (1, 0, 0), [0, 0, 0], (0, 0), (1, 2, 3, 4), [[1, 2], [3]], [1, "a", None], (float("nan"), 0, 1), (1e200, 0, 0), (1e-200,
        0, 0),
        {"a": 1}, {"k": 2.0}, {1: 2}, range(3), slice(1), object(), int, len, lambda: 0, lambda t: t, lambda x, y: x,
        Exception("no"),
        np.float32(1.5), np.float64("nan"), np.longdouble(1.5), np.int8(3), np.bool_(True), np.complex128(1j), np.str_("hinge"),
        np.array(1.0), np.array([1.0, 0, 0]), np.zeros((0,)), np.zeros((3, 3)), np.eye(3), np.eye(4), np.ones((2, 2, 2)),
        np.array([1, 2, 3], dtype=np.longdouble), np.array(["a", "b"]), np.array([None, 1]), np.datetime64("2020-01-01"),
        np.timedelta64(3, "s"), np.ma.masked, np.ma.array([1.0, 2, 3], mask=[0, 1, 0]), datetime.datetime(2020, 1, 1),
        datetime.timedelta(1),
        decimal.Decimal("1.5"), fractions.Fraction(1, 3), ca.SX(2.0), ca.SX([1, 2, 3]), ca.SX.sym("y"), ca.SX.sym("z", 3),
        ca.MX.sym("m"),
        ca.DM([1, 2, 3]), ca.DM(1), ca.SX(3, 1), ca.SX(float("nan")), ts.time, ca.sin(ts.time), ca.vertcat(ts.time, 0, 1),
        ca.SX(0, 1), ts, ts.Revolute,
        iter([1, 2, 3]), (x for x in (1, 2, 3)), NotImplemented, Ellipsis, memoryview(b"abc"),
    ]  # fmt: skip
    mine = list(things.values()) + [
        things["arm"].position, things["arm"].velocity, things["arm"].rotation, things["hinge"].coordinate, things["hinge"].rate,
        things["arm"].acceleration, things["floor"].multiplier, things["ball"].reaction_force, things["far"].position,
        things["k"] * 2,
        things["arm"].position[2] <= 0, ts.falling(things["height"]), ts.end(), ts.release(things["ball"]), ts.inertia.box(1.0,
        1, 1, 1),
    ]  # fmt: skip
    pool = plain if rng.random() < 0.7 else mine
    return pool[rng.integers(len(pool))]


def templates(model, things):
    """Good calls of everything: (name, function, arguments, named arguments); the caller changes some of them."""
    g, arm, rod, dot, hinge, ball, floor = (
        things[n] for n in ("ground", "arm", "rod", "dot", "hinge", "ball", "floor")
    )
    z = (0, 0, 1)
    pair = {"first": arm, "second": rod}
    elements = {
        ts.Fixed: pair, ts.Revolute: pair | {"axis": z, "point": (0, 0, 0), "start": 0.1, "start_rate": 1.0},
        ts.Prismatic: pair | {"axis": z},
        ts.Cylindrical: pair | {"axis": z}, ts.Screw: pair | {"axis": z, "pitch": 0.1}, ts.Spherical: pair,
        ts.Universal: pair | {"axis": (1, 0, 0), "second_axis": (0, 1, 0)}, ts.Planar: pair | {"axis": z}, ts.Free: pair,
        ts.PointOnPlane: pair | {"normal": z}, ts.NoRotation: pair | {"about": ((0, 0, 1), (1, 0, 0))}, ts.FixedPoint: pair,
        ts.Distance: pair | {"points": ((0, 0, 0), (1, 1, 1)), "length": 1.0}, ts.Drive: {"joint": hinge, "value": ts.time,
        "index": 0},
        ts.AngularVelocity: {"body": arm, "value": (0, 1, 0)}, ts.Motion: {"body": rod, "at": (2, 0, 0), "rotation": (0, 0, 0)},
        ts.Holonomic: {"expression": arm.position[0] - 1}, ts.Nonholonomic: {"expression": arm.velocity[0]},
        ts.KnifeEdge: pair | {"across": z}, ts.Wheel: {"first": g, "second": rod, "axis": (0, 1, 0), "radius": 0.5, "normal": z},
        ts.RollingDisk: {"first": g, "second": rod, "axis": (0, 1, 0), "radius": 0.5, "normal": z, "contact": True},
        ts.RollingSphere: {"first": g, "second": rod, "radius": 0.5, "normal": z}, ts.Weld: pair, ts.Lock: {"joint": hinge,
        "index": 0},
        ts.DiskOnPlane: {"first": g, "second": rod, "axis": (0, 1, 0), "radius": 0.5, "normal": z, "offset": 0.0},
        ts.ConservedMomentum: {"bodies": (arm, rod), "axis": z, "about": (0, 0, 0), "value": 1.0},
        ts.Contact: {"first": g, "second": dot, "normal": z, "radius": 0.1, "plane": (0, 0, 0), "restitution": 0.5},
        ts.Slot: {"first": g, "second": rod, "normal": z, "clearance": 0.1, "restitution": 0.5},
        ts.Limit: {"joint": hinge, "lower": -1, "upper": 1, "index": 0, "restitution": 0.5},
        ts.Backlash: {"joint": hinge, "other": ball, "ratio": 2.0, "play": 0.1, "index": 0, "other_index": 0, "restitution": 0.5},
        ts.Friction: {"on": floor, "coefficient": 0.3, "static": 0.4, "normal": None, "radius": None, "index": 0},
        ts.Clutch: pair | {"axis": z, "torque": 1.0, "static": 1.2}, ts.Breakable: {"connection": ball, "force": 10.0,
        "torque": 5.0},
        ts.PointForce: {"body": arm, "force": (0, 0, 1), "point": (0, 0, 0), "axes": "world"},
        ts.Torque: {"body": arm, "torque": (0, 0, 1), "axes": "body"}, ts.JointForce: {"joint": hinge, "value": 1.0, "index": 0},
        ts.CosineTorque: {"joint": hinge, "amplitude": 1.0, "frequency": 1.0, "phase": 0.0, "index": 0},
        ts.SpringDamper: pair | {"points": ((0, 0, 0), (1, 1, 1)), "stiffness": 1.0, "damping": 0.1, "length": 1.0},
        ts.TorsionSpring: {"joint": hinge, "stiffness": 1.0, "damping": 0.1, "rest": 0.0, "index": 0},
        ts.EnergyForce: {"energy": arm.position[2], "dissipated": None}, ts.Ground: {"at": (0, 0, ts.time), "rotation": (0, 0,
        ts.time)},
    }  # fmt: skip

    def added(cls):
        return lambda name="new", active=None, **given: model.add(cls(name, **given), active=active)

    found = [(cls.__name__, added(cls), (), {"name": "new"} | given) for cls, given in elements.items()]
    inertias = {
        "box": (1.0, 1, 1, 1), "cylinder": (1.0, 1, 1), "sphere": (1.0, 1.0), "rod": (1.0, 1.0), "disk": (1.0, 1.0),
        "cone": (1.0, 1.0, 1.0),
        "point": (1.0, (0, 0, 0)),
    }  # fmt: skip
    found += [(f"inertia.{name}", getattr(ts.inertia, name), given, {}) for name, given in inertias.items()]
    shape = ts.inertia.box(1.0, 1, 2, 3)
    new = {
        "mass": 1.0,
        "inertia": (1, 1, 1),
        "at": (0, 0, 0),
        "rotation": None,
        "velocity": (0, 0, 0),
        "angular_velocity": (0, 0, 0),
    }
    state = things["state"]
    low = lambda: arm.position[2] <= -0.5
    found += [
        ("Model", ts.Model, ("m",), {"gravity": (0, 0, -9.81)}), ("body", model.body, ("new",), new), ("move", shape.move, (),
        {"at": z, "rotation": z}),
        ("parameter", model.parameter, ("new", 1.0), {"positive": True}), ("signal", model.signal, ("new", arm.position[0]), {}),
        ("expose", model.expose, ("new", arm), {}), ("include", model.include, ("new", things["other"]), {"at": z,
        "rotation": None}),
        ("row", model.include, ("new", things["other"]), {"at": z, "rotation": None, "count": 2, "pitch": z}),
        ("getitem", model.__getitem__, ("arm",), {}), ("values", model.values, ({"k": 1.0},), {}), ("modes", model.modes,
        ("new", "a", "b"), {}),
        ("when", model.when, (low(), ts.end()), {"name": "new", "during": state["on"], "accumulate": "error"}),
        ("point", arm.point, (z,), {}), ("velocity_of", arm.velocity_of, (z,), {}), ("direction", arm.direction, (z,), {}),
        ("frame", arm.frame, (), {"at": z, "rotation": (0, 0, 1)}), ("falling", ts.falling, (arm.position[0],), {}),
        ("rising", ts.rising, (arm.position[0],), {}), ("crossing", ts.crossing, (arm.position[0],), {}),
        ("momentum", ts.angular_momentum, ((arm, rod),), {"about": (0, 0, 0)}), ("registered", ts.registered, ("joint",), {}),
        ("Baumgarte", ts.Baumgarte, (), {"alpha": 1.0, "beta": 1.0}), ("LeastSquares", ts.LeastSquares, (), {"metric": "mass"}),
        ("Partition", ts.Partition, (), {"positions": None, "velocities": None}), ("gravity", lambda value: setattr(model,
        "gravity", value), (z,), {}),
        ("cases.load", ts.cases.load, ("four-bar",), {"n": 2}), ("cases.until", ts.cases.until, ("car",), {}),
        ("cases.describe", ts.cases.describe, ("car",), {}), ("read", ts.read, ("nothing.urdf",), {}), ("load", ts.load_result,
        ("nothing.nc",), {}),
        ("load_component", ts.load_component, ("nothing.tsc",), {"like": None, "trusted": False}),
        ("save_component", ts.save_component, (None, "nothing.tsc"), {"formulations": ()}),
        ("interface", ts.interface, ("nothing.tsc",), {}),
        ("save", ts.save_result, (None, "nothing.nc"), {}),
        ("resume", ts.resume, ("nothing", model), {}), ("plot", ts.plot, (None,),
        {"what": "energy"}),
    ]  # fmt: skip
    actions = {
        "release": (ts.release, (ball,), {}), "engage": (ts.engage, (things["late"],), {"snap": True}),
        "strike": (ts.strike, (floor,), {"restitution": 0.5}), "switch": (ts.switch, (things["push"],), {"on": False}),
        "assign": (ts.assign, (things["k"], 3.0), {}), "enter": (ts.enter, (state["off"],), {}), "record": (ts.record, ("r",
        arm.velocity[0]), {}),
    }  # fmt: skip

    def happening(make):
        return lambda *args, **named: model.when(low(), make(*args, **named), name="new")

    found += [(name, happening(make), args, named) for name, (make, args, named) in actions.items()]
    return found


RUN = {
    "until": 0.01, "outputs": 2, "step": None, "method": "rkmk54", "formulation": "absolute", "projection": "least-squares",
    "tolerance": 1e-6,
    "map": "exp", "signals": {"height": None}, "parameters": {"k": 2.0}, "certify": False, "checkpoint": None,
    "checkpoint_every": 60.0,
    "checkpoint_interval": None,
}  # fmt: skip


def running(model, things):
    """Calls that derive and run; the model is compiled once."""
    options = {k: v for k, v in RUN.items() if k != "signals"}
    dynamics = ts.compile(model, formulation="relative")
    state = {"q": dynamics.q, "v": dynamics.v, "t": 0.0, "p": dynamics.p}
    asked = [
        (name, getattr(dynamics, name), (), dict(state))
        for name in ("accelerations", "multipliers", "residuals", "coriolis")
    ]
    asked += [
        (name, getattr(dynamics, name), (), {"q": dynamics.q})
        for name in ("mass_matrix", "gravity", "partition_measure")
    ]
    asked += [
        (name, getattr(dynamics, name), ("body",), {"q": dynamics.q})
        for name in ("body_jacobian", "jacobian_derivative")
    ]
    return asked + [
        ("simulate", ts.simulate, (model,), options), ("compile", ts.compile, (model,), {"formulation": "absolute"}),
        ("info", ts.info, (model,), {"formulation": "absolute"}),
    ]  # fmt: skip


def call(seed, run_share=0.02, everyday_share=0.3):
    """One random call. Returns its name and what came of it: "fine", "refused", "argument" or "raw …"."""
    rng = np.random.default_rng(seed)
    model, things = workshop()
    kind = rng.random()
    if kind < run_share:
        things["model"] = model = plain_model()
        choices = running(model, things)
    elif kind < run_share + everyday_share:
        choices = everyday()
    else:
        choices = templates(model, things)
    name, function, args, named = choices[rng.integers(len(choices))]
    args, named = list(args), {key: inside(rng, value, things) for key, value in named.items()}
    for _ in range(rng.integers(0, 3) + 1):
        place = rng.integers(len(args) + len(named) + 1)
        if place < len(args):
            args[place] = odd(rng, things)
        elif place < len(args) + len(named):
            named[list(named)[place - len(args)]] = odd(rng, things)
        elif rng.random() < 0.2:
            named[str(rng.choice(["frames", "point", "active", "nothing"]))] = odd(rng, things)
        elif rng.random() < 0.3 and named:
            del named[list(named)[rng.integers(len(named))]]
    return name, args, named, outcome(function, args, named)


def inside(rng, value, things, share=0.05):
    """A dictionary with something odd in it, now and then; else the same."""
    return {list(value)[0]: odd(rng, things)} if isinstance(value, dict) and value and rng.random() < share else value


def plain_model():
    model = ts.Model("plain")
    model.parameter("k", 2.0)
    model.body("body", mass=1.0, inertia=(1, 1, 1))
    return model


def outcome(function, args, named):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(*args, **named)
            repr(found)
        return "fine"
    except ts.TorsorError as error:
        return "refused" if str(error).strip() else "raw TorsorError without a word"
    except TypeError as error:
        if any(word in str(error) for word in MISSING):
            return "argument"
        return f"raw TypeError: {error} {where(error)}"
    except Exception as error:
        return f"raw {type(error).__name__}: {error} {where(error)}"


def where(error):
    """The last lines of torsor's source that an error passed."""
    trace, found = error.__traceback__, []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if f"{os.sep}torsor{os.sep}" in file:
            found.append(f"{os.path.basename(file)}:{trace.tb_lineno}")
        trace = trace.tb_next
    return "[" + " < ".join(reversed(found[-4:])) + "]"


def told(name, args, named):
    short = lambda x: repr(x)[:60]
    return f"{name}({', '.join([*map(short, args), *(f'{k}={short(v)}' for k, v in named.items())])})"


WORK = """
import sys, faulthandler; sys.path.insert(0, {tests!r}); faulthandler.enable()
from fuzzing import call, told
for k in range({first}, {last}):
    print("BEGIN", k, flush=True)
    name, args, named, what = call([{seed}, k])
    print("END", k, what.splitlines()[0][:300], "|", told(name, args, named).replace(chr(10), " ")[:400], flush=True)
"""


def batch(seed, first, last, limit):
    """Outcomes of some calls: what happened, and calls that did not end."""
    code = WORK.format(tests=os.path.dirname(os.path.abspath(__file__)), seed=seed, first=first, last=last)
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=limit, cwd=folder
            )
            out, ending = done.stdout, f"crash {done.returncode}: {done.stderr[-300:]}" if done.returncode else None
        except subprocess.TimeoutExpired as error:
            out, ending = (error.stdout or b"").decode(errors="replace"), f"hang over {limit} s"
    ended, begun = {}, first
    for line in out.splitlines():
        word, _, rest = line.partition(" ")
        if word == "BEGIN":
            begun = int(rest)
        elif word == "END":
            number, _, what = rest.partition(" ")
            ended[int(number)] = what
    if ending is not None:
        ended[begun] = f"raw {ending}"
    return ended, begun


assert inspect.signature(ts.simulate).parameters.keys() >= RUN.keys()
