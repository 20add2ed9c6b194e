"""A model that is written as YAML and read back is the same model: the same equations, operation by operation, and the same
numbers to the last bit. (`fingerprint` is a hash of all of them; `save_model` itself refuses to write where it differs.)"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.formulations.fingerprint import fingerprint
from torsor.store.model_files.read_model import read_text
from torsor.store.model_files.save_model import model_text

sys.path.insert(0, str(Path(__file__).parent.parent / "contracts"))
from scenes import scene  # noqa: E402

ELEMENTS = [
    pytest.param(cls, k, id=f"{key}-{k}")
    for kind in ("joint", "constraint", "force", "rule")
    for key, cls in ts.registered(kind).items()
    if cls.__module__.startswith("torsor.")
    for k, variant in enumerate(cls.variants)
    if not (isinstance(variant, dict) and callable(variant.get("function")))
]


def same(model, again):
    """Whether two models have the same equations and numbers."""
    return fingerprint(model, model.signals) == fingerprint(again, again.signals)


@pytest.mark.parametrize("name", ts.cases.names())
def test_every_case_is_written_and_read(name, tmp_path):
    model = ts.cases.load(name)
    ts.save_model(model, tmp_path / "case.yaml")
    again = ts.read(tmp_path / "case.yaml").model
    if name != "three-link":  # its joints are defined in the case, and are recorded by their expressions
        assert same(model, again)
    assert [b.name for b in again.bodies] == [b.name for b in model.bodies]


@pytest.mark.parametrize("cls, k", ELEMENTS)
def test_every_element_is_written_also_in_an_included_model(cls, k):
    model, offered = scene()
    model.add(cls.examples(offered)[k])
    outer = ts.Model("outer", hints=False)
    outer.include("a", model, at=(1, 2, 3), rotation=(0.3, 0.1, -0.5))
    outer.include("b", model)
    for m in (model, outer):
        try:
            text = model_text(m)
        except ts.ModelError as error:  # a function in Python, which is named
            assert "Python code does not go into files" in str(error)
            continue
        assert same(m, read_text(text))


def everything():
    """A model with parameters, inputs, tables, states, modes, events, ports and a compiled controller."""
    model = ts.Model("all", gravity=(0, 0, -9.81))
    k = model.parameter("k", 40.0, positive=True)
    u = model.input("u", 0.5)
    box = model.body("box", mass=1 + 0.1 * k / 40, inertia=(0.1, 0.2, 0.25), at=(0.1, 0, 1), rotation=(0.1, 0.2, 0.3))
    rail = model.add(ts.Ground("lift", at=(0, 0, 0.1 * ca.sin(ts.time)), rotation=(0, 0, 0.3)))
    slide = model.add(ts.Prismatic("slide", rail, box, axis=(0, 0, 1), start=0.1))
    curve = ts.table([0, 1, 3], [0.0, 2.0, 2.5], kind="akima", name="curve")
    gear = model.modes("gear", "low", "high")
    push = model.add(ts.JointForce("push", slide, curve(ts.time) * u - k * slide.coordinate), active=False)
    stop = model.add(ts.Limit("stop", slide, upper=0.6))
    lag = model.state("lag", rate=lambda x: (ca.vertcat(slide.coordinate, slide.rate) - x) / 0.1, start=(0.1, 0))
    law = ts.Controller("law", 0.1, {"x": slide.coordinate}, ["y"], lambda t, i: -2 * i["x"] + lag[1], compiled=True)
    model.add(law)
    begin = model.when(slide.coordinate <= -0.2, ts.switch(push), ts.enter(gear["high"]), name="begin")
    model.when(
        ca.logic_and(slide.coordinate >= 0.3, ts.time > begin.time + 0.5), ts.assign("k", 2 * k), ts.kick(box, (0, 0, 1)),
        during=gear["high"], accumulate="ignore",
    )  # fmt: skip
    model.when(ts.rising(slide.rate - 1), ts.record("top", law["y"]), ts.release(stop), name="fast")
    model.signal("height", box.position)
    model.signal("repeated", ca.sqrt(ca.sumsqr(box.position - ca.cos(slide.coordinate))) + ca.sumsqr(box.position))
    model.expose("hub", box.frame(at=(0, 0, 0.1)))
    model.expose("speed", slide.rate * 2)
    return model


def test_everything_else_of_a_model_is_written_too():
    model = everything()
    nest = ts.Model("nest", gravity=(0, 0, -9.81))
    nest.include("one", model, at=(0, 1, 0), u=7.0)
    two = nest.include("two", model, rotation=(0, 0.5, 0), u=ca.sin(ts.time))
    nest.add(ts.PointForce("pull", two["box"], force=(0, 0, 1)))
    nest.eliminate(["one", "two"])
    for m in (model, nest):
        again = read_text(model_text(m))
        assert same(m, again)
        assert list(again.ports) == list(m.ports) and [*again.parameters] == [*m.parameters]
        assert [p.positive for p in again.parameters.values()] == [p.positive for p in m.parameters.values()]
    assert again["one"].hub.body is again["one.box"] and again["two"].owner == nest["two"].owner


def random_tree(seed):
    """A tree of bodies at random places with random joints, springs and expressions."""
    random = np.random.default_rng(seed)
    model = ts.Model(f"random{seed}", gravity=random.normal(size=3), hints=False)
    kinds = [cls for key, cls in ts.registered("joint").items() if key not in ("fixed", "free", "universal")]
    bodies = [model.ground]
    for k in range(random.integers(1, 6)):
        J = np.diag(random.uniform(1, 1.5, 3))
        options = {"at": random.normal(size=3), "rotation": random.normal(size=3)}
        body = model.body(f"b{k}", mass=random.uniform(0.1, 5), inertia=J, **options)
        host = bodies[random.integers(len(bodies))]
        cls = kinds[random.integers(len(kinds))]
        if cls.__module__.startswith("torsor."):
            axes = {f: random.normal(size=3) for f in ("axis",) if f in cls.__dataclass_fields__}
            model.add(cls(f"j{k}", host, body, point=random.normal(size=3), **axes))
        if random.random() < 0.5:
            model.add(ts.SpringDamper(f"s{k}", host, body, stiffness=random.uniform(1, 9), damping=0.1))
        bodies.append(body)
    x, y = bodies[-1].position, bodies[-1].angular_velocity
    terms = [
        ca.sin,
        ca.cos,
        ca.tanh,
        lambda e: e**3,
        lambda e: e / (1 + e**2),
        lambda e: ca.if_else(e > 0, e, -2 * e),
        ca.sqrt,
    ]
    expression = ts.time
    for _ in range(random.integers(2, 30)):
        picked = terms[random.integers(len(terms))]
        expression = picked(expression * x[random.integers(3)] - random.normal() + y[random.integers(3)]) + expression
    model.add(ts.PointForce("push", bodies[-1], force=(expression, 0.1, 1e-300 * expression)))
    return model


@pytest.mark.parametrize("seed", range(6))
def test_random_models_are_the_same(seed):
    model = random_tree(seed)
    assert same(model, read_text(model_text(model)))


def test_accelerations_are_equal_to_the_bit(tmp_path):
    model = everything()
    ts.save_model(model, tmp_path / "all.yaml")
    again = ts.read(tmp_path / "all.yaml").model
    one, two = (ts.simulate(m, 0.5, 20, parameters={"u": 3.0}) for m in (model, again))
    for name in ("position", "acceleration", "coordinate_acceleration", "lag[1]", "law.y", "repeated"):
        assert np.array_equal(one[name].values, two[name].values), name


def test_python_code_is_named_and_nothing_is_written(tmp_path):
    model, offered = scene()
    model.add(ts.Controller("balance", 0.1, [offered["joint"].rate], ["torque"], lambda t, u: -u[0]))
    with pytest.raises(ts.ModelError, match=r"controller 'balance': its function cannot be written.*compiled=True"):
        ts.save_model(model, tmp_path / "no.yaml")
    assert list(tmp_path.iterdir()) == []
