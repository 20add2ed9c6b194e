"""Many starts at once and many runs in one loop give the bits of `simulate`: trees, loops, assemblies, drives, states, methods."""

import numpy as np
import pytest
import xarray as xr
from happenings import machine, seen

import torsor as ts
from torsor.run.many.batch_starts import BatchStarts
from torsor.studies.run_session import Session


def frame(name):
    """A model with a parameter for a length, and one for a mass."""
    model = ts.Model(name, gravity=(0, 0, -9.81))
    return model, model.parameter("L", 1.0, positive=True), model.parameter("m", 1.0, positive=True)


def bar(model, name, at, mass=1.0, **more):
    return model.body(name, mass=mass, inertia=(0.1, 0.1, 0.1), at=at, **more)


def hinge(model, name, first, second, point, **more):
    return model.add(ts.Revolute(name, first, second, point=point, axis=(0, 1, 0), **more))


def moving_pendulum():
    """A tree with given coordinates and rates, and a state of the user."""
    model, L, m = frame("pendulum")
    a, b = bar(model, "a", (L / 2, 0, 0), m), bar(model, "b", (1.5 * L, 0, 0))
    hinge(model, "A", model.ground, a, (0, 0, 0), start=0.3 * L, start_rate=m)
    hinge(model, "B", a, b, (L, 0, 0))
    model.state("way", rate=b.velocity[0], start=1.0)
    return model


def loop():
    """A four-bar with a ball joint, whose geometry depends on a parameter: redundant rows are left out."""
    model, L, m = frame("loop")
    a, b, c = bar(model, "a", (0, 0, L / 2)), bar(model, "b", (0.75, 0, L), m), bar(model, "c", (1.5, 0, L / 2))
    crank = hinge(model, "A", model.ground, a, (0, 0, 0))
    hinge(model, "B", a, b, (0, 0, L))
    model.add(ts.Spherical("C", b, c, point=(1.5, 0, L)))
    hinge(model, "D", model.ground, c, (1.5, 0, 0))
    model.add(ts.TorsionSpring("spring", crank, stiffness=2.0, damping=0.1))
    return model


def assembled():
    """A loop that does not close as it is given, but for one value of its parameter."""
    model, L, m = frame("assembled")
    a, b, c = bar(model, "a", (0, 0, 0.5)), bar(model, "b", (0.75, 0, 1), m), bar(model, "c", (1.5, 0, 0.5))
    hinge(model, "A", model.ground, a, (0, 0, 0))
    hinge(model, "B", a, b, (0, 0, 1))
    model.add(ts.Distance("C", b, c, points=((1.5, 0, 1), (1.5, 0, 1.2)), length=0.2 * L))
    hinge(model, "D", model.ground, c, (1.5, 0, 0))
    return model


def driven():
    """A motion that is imposed at a rate that depends on a parameter."""
    model, L, m = frame("driven")
    a, b = bar(model, "a", (1, 0, 0)), bar(model, "b", (2, 0, 0), m)
    shaft = hinge(model, "A", model.ground, a, (0, 0, 0))
    hinge(model, "B", a, b, (1.5, 0, 0))
    model.add(ts.Drive("drive", shaft, L * ts.time))
    return model


def free():
    """A body that nothing holds."""
    model, L, m = frame("free")
    bar(model, "a", (L, 0, 0), m, velocity=(m, 0, 0), angular_velocity=(L, 2, 0.1))
    return model


def compared(model, runs=4, only=("L", "m"), **options):
    """A study beside its runs one by one: the same bits. Returns how many runs were carried out for themselves, and how many starts
    were found together."""
    random, alone, sure = np.random.default_rng(5), [], []
    values = {name: random.uniform(0.8, 1.25, runs) for name in model.parameters if name in only}
    keep, one = Session._run, BatchStarts.find
    patch = pytest.MonkeyPatch()
    patch.setattr(Session, "_run", lambda self, *given: alone.append(1) or keep(self, *given))
    patch.setattr(BatchStarts, "find", lambda *given: sure.append((found := one(*given))[1].copy()) or found)
    data = ts.study(model, 0.4, values, outputs=4, executor=1, **options)
    patch.undo()
    for k in range(runs):
        single = ts.simulate(model, 0.4, outputs=4, parameters={n: x[k] for n, x in values.items()}, **options)
        for name, x in single.data_vars.items():
            if "time" in x.dims:
                np.testing.assert_array_equal(data[name][k, : len(x)], x, err_msg=f"{name} of run {k}")
        for name in ("steps", "rejections", "energy_balance_relative", "position_drift_max", "time_reached"):
            assert float(data[name][k]) == single.attrs[name], name
    return len(alone), sum(int(which.sum()) for which in sure)


