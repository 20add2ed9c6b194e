"""Whatever is given to a public function ends with a TorsorError or is taken: never with another error, and never without end."""

import copy
import hashlib
import json
import os
import signal
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of


class Odd:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("cannot be compared")

    def __repr__(self):
        return "Odd()"


ODD = [
    np.zeros(3), "\0", "", 10**400, -1, object(), lambda: 0, lambda *given: 1 / 0, b"x", [], {"x": None}, float("nan"), 1e300, True,
    int, Odd(), 1j, "ü" * 5000, ["\0"], np.array(["a"]), ts.time, [[[]]], "a:b=c",
]  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What is taken for the name of a file is written there."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@contextmanager
def limited(seconds):
    """An error after so many seconds."""

    def late(*_):
        raise TimeoutError("it takes too long")

    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def hinge():
    model = ts.Model("hinge")
    torque = model.input("torque")
    model.parameter("k", 1.0)
    bar = model.body("bar", mass=1.0, inertia=(1, 1, 1))
    joint = model.add(ts.Revolute("joint", model.ground, bar, axis="y"))
    model.add(ts.JointForce("force", joint, torque))
    model.expose("end", bar)
    return model


def refused_or_taken(call, values=ODD):
    for value in values:
        try:
            with limited(10):
                call(value)
        except ts.TorsorError:
            pass


MODEL = hinge()
SHORT = {"until": 0.01, "outputs": 2, "method": "rkmk4", "step": 0.01, "formulation": "relative", "progress": False}


@pytest.mark.parametrize(
    "name", ["method", "map", "checkpoint", "formulation", "projection", "parameters", "signals", "start"]
)
def test_arguments_of_simulate(name):
    refused_or_taken(lambda x: ts.simulate(MODEL, **{**SHORT, name: x}))


@pytest.mark.parametrize("name", ["method", "map", "executor", "store", "reduce", "keep"])
def test_arguments_of_a_study(name):
    refused_or_taken(lambda x: ts.study(MODEL, **{**SHORT, "parameters": {"k": [1.0]}, "executor": 1, name: x}))


def test_names_that_a_simulation_is_asked_for():
    sim = ts.Simulation(MODEL, method="rkmk4", step=0.01)
    for named in (sim, sim.inputs, sim.coordinates, sim.rates):
        refused_or_taken(lambda x, named=named: named[x])
        refused_or_taken(lambda x, named=named: x in named)
    refused_or_taken(lambda x: sim.inputs.get(x))
    refused_or_taken(lambda x: sim.inputs.__setitem__(x, 1.0))


@pytest.mark.parametrize("function", [ts.load_result, ts.load_state, ts.load_component, ts.read, ts.interface])
def test_paths(function, tmp_path):
    refused_or_taken(function)
    os.mkfifo(tmp_path / "pipe")
    refused_or_taken(function, [tmp_path / "pipe", tmp_path, str(tmp_path / "none")])


def test_tables_and_figures_and_rows_and_states(tmp_path):
    data = ts.simulate(MODEL, **SHORT)
    os.mkfifo(tmp_path / "pipe")
    refused_or_taken(lambda x: ts.read_table(x, x="a", y="b"), [*ODD, tmp_path / "pipe"])
    refused_or_taken(lambda x: ts.plot(data, "energy", figure=x), [x for x in ODD if x is not None])
    refused_or_taken(lambda x: ts.plot_graph(MODEL, figure=x))
    refused_or_taken(lambda x: ts.Model("row").include("one", MODEL, count=x), [*ODD, 10**18, 10**7])
    refused_or_taken(lambda x: ts.Model("states").state("one", rate=x))
    refused_or_taken(lambda x: ts.save_result(data, x))


@pytest.mark.parametrize(
    "name, content",
    [
        ("deep.xml", b"<mujoco><worldbody>" + b"<body>" * 3000 + b"</body>" * 3000 + b"</worldbody></mujoco>"),
        ("deep.urdf", b'<robot name="r">' + b"<link>" * 5000 + b"</link>" * 5000 + b"</robot>"),
        ("code.urdf", b'<?xml version="1.0" encoding="utf-7"?>+ADw-robot name="r"/>'),
        ("none.urdf", b'<?xml version="1.0" encoding="no-such"?><robot name="r"/>'),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_documents_that_no_program_writes(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ts.ModelError):
        ts.read(tmp_path / name)


@pytest.mark.parametrize("command", [["info", "pendulum"], ["run", "pendulum", "--until", "0.01"]])
def test_plots_go_to_files_only(command, capsys, tmp_path):
    assert status_of([*command, "--plot", "/dev/full"]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert not os.path.exists("/dev/full.png")


def test_forged_components_are_refused(tmp_path):
    """Any one value of the description or of the header is something else, and the checksum is right."""
    path, random = tmp_path / "c", np.random.default_rng(0)
    ts.save_component(hinge(), path, formulations=())
    first, _, body = path.read_bytes().partition(b"\n")
    line, _, rest = body.partition(b"\n")
    header = json.loads(line)
    size = header["lengths"][0]
    description = json.loads(rest[:size])
    junk = [None, -1, 10**7, 10**30, 1e308, "x", "\0", [], [[]], {}, [10**7] * 3, True, {"x": 1}]

    def paths(x, at=()):
        for key, y in x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ():
            yield (*at, key)
            yield from paths(y, (*at, key))

    def changed(x):
        every = list(paths(x))
        *above, last = every[random.integers(len(every))]
        whole = inner = copy.deepcopy(x)
        for key in above:
            inner = inner[key]
        if random.random() < 0.2:
            del inner[last]
        else:
            inner[last] = junk[random.integers(len(junk))]
        return whole

    refused = 0
    for k in range(600):
        told, text = (changed(header), description) if k % 3 == 0 else (header, changed(description))
        content = json.dumps(text).encode()
        if k % 3:
            told = header | {"lengths": [len(content), *header["lengths"][1:]]}
        body = json.dumps(told).encode() + b"\n" + content + rest[size:]
        path.write_bytes(first.rsplit(b" ", 1)[0] + b" " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        try:
            with limited(10):
                ts.Model("around").include("one", ts.load_component(path))
        except ts.TorsorError:
            refused += 1
    assert refused > 300
