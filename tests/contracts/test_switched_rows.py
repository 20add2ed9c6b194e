"""Contract of switched rows: kernels that read from p which rows are active give what kernels of one structure give."""

import numpy as np
import pytest

import torsor as ts
from torsor.formulations.graphs.run_kernels import retractions

SAME = ("relative-first", "hamiltonian-rotations", "hamiltonian-absolute")  # they eliminate rows as another one does
FORMULATIONS = [
    key for key, cls in ts.registered("formulation").items() if cls.declares("switches") and key not in SAME
]
SOFT = ("absolute", "relative", "kane")  # the others solve as one of these
ROUNDING = 1e-12  # both eliminate the same numbers, in another order


def linked_balls():
    """A bar on a hinge with a ball at its end, and a loose ball; contacts with friction, a weld and a stop."""
    model = ts.Model("balls", gravity=(0, 0, -9.81))
    bar = model.body("bar", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0, 0.4))
    ball = model.body("ball", mass=2.0, inertia=(0.2, 0.2, 0.2), at=(1.3, 0.1, 0.4))
    loose = model.body("loose", mass=1.5, inertia=(0.2, 0.1, 0.1), at=(2.0, 0.5, 0.5))
    pin = model.add(ts.Revolute("pin", model.ground, bar, point=(0, 0, 0.4), axis=(0, 1, 0.2)))
    model.add(ts.Spherical("joint", bar, ball, point=(1, 0, 0.4)))
    model.add(ts.Limit("stop", pin, lower=-1.0, upper=1.0))
    for body in (ball, loose):
        floor = model.add(ts.Contact(f"floor-{body.name}", model.ground, body, radius=0.3, plane=(0, 0, 0)))
        model.add(ts.Friction(f"rough-{body.name}", floor, coefficient=0.4))
    weld = model.add(ts.Fixed("weld", ball, loose), active=False)
    model.when(model.time >= 1.0, ts.engage(weld))
    return model


STRUCTURES = {
    "contacts": ("floor-ball", "floor-loose", "rough-loose", "stop"),
    "weld": ("weld", "floor-ball"),
}


def kernels_of(f, model, active, flagged, soft=False):
    """Graphs of a structure, with kernels of its own or with those that read which rows are active; rows in use."""
    names = {*active}
    switched = model.switched_elements
    f.release([] if flagged else [e for e in switched if e.name not in names])
    for side in (f, getattr(f, "absolute", f)):
        side.flagged, side.soft = flagged, soft
    f.keep = f.active_rows()
    outputs = f.outputs({})
    return f.functions(baumgarte=True) | retractions(f, "exp") | {"outputs": outputs.function()}, list(f.keep)


def values(model, active, turns):
    p = dict(zip([s.name() for s in model.inputs], model.input_values(model.values())))
    for element in model.constraints:
        if any(element is e for e in model.switched_elements):
            p[element.active.symbol.name()] = float(element.name in active)
    p["stop.side0"] = 1.0
    return np.array([*p.values(), *np.zeros(turns)])


def scatter(column, keep, rows):
    """Values of rows in use as values of all rows; efforts behind them stay."""
    whole = np.zeros(rows)
    whole[keep] = column[: len(keep)]
    return np.concatenate([whole, column[len(keep) :]])


@pytest.mark.parametrize(("key", "soft"), [*((key, False) for key in FORMULATIONS), *((key, True) for key in SOFT)])
def test_flagged_kernels_are_those_of_the_structure(key, soft):
    model = linked_balls()
    f = ts.registered("formulation")[key](model)
    random = np.random.default_rng(3)
    q = f.manifold.retract(np.array(f.manifold.identity()).ravel(), 0.3 * random.standard_normal(f.v.shape[0]), "exp")
    q, v = np.array(q).ravel(), random.standard_normal(f.v.shape[0])
    e, gains, rows = random.standard_normal(f.v.shape[0]), [3.0, 4.0, 5.0, 6.0], len(f.rows)
    one, every = kernels_of(f, model, (), True, soft)
    for name, active in STRUCTURES.items():
        p = values(model, active, len(f.turns))
        own, keep = kernels_of(f, model, active, False)
        residual = random.standard_normal(rows)
        found = []
        for graphs, rows_in_use in ((one, every), (own, keep)):
            r = np.where(np.isin(rows_in_use, keep), residual[rows_in_use], 0.0)
            F = graphs["factor"](0.0, q, p)
            a, lam, power = (np.array(x).ravel() for x in graphs["accelerations"](0.0, q, v, p, F, gains))
            dv, impulse = (np.array(x).ravel() for x in graphs["impulse"](0.0, q, p, F, r))
            positions, g = (np.array(x).ravel() for x in graphs["positions"](0.0, q, p, F))
            velocities, psi = (np.array(x).ravel() for x in graphs["velocities"](0.0, q, v, p, F))
            along = (
                np.array(graphs["along"](0.0, q, p, e)) if "along" in graphs else np.array(graphs["tangent"](p, F, e))
            )
            full = lambda x, k=rows_in_use: scatter(x, k, rows)
            shown = np.array(graphs["outputs"](0.0, q, v, p, a, lam)).ravel()
            tangent = np.array(graphs["tangent"](p, F, e)).ravel()
            found.append([a, full(lam), power, dv, full(impulse), positions, full(g), velocities, full(psi), tangent,
                          along.ravel(), shown])  # fmt: skip
            assert 1e-8 < float(F[-1]) <= 1.0  # conditioning: active rows only count
        for k, (got, expected) in enumerate(zip(*found)):
            size = max(1.0, np.abs(expected).max(initial=0.0))
            np.testing.assert_allclose(got, expected, rtol=0, atol=ROUNDING * size, err_msg=f"{name}, result {k}")