@pytest.mark.parametrize("build", [moving_pendulum, loop, assembled, driven, free])
def test_runs_of_a_study_are_those_of_simulate_to_the_bit(build):
    alone, sure = compared(build())
    assert alone == 0  # compiled code has run all of them,
    assert sure == (4 if build in (moving_pendulum, driven, free) else 0)  # and starts of trees are found together


@pytest.mark.parametrize("build", [moving_pendulum, loop, assembled, driven, free])
def test_masses_leave_a_start_as_it_is(build):
    """Loops and redundant constraints included; but where given velocities depend on them."""
    alone, sure = compared(build(), only=("m",))
    assert alone == 0 and sure == 4


@pytest.mark.parametrize(
    "options",
    [
        {"formulation": "absolute"},
        {"formulation": "woronetz"},
        {"projection": "partition"},
        {"method": "rkmk4", "step": 0.01},
    ],
    ids=str,
)
def test_so_are_those_of_other_formulations_projections_and_steps(options):
    compared(loop(), 2, **options)
    compared(moving_pendulum(), 2, **options)


@pytest.mark.parametrize("options", [{}, {"formulation": "absolute", "method": "rkmk4", "step": 0.01}], ids=str)
def test_runs_in_which_much_happens_are_those_of_simulate_whoever_carries_them_out(options):
    model = machine()
    assert compared(model, 4, **options)[1] == 4  # their starts are found together,
    values = {"L": np.linspace(0.8, 1.2, 4), "m": 1.1}
    told = ts.study(model, 0.4, values, outputs=4, executor=1, reduce=seen, **options)
    assert told.attrs["failed"] == 0 and set(told["last"].values) > {"fast"}  # some are ended
    for k, L in enumerate(values["L"]):
        single = ts.simulate(model, 0.4, outputs=4, parameters={"L": L, "m": 1.1}, **options)
        assert told.events[k] == single.sizes["event"] and told.structures[k] == single.attrs["structures"]
        assert told.times[k] == single.event_time.values.sum() and told.whole[k] == single.energy[-1]
        assert told.energy_of_events[k] == single.attrs["energy_of_events"]
    again = ts.study(model, 0.4, values, outputs=4, executor=3, reduce=seen, **options)
    xr.testing.assert_identical(again, told)


def test_values_that_actions_refuse_are_told():
    """As `simulate` tells them, beside runs that go on."""
    model, L, m = frame("ball")
    ball = bar(model, "ball", (0, 0, L), m)
    model.add(ts.Contact("floor", model.ground, ball, point=(0, 0, 0), normal=(0, 0, 1), restitution=L - 0.5))
    data = ts.study(model, 0.2, {"L": [1.0, 2.0, 0.9, -1.0]}, reduce="last")
    assert [bool(message) for message in data.message.values] == [False, True, False, True]
    with pytest.raises(ts.ModelError) as refused:
        ts.simulate(model, 0.2, parameters={"L": 2.0})
    assert data.message[1] == str(refused.value) and "restitution must lie between 0 and 1, got 1.5" in str(
        refused.value
    )


def test_the_method_is_chosen_for_each_run():
    """Where it is to be chosen: a stiff one is another one for stiff values of parameters."""
    model, L, m = frame("stiff")
    block = bar(model, "block", (0, 0, 0), m)
    rail = model.add(ts.Prismatic("rail", model.ground, block, axis=(1, 0, 0), start_rate=0.1))
    model.add(ts.JointForce("brake", rail, -L * rail.rate))
    data = ts.study(model, 1.0, {"L": [1.0, 1e6]}, outputs=2, method="auto")
    for k, value in enumerate((1.0, 1e6)):
        single = ts.simulate(model, 1.0, parameters={"L": value}, outputs=2, method="auto")
        assert data.steps[k] == single.attrs["steps"]
        np.testing.assert_array_equal(data.position[k], single.position)


