"""Nothing that is not a number is called a result: the run stops, and says which element it was, and when."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

T = ts.time
FORMS = ("absolute", "relative", "relative-first", "woronetz")
WAYS = ({}, {"method": "rkmk4", "step": 0.01}, {"method": "lie-euler", "step": 0.004})
# what to add to a double pendulum in bodies a, b and joints j, k; whom to blame; when at the latest
FAULTS = {
    "force at rest": (lambda m, s: m.add(ts.PointForce("drag", s["b"], force=_unit(s["b"].velocity))), "drag", 0),
    "force later": (lambda m, s: m.add(ts.PointForce("push", s["b"], force=ca.vertcat(ca.sqrt(0.5 - T), 0, 0))), "push", 0.52),
    "energy": (lambda m, s: m.add(ts.EnergyForce("well", energy=ca.sqrt(s["b"].position[2] + 0.3))), "well", 0.4),
    "joint force": (lambda m, s: m.add(ts.JointForce("motor", s["k"], ca.log(1 - s["j"].coordinate[0]))), "motor", 0.7),
    "implicit": (lambda m, s: m.add(ts.JointForce("rub", s["k"], ca.sqrt(0.3 - T) * s["j"].reaction_force[2])), "rub", 0.35),
}  # fmt: skip


def _unit(v):
    return -v / ca.norm_2(v)


def model(fault=None, event=False):
    m = ts.Model("double", gravity=(0, 0, -9.81))
    a = m.body("a", mass=1, inertia=(1, 1, 1), at=(1, 0, 0))
    b = m.body("b", mass=1, inertia=(1, 1, 1), at=(2, 0, 0))
    j = m.add(ts.Revolute("j", m.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    k = m.add(ts.Revolute("k", a, b, point=(1.5, 0, 0), axis=(0, 1, 0)))
    if fault is not None:
        fault(m, {"a": a, "b": b, "j": j, "k": k})
    if event:
        m.when(a.position[2] <= -0.2, ts.record("x", a.position[0]), name="passes")
    return m


@pytest.mark.parametrize("event", (False, True))
@pytest.mark.parametrize("kind", FAULTS)
def test_a_run_stops_where_an_element_is_not_a_number_and_names_it(kind, event):
    fault, name, latest = FAULTS[kind]
    described = model(fault, event)
    for form in FORMS if kind == "force later" else FORMS[:2]:
        for way in WAYS if form == "absolute" else WAYS[:1]:
            with pytest.raises(ts.RunError, match=f"'{name}'.* not a number") as told:
                ts.simulate(described, 1.0, outputs=20, formulation=form, **way)
            data = told.value.data
            assert np.isfinite(data.position).all() and data.attrs["time_reached"] <= latest
            assert np.isfinite(data.acceleration[:-1]).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("event", (False, True))
def test_a_signal_that_is_not_a_number_is_told_with_its_time(form, event, tmp_path):
    described = model(event=event)
    for more in ({}, {"checkpoint": str(tmp_path / "run")}):
        with pytest.raises(ts.RunError, match=r"signal 'root' is not a number at t = 0\.45 s") as told:
            ts.simulate(described, 1.0, outputs=20, formulation=form, signals={"root": ca.sqrt(0.4 - T)}, **more)
        assert told.value.data.sizes["time"] == 21 and np.isfinite(told.value.data.position).all()


def test_a_recorded_value_that_is_not_a_number_is_told():
    m = model()
    m.when(m["a"].position[2] <= -0.2, ts.record("root", ca.sqrt(m["a"].position[2])), name="passes")
    with pytest.raises(ts.RunError, match="record 'root' of event 'passes' is not a number"):
        ts.simulate(m, 1.0, outputs=20)


@pytest.mark.parametrize("form", FORMS)
def test_an_imposed_motion_that_is_not_a_number_within_the_run_is_refused(form):
    driven = model(lambda m, s: m.add(ts.Drive("crank", s["k"], ca.sqrt(0.3 - T))))
    carried = model(lambda m, s: m.add(ts.Ground("table", at=(ca.sqrt(0.3 - T), 0, 0))))
    carried.add(ts.SpringDamper("spring", carried["table"], carried["b"], stiffness=3.0))
    for described, name in ((driven, "crank"), (carried, "table")):
        with pytest.raises(ts.TorsorError, match=f"'{name}'.* not a number"):
            ts.simulate(described, 1.0, outputs=20, formulation=form)
