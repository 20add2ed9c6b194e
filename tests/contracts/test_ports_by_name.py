"""A port is found by its name, computed or not: instance.port, instance["port"] and model["instance.port"] are the same thing."""

import pytest

import torsor as ts


def leg(feet=3):
    model = ts.Model("leg")
    bone = model.body("bone", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    pin = model.add(ts.Revolute("pin", model.ground, bone, axis="x"))
    model.expose("hip", bone)
    model.expose("knee", pin)
    model.expose("angle", pin.coordinate)
    for k in range(feet):
        model.expose(f"foot{k}", bone.frame((0, k, 0)))
    return model


PORTS = ["hip", "knee", "angle", "foot0", "foot1", "foot2"]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_ways_to_a_port_lead_to_the_same_thing(depth):
    model, path = leg(), []
    for k in range(depth):
        outer = ts.Model(f"level{k}")
        inst = outer.include(f"part{k}", model)
        for port in PORTS:
            outer.expose(port, inst[port])
        model, path = outer, [f"part{k}", *path]
    for k in range(1, depth + 1):
        inner = model[".".join(path[:k])]
        for port in PORTS:
            full = f"{inner.name}.{port}"
            found = getattr(inner, port)
            kind = type(found).__name__
            assert full in model and port in inner
            if kind == "Frame" or kind == "SX":  # made where it is asked for
                assert type(inner[port]).__name__ == type(model[full]).__name__ == kind
            if kind != "SX":
                assert inner[port] is found is model[full]
    for port in PORTS:
        assert model[port] is model.ports[port]
    assert "part9.hip" not in model and "toe" not in inner and 3 not in inner


def test_instances_in_a_row_have_their_own():
    top = ts.Model("top")
    for k, inst in enumerate(top.include("leg", leg(), count=3, pitch=(1, 0, 0))):
        assert inst["hip"] is top[f"leg{k}.bone"] is top[f"leg{k}.hip"]
        assert inst["foot1"].body is inst.hip


@pytest.mark.parametrize("path", ["foot7", "hp", "", 3, None])
def test_a_port_that_does_not_exist_is_refused_with_those_that_do(path):
    top = ts.Model("top")
    inst = top.include("left", leg())
    with pytest.raises(
        ts.ModelError, match="instance 'left' of 'leg' has nothing called .* Ports: hip, knee, angle, foot0"
    ):
        inst[path]


def test_the_model_names_the_ports_too():
    top = ts.Model("top")
    top.include("left", leg())
    with pytest.raises(ts.ModelError, match=r"Did you mean 'left\.foot2'\? Ports: left\.hip, left\.knee"):
        top["left.foot22"]


def test_a_port_found_by_name_connects():
    top = ts.Model("top", gravity=(0, 0, -9.81))
    top.include("left", leg())
    load = top.body("load", mass=1.0, inertia=(1, 1, 1), at=(0, 1, 1))
    frame = top["left.foot1"]
    top.add(ts.Fixed("glue", frame.body, load, frames=(frame, load.frame())))
    data = ts.simulate(top, 0.1)
    assert abs(float(data.coordinate[-1, 0])) > 1e-3
