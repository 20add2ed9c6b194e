"""Components in files: what is read is what was saved, as plain data; what cannot be read is refused, by file and component."""

import hashlib
import json

import models
import numpy as np
import pytest
from test_pickle import everything, leg, run, same

import torsor as ts
from torsor.cases import car, train
from torsor.cli import status_of
from torsor.errors import ModelError, OptionError, ResultError
from torsor.formulations.fingerprint import fingerprint
from torsor.kernels.backends.llvm import LLVM
from torsor.model import expressions
from torsor.store import component

CASES = [
    name for name in models.compared_cases() if name != "three-link"
]  # whose joints have classes of their own: see `recorded`
CASES += ["valve-train", "trebuchet", "winch"]  # a table as an attribute, a cable, a motor with states


def saved(model, folder, name="part.tsc", **options):
    path = folder / name
    ts.save_component(model, path, **({"formulations": ()} | options))
    return path


@pytest.mark.parametrize("case", CASES)
def test_what_is_read_is_what_was_saved(case, tmp_path):
    model = ts.cases.load(case)
    twin = ts.load_component(saved(model, tmp_path))
    assert fingerprint(twin, twin.signals) == fingerprint(model, model.signals)
    assert [b.name for b in twin.bodies] == [b.name for b in model.bodies]
    assert [type(c) for c in twin.constraints] == [type(c) for c in model.constraints]
    assert ts.interface(twin) == ts.interface(model) == ts.interface(tmp_path / "part.tsc")


@pytest.mark.parametrize("build", [leg, everything])
def test_it_gives_the_same_result_to_the_last_bit(build, tmp_path):
    """Components, contacts, friction, modes, events that remember, grounds that move, parameters."""
    model = build()
    assert same(run(ts.load_component(saved(model, tmp_path))), run(model))


def test_a_model_that_was_compiled_can_be_saved_and_what_is_read_can_be_changed(tmp_path):
    model = leg()
    run(model)
    twin = ts.load_component(saved(model, tmp_path))
    twin.body("further", mass=1.0, inertia=(1, 1, 1))
    twin.signal("side", twin["foot"].position[1])
    assert ts.load_component(saved(twin, tmp_path, "again.tsc"))["further"].name == "further"


def test_it_can_be_included_and_tested_like_its_original(tmp_path):
    original, read = (
        ts.testing.bench(part, held=["foot"], loaded={"head": (0, 0, -500)}, at=(0, 1, 0), rotation=(0, 0, 0.3))
        for part in (car.damper(), ts.load_component(saved(car.damper(), tmp_path)))
    )
    assert fingerprint(read, {}) == fingerprint(original, {})
    ts.testing.assert_energy_balance(read, 0.1)


def test_a_row_of_components_is_read_as_a_row(tmp_path):
    model = train.train(3)
    twin = ts.load_component(saved(model, tmp_path))
    assert twin["car1"].body is twin["car1.body"] and twin["car2.front"].frame is twin["car2.front.frame"]
    assert twin["car1"]["front.rear.axle"] is twin["car1.front.rear.axle"]


