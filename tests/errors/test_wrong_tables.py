"""Tables that cannot be: messages say which one, where in it, and what is allowed; a run that leaves one keeps its results."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

GOOD = [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "given, words",
    [
        (([0, 1, 1, 2], GOOD), r"points\[2\] = 1.0 follows points\[1\] = 1.0"),
        (([0, 2, 1, 3], GOOD), r"must increase; points\[2\] = 1.0 follows points\[1\] = 2.0"),
        (([0, 1, np.nan, 3], GOOD), r"points\[2\] is nan"),
        ((GOOD, [0, 1, np.inf, 3]), r"values\[2\] is inf"),
        ((GOOD, [0, 1, 2, 1e200]), r"values\[3\] is 1e\+200; every one must be a finite number of at most 1e\+100"),
        (([0, 1e-200, 2, 3], GOOD), r"must increase by more than 1e-100; points\[1\] = 1e-200 follows"),
        ((GOOD, [0, 1, 2]), "as many values as points, 4, got 3"),
        (([0.0], [1.0]), "kind 'linear' needs at least 2 points, got 1"),
        ((GOOD[:3], GOOD[:3], "cubic"), "kind 'cubic' needs at least 4 points, got 3"),
        ((GOOD[:2], GOOD[:2], "akima"), "kind 'akima' needs at least 3 points, got 2"),
        ((GOOD, GOOD, "quadratic"), "unknown kind 'quadratic'. Known: 'nearest', 'linear', 'akima', 'cubic'"),
        ((GOOD, GOOD, "linear", "wrap"), "unknown outside 'wrap'. Known: 'hold', 'error', 'extrapolate'"),
        ((GOOD, ["a", "b", "c", "d"]), "values must be numbers"),
        (("run.csv", "torque"), "points must be numbers, got 'run.csv'; torsor.read_table reads a file"),
        (((GOOD, [0.0, 1.0]), np.zeros((2, 4))), "as many values as points, 4 × 2, got 2 × 4"),
        (((GOOD, [0.0, 0.0]), np.zeros((4, 2))), r"points\[1\] must increase"),
        (((GOOD, GOOD), np.zeros((4, 4)), "akima"), "'akima' is for one argument"),
    ],
)
def test_what_is_no_table_is_refused(given, words):
    with pytest.raises(ts.ModelError, match=words):
        ts.table(*given, **({"name": "torque"}))


def test_arguments_are_refused_that_are_none():
    f, g = ts.table(GOOD, GOOD, name="torque"), ts.table((GOOD, GOOD), np.zeros((4, 4)), name="map")
    with pytest.raises(ts.ModelError, match="torque: takes 1 argument, got 2"):
        f(1.0, 2.0)
    with pytest.raises(ts.ModelError, match="map: takes 2 arguments, got 1"):
        g(ts.time)
    with pytest.raises(ts.ModelError, match="torque: each argument must be one signal, got 3x1"):
        f(ca.SX.sym("x", 3))
    with pytest.raises(ts.ModelError, match="torque: its arguments must be signals or numbers, got 'now'"):
        f("now")
    with pytest.raises(ts.ModelError, match="map: its arguments must be signals or numbers, got SX.time., 'now'"):
        g(ts.time, "now")
    with pytest.raises(ts.ModelError, match="map: axis must be one of its 2 arguments, from 0 on, got 2"):
        g.bends(2)


FILES = {
    "time,torque\n0,1\n1,two\n": r"line 3: torque must be a number, got 'two'",
    "time,torque\n0,1\n\n1\n": r"line 4: there is no column 'torque'",
    "time;force\n0;1\n": "column 'torque' is not there. Columns: 'time', 'force'",
    "time,torque,torque\n0,1,1\n": "column 'torque' is there more than once",
    "time,torque\n0,1\n\n0,2\n": "line 4: time must increase, and 0 follows 0",
    "time,torque\n0,1\n1,nan\n": "line 3: torque must be a finite number, got nan",
    "time,torque\n0,1\n1,1_0\n": "line 3: torque must be a number, got '1_0'",
    "time,torque\n0,5,1,5\n1,5,2,5\n": "line 2: there are 4 columns, and names for 2; decimal commas need",
    'time,note,torque\n0,"a\nb",1\n1,c,x\n': "line 4: torque must be a number, got 'x'",
    "time [s],torque [N m]\n0,1\n1,2\n": r"column 'time' is not there. Did you mean 'time \[s\]'\?",
    "time;torque\n0;1.000,5\n": "line 2: torque must be a number, got '1.000,5'",
    "time torque\n0 1\n1\n": "line 3: there is no column 'torque', only 1 of them",
    "time torque\n0 1\n1 2 3\n": "line 3: there are 3 columns, and names for 2",
    "time,torque\n": "needs at least 2 points, got 0",
    'time,torque\n0,1\n1,"2,5"\n': r"line 3: torque must be a number, got '2,5'",
    "": "is empty",
}


@pytest.mark.parametrize("content", FILES)
def test_files_are_refused_by_their_line(content, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(content)
    with pytest.raises(ts.ModelError, match=f"run.csv.*{FILES[content]}"):
        ts.read_table(path, x="time", y="torque")
    with pytest.raises(ts.ModelError, match="none.csv: cannot be read"):
        ts.read_table(tmp_path / "none.csv", x="time", y="torque")


@pytest.mark.parametrize("given", [(None, "time", "torque"), ("run.csv", 0, "torque"), ("run.csv", "time", 1)])
def test_what_names_no_file_or_column_is_refused(given):
    with pytest.raises(ts.ModelError, match="path of a file, and the name|known by their names"):
        ts.read_table(*given)


WRITTEN = {
    "decimal commas": b"time;torque\n0,0;1,5\n0,5;-2,5e1\n",
    "tabs": b"time\ttorque\r\n0\t1,5\r\n0,5\t-25\r\n",
    "a mark in front": b"\xef\xbb\xbftime,torque\n0,1.5\n0.5,-25\n",
    "utf-16": "time,torque\n0,1.5\n0.5,-25\n".encode("utf-16"),
    "old windows": b"time,angle [\xb0],torque\n0,7,1.5\n0.5,8,-25\n",
    "quotes": b'"time","torque","a, b"\n"0","1.5","x, y"\n"0.5","-25","z\nz"\n',
    "commas in names": b"time;torque;a,b,c,d\n0;1.5;2\n0.5;-25;3\n",
    "blanks": b" time   torque  \n  0.0    1,5\n\t0.5   -25 \n",
    "lines of separators": b"time,torque,\n,,\n0,1.5,\n0.5,-25,\n , ,\n,,\n",
    "comments and trailing separators": b"  # a\n\ntime,torque,\n 0 , 1.5,\n\n0.5,-25,,\n",
}


@pytest.mark.parametrize("case", WRITTEN)
def test_files_are_read_as_programs_write_them(case, tmp_path):
    """The same two points, at 0 and 0.5, whoever wrote them."""
    (tmp_path / "run.csv").write_bytes(WRITTEN[case])
    f = ts.read_table(tmp_path / "run.csv", "time", "torque")
    np.testing.assert_array_equal([*f.points[0], *f.values], [0.0, 0.5, 1.5, -25.0])


def test_files_hold_tables_of_one_and_two_arguments(tmp_path):
    path = tmp_path / "map.csv"
    rows = [(u, v, u + 10 * v) for v in (0, 1, 3) for u in (5, 2, 0)]
    path.write_text("# a motor\nspeed;load; torque\n" + "".join(f"{u};{v};{y}\n" for u, v, y in rows))
    f = ts.read_table(path, x=("speed", "load"), y="torque")
    assert f(np.array([1.0, 4.0]), 2.0) == pytest.approx([21.0, 24.0])
    path.write_text("speed,load,torque\n0,0,1\n1,0,1\n0,1,1\n")
    with pytest.raises(ts.ModelError, match="the pair speed = 1, load = 1 is missing"):
        ts.read_table(path, x=("speed", "load"), y="torque")
    path.write_text("time\ttorque\n0\t1\n2\t5\n")
    assert ts.read_table(path, "time", "torque")(1.0) == 3.0


def hinge():
    model = ts.Model("driven")
    body = model.body("arm", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    return model, model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))


@pytest.mark.parametrize("kind", ["nearest", "linear", "akima"])
def test_an_imposed_motion_needs_a_cubic_table(kind):
    model, joint = hinge()
    f = ts.table(GOOD, GOOD, kind, name="recorded")(ts.time)
    with pytest.raises(ts.ModelError, match="drive 'd': follows <recorded: .*take kind='cubic'"):
        model.add(ts.Drive("d", joint, f))
    with pytest.raises(ts.ModelError, match="ground 'g': follows <recorded: .*take kind='cubic'"):
        model.add(ts.Ground("g", at=(0, 0, f)))
    if kind == "nearest":
        with pytest.raises(ts.ModelError, match="angular-velocity 'w': follows .*does not jump"):
            model.add(ts.AngularVelocity("w", model["arm"], (0, f, 0)))


@pytest.mark.parametrize("kind", ["nearest", "linear", "akima"])
def test_what_a_table_makes_of_a_parameter_imposes_no_motion(kind):
    model, joint = hinge()
    size, f = model.parameter("size", 1.2), ts.table(GOOD, [0.0, 0.3, 0.4, 0.6], kind)
    with pytest.raises(ts.ModelError, match="drive 'd': follows"):
        model.add(ts.Drive("d", joint, f(size * ts.time)))
    model.add(ts.JointForce("push", joint, 1.0))
    model.add(ts.Limit("stop", joint, upper=f(size)))
    for value in (0.7, 1.2):
        found = ts.equilibrium(model, parameters={"size": value})
        assert found.coordinates["hinge"] == pytest.approx(f(value)) and found.contacts == {"stop": "closed"}


def test_a_recorded_motion_is_followed_and_one_that_stops_dead_is_refused():
    t = np.linspace(0, 2, 41)
    model, joint = hinge()
    model.add(ts.Drive("d", joint, ts.table(t, np.sin(t), "cubic")(ts.time)))
    data = ts.simulate(model, 2.0, outputs=40)
    assert data.coordinate.values[:, 0] == pytest.approx(np.sin(data.time.values), abs=1e-9)
    assert data.rate.values[:, 0] == pytest.approx(np.cos(data.time.values), abs=1e-4)  # of the spline
    with pytest.raises(ts.ModelError, match="drive 'd': the rate of its motion jumps by 0.416 per second at t = 2 s"):
        ts.simulate(model, 3.0)


def test_a_record_that_comes_to_rest_is_held_after_ten_points_at_rest():
    """The spline's slope at the end is not zero; every further point at rest divides it by 2 + √3."""
    t = np.arange(51) / 40
    y, ends = np.where(t < 1, t**3 * (10 - 15 * t + 6 * t**2), 1.0), {}
    for n in (41, 51):
        model, joint = hinge()
        model.add(ts.Drive("d", joint, ts.table(t[:n], y[:n], "cubic")(ts.time)))
        ends[n] = model
    with pytest.raises(ts.ModelError, match="the rate of its motion jumps by 0.00096"):
        ts.simulate(ends[41], 2.0)
    assert ts.simulate(ends[51], 2.0).coordinate[-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_run_that_leaves_a_table_ends_there_with_what_was_computed():
    model = ts.Model("cart", gravity=(0, 0, 0))
    joint = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    model.add(ts.JointForce("push", joint, ts.table([0, 1, 2], [1, 1, 3], outside="error", name="torque")(ts.time)))
    assert ts.simulate(model, 2.0).attrs["status"] == "finished"  # its end is inside
    words = "joint-force 'push' is not a number at t = 2 s: torque is looked up at 2.0000.*, and its points reach from 0 to 2"
    with pytest.raises(ts.RunError, match=words) as caught:
        ts.simulate(model, 3.0, outputs=30)
    assert caught.value.data.rate.values[-1, 0] == pytest.approx(3.0, abs=1e-9)
    assert caught.value.data.sizes["time"] == 21


def test_calls_of_other_functions_are_refused():
    x = ca.SX.sym("x")
    other = ca.Function("other", [x], [x**2], {"never_inline": True})
    model = ts.Model("cart", gravity=(0, 0, 0))
    joint = model.add(ts.Prismatic("rail", model.ground, model.body("cart", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    with pytest.raises(ts.OptionError, match="calls the function 'other'.*never_inline"):
        model.add(ts.JointForce("push", joint, other(ts.time)))
        ts.simulate(model, 1.0)