@pytest.mark.parametrize("later", [False, True])
def test_what_is_redundant_is_found_in_each_run(later):
    """A third rod that holds a plate, or takes hold of it later, says nothing beyond two others where all are parallel, else it
    stops the plate."""
    model = ts.Model("rods", gravity=(0, 0, -9.81))
    y, plate = model.parameter("y", 0.0), bar(model, "plate", (0.5, 0, 1))
    model.add(ts.Planar("plane", model.ground, plate, point=(0, 0, 0), axis=(0, 1, 0)))
    size = lambda shift: (1.0 + (shift - 0.1) ** 2) ** 0.5
    rods = [
        ts.Distance(name, model.ground, plate, points=((x - 0.1 + shift, 0, 2), (x, 0, 1)), length=size(shift))
        for name, x, shift in (("a", 0.0, 0.0), ("b", 1.0, 0.0), ("c", 0.5, y))
    ]
    for rod in rods:
        model.add(rod, active=rod.name != "c" or not later)
    if later:
        model.when(ts.time >= 0.0, ts.engage(rods[-1]), name="taken")
    values = [0.0, 0.3, 0.2, 0.0]
    data = ts.study(model, 0.2, {"y": values}, outputs=4, executor=1)
    for k, value in enumerate(values):
        single = ts.simulate(model, 0.2, outputs=4, parameters={"y": value})
        np.testing.assert_array_equal(data.position[k], single.position)
        told = data.multiplier[k].sel(constraint=single.constraint.values)  # what any run used, is told of all of them
        np.testing.assert_array_equal(told, single.multiplier)
    for order in (slice(None), slice(None, None, -1)):
        xr.testing.assert_equal(ts.study(model, 0.2, {"y": values[order]}, outputs=4, executor=2).isel(run=order), data)
    moved = np.abs(data.position[:, -1] - data.position[:, 0]).max(("body", "axis"))
    assert ((moved > 1e-3) == (np.array(values) == 0.0)).all()


def test_runs_with_friction_stops_and_loops_are_those_of_simulate():
    model = loop()
    model.add(ts.Limit("stop", model["A"], upper=0.05))
    model.add(ts.Friction("friction", model["D"], coefficient=0.1, radius=0.02, normal=10.0))
    compared(model, 4)


@pytest.mark.parametrize("stretch", [False, True])
def test_tables_bend_where_they_do_in_a_run_alone(stretch):
    model, L, m = frame("pushed")
    block = bar(model, "block", (0, 0, 0), m)
    push = ts.table([0.0, 0.11, 0.23, 1.0], [0.0, 3.0, -2.0, 1.0])
    model.add(ts.PointForce("push", block, force=(push(ts.time * L if stretch else ts.time), 0, 0)))
    assert compared(model, 2, method="rkmk4", step=0.02)[0] == (2 if stretch else 0)


@pytest.mark.parametrize("build, asked", [(moving_pendulum, ("A", "B.rate")), (loop, ("A", "A.rate"))])
def test_runs_start_wherever_simulate_does(build, asked):
    model, values = build(), np.array([[0.1, 0.4], [0.2, -0.5], [0.3, 0.6]])
    starts = dict(zip(asked, values.T))
    data = ts.study(model, 0.4, {"m": [0.9, 1.0, 1.1]}, start=starts, outputs=4)
    assert list(data[f"start.{asked[0]}"]) == [0.1, 0.2, 0.3]
    grid = ts.study(model, 0.4, start={asked[0]: [0.1, 0.2], asked[1]: [0.4, -0.5, 0.6]}, grid=True, reduce="last")
    assert grid.sizes["run"] == 6 and grid.attrs["failed"] == 0
    for k, row in enumerate(values):
        alone = ts.simulate(model, 0.4, parameters={"m": [0.9, 1.0, 1.1][k]}, start=dict(zip(asked, row)), outputs=4)
        np.testing.assert_array_equal(data.position[k], alone.position)
    common = ts.study(model, 0.4, {"m": [0.9, 1.1]}, start=alone.isel(time=2), outputs=4)
    again = ts.simulate(model, 0.4, parameters={"m": 0.9}, start=alone.isel(time=2), outputs=4)
    np.testing.assert_array_equal(common.position[0], again.position)
    with pytest.raises(ts.OptionError, match="nothing"):
        ts.study(model, 0.4, start={"nothing": [0.1]})
    with pytest.raises(
        ts.OptionError, match="start 'A' has 2, parameter 'm' has 3|parameter 'm' has 3, start 'A' has 2"
    ):
        ts.study(model, 0.4, {"m": [1, 2, 3]}, start={"A": [0.1, 0.2]})