def test_random_expressions_are_calculated_alike():
    import casadi as ca

    symbols = [ca.SX.sym(name) for name in "xyz"]
    x, y, z = symbols
    some = [ca.if_else(x > y, ca.sin(x) * z, ca.fmax(x, 2.5)), ca.SX(3, 3), ca.vertcat(ca.atan2(x, y) ** z, ca.floor(7 * y)),
            ca.SX(1.5), ca.sparsify(ca.vertcat(x, 0, ca.sqrt(ca.fabs(z)))), ca.SX(0, 1)]  # fmt: skip
    data = expressions.to_data(some, symbols)
    others = [ca.SX.sym(name) for name in "abc"]
    again = expressions.read(data, others)
    assert [e.sparsity() == s.sparsity() for e, s in zip(again, some)] == [True] * len(some)
    at = np.random.default_rng(2).uniform(0.1, 2, (20, 3))
    for given in at:
        one, two = (
            ca.Function("f", [ca.vertcat(*of)], [ca.vertcat(*[ca.vec(e) for e in what])])(given).full()
            for of, what in ((symbols, some), (others, again))
        )
        np.testing.assert_array_equal(one, two)


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A folder for compiled code in which there is none, and how often something is compiled."""
    compiled = []
    compile = LLVM.compile
    monkeypatch.setattr(LLVM, "compile", lambda *a, **k: compiled.append(1) or compile(*a, **k))
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / "other"))
    return compiled


def test_the_first_run_of_a_trusted_component_compiles_nothing(tmp_path, fresh, monkeypatch):
    path = saved(car.damper(), tmp_path, formulations=["absolute", "relative"])
    del fresh[:]
    for folder, trusted in (("third", True), ("fourth", False)):
        monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / folder))
        for formulation in ("absolute", "relative"):
            model = ts.load_component(path, trusted=trusted)
            data = ts.simulate(model, 0.1, outputs=2, formulation=formulation)
            assert data.attrs["status"] == "finished"
        assert len(fresh) == (0 if trusted else 2)


def test_kernels_of_another_machine_are_left_alone(tmp_path, fresh, monkeypatch):
    path = saved(car.damper(), tmp_path, formulations=["absolute"])
    monkeypatch.setattr(LLVM, "target", lambda self: "another one")
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / "third"))
    ts.load_component(path, trusted=True)
    assert not (tmp_path / "third").exists() and not component.kernels_fit_machine(path)


def test_a_damaged_file_is_refused_wherever_it_is_damaged(tmp_path):
    path = saved(car.damper(), tmp_path)
    content = path.read_bytes()
    for at in np.linspace(0, len(content) - 1, 40).astype(int):
        broken = bytearray(content)
        broken[at] ^= 1
        path.write_bytes(bytes(broken))
        with pytest.raises(ModelError, match=r"cannot read .*part.tsc"):
            ts.load_component(path)
    for length in (0, 10, 200, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ModelError, match=r"cannot read .*part.tsc.*(damaged|not a component)"):
            ts.load_component(path)


def rewritten(path, change):
    """A file with a seal that is true, and a content that torsor did not write."""
    _, _, body = path.read_bytes().partition(b"\n")
    line, _, rest = body.partition(b"\n")
    header = json.loads(line)
    text, rest = json.loads(rest[: header["lengths"][0]]), rest[header["lengths"][0] :]
    change(header, text)
    told = json.dumps(text).encode()
    header["lengths"][0] = len(told)
    body = json.dumps(header).encode() + b"\n" + told + rest
    path.write_bytes(f"torsor component 1 {hashlib.sha256(body).hexdigest()}\n".encode() + body)


def renamed(old, new):
    def change(header, text):
        thing = next(x for x in text["things"] if x[0] == old)
        thing[0] = new

    return change


@pytest.mark.parametrize(("change", "words"), [
    (renamed("joint:cylindrical", "joint:telescope"), "this version of torsor has no joint 'telescope', of which"),
    (renamed("Body", "os.system"), "has no os.system"),
    (lambda h, t: [x[1].pop("axis", None) for x in t["things"] if x[0] == "joint:cylindrical"],
     "cylindrical 'slide' was saved by another version of torsor: it has no value for 'axis'"),
    (lambda h, t: t["graph"]["operations"].append("CALL"), "unknown operation 'CALL'"),
    (lambda h, t: t["things"].append(["Body", {"name": ["thing", 999]}]), "its content is invalid"),
    (lambda h, t: t.pop("content"), "its content is invalid"),
    (lambda h, t: h["interface"]["ports"].pop("foot"), "its interface differs from the one in its header"),
    (lambda h, t: h["arrays"].append(["float64", 10**9]), "its numbers are invalid"),
    (lambda h, t: h["arrays"].append(["object", 1]), "its numbers are invalid"),
])  # fmt: skip
def test_what_torsor_did_not_write_is_refused(change, words, tmp_path):
    path = saved(car.damper(), tmp_path)
    rewritten(path, change)
    with pytest.raises(ModelError, match=f"part.tsc': component 'damper'.*{words}"):
        ts.load_component(path)


@pytest.mark.parametrize("key", ["component", "interface", "machine", "arrays", "kernels"])
def test_a_header_that_makes_no_sense_is_refused(key, tmp_path):
    path = saved(car.damper(), tmp_path)
    rewritten(path, lambda header, text: header.pop(key))
    with pytest.raises(ModelError, match="part.tsc': its header is invalid"):
        ts.load_component(path, trusted=True)


def test_another_format_and_other_files_are_refused(tmp_path):
    path = saved(car.damper(), tmp_path)
    path.write_bytes(path.read_bytes().replace(b"component 1 ", b"component 7 ", 1))
    with pytest.raises(ModelError, match=r"part.tsc.*it has format 7, and this version of torsor, .*, reads format 1"):
        ts.load_component(path)
    path.write_text("import os")
    with pytest.raises(ModelError, match="part.tsc.*it is not a component that torsor saved"):
        ts.load_component(path)
    for wrong in (tmp_path / "nothing.tsc", tmp_path, None, 3):
        with pytest.raises(ModelError, match="cannot read"):
            ts.load_component(wrong)


def test_an_interface_that_has_changed_is_told(tmp_path):
    path = saved(car.damper(), tmp_path)
    ts.load_component(path, like=car.damper())
    expected = ts.interface(car.damper())
    assert expected["ports"]["slide"] == "joint with 2 coordinates" and expected["ports"]["piston"] == "body"
    later = car.damper()
    later.parameter("wear", 0.1)
    with pytest.raises(ModelError, match="part.tsc': component 'damper' has no parameter 'wear': its interface has ch"):
        ts.load_component(path, like=later)
    with pytest.raises(ModelError, match="'damper' has no port 'eye': .* Ports: piston, cylinder, foot, head, slide"):
        ts.load_component(path, like={"ports": {"eye": "body"}})
    with pytest.raises(ModelError, match="port 'head' is frame of a body, and body is expected"):
        ts.load_component(path, like={"ports": {"head": "body"}})
    for wrong in (3, {"ports": 3}, "damper"):
        with pytest.raises(OptionError, match="like must be a model or an interface"):
            ts.load_component(path, like=wrong)


def test_what_cannot_be_saved_is_refused(tmp_path):
    with pytest.raises(OptionError, match="save_component: give a torsor.Model, got 'car'"):
        ts.save_component("car", tmp_path / "x.tsc")
    with pytest.raises(OptionError, match="formulations must be a list"):
        ts.save_component(car.damper(), tmp_path / "x.tsc", formulations="absolute")
    with pytest.raises(OptionError, match="unknown formulation 'relativ'"):
        ts.save_component(car.damper(), tmp_path / "x.tsc", formulations=["relativ"])
    with pytest.raises(ResultError, match="cannot write .* there is no folder"):
        ts.save_component(car.damper(), tmp_path / "nowhere" / "x.tsc")
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_saves_runs_and_trusts(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strut.py").write_text("import torsor as ts\nfrom torsor.cases.manipulator import motor as build\n")
    assert status_of(["save", "strut.py", "motor.tsc", "--set", "torque=2.5"]) == 0
    told = capsys.readouterr().out
    assert "component 'motor', 2 bodies" in told and "shaft (joint with 1 coordinates)" in told
    assert ts.load_component("motor.tsc").values() == {"torque": 2.5, "angle": 0.0}
    assert status_of(["trust", "motor.tsc"]) == 0 and "its kernels are kept" in capsys.readouterr().out
    assert status_of(["run", "motor.tsc", "--until", "0.1", "--set", "angle=0.2", "--out", "r.nc"]) == 0
    assert float(ts.load_result("r.nc").coordinate[0, 0]) == pytest.approx(0.2)
    capsys.readouterr()
    wrong = {
        "save strut.py motor.nc": "the file of a component ends in .tsc",
        "run no.tsc --until 1": "cannot read",
        "run motor.tsc --until 1 --set x=3": "nothing of that name to set",
        "run motor.tsc": "--until",
    }
    for line, words in wrong.items():
        assert status_of(line.split()) == 2 and words in capsys.readouterr().err
