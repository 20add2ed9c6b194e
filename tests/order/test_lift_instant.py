"""A body on a table that moves up and down, z = A sin ω t, leaves it where its force N = m (g − A ω² sin ω t) vanishes, once, with
every method: just after that the gap is as small as the error of a step."""

import numpy as np
import pytest
from scipy.optimize import brentq

import torsor as ts
from torsor.registry import registered

G, W = 9.81, 10.0
A = 1.6 * G / W**2
LIFT = np.arcsin(1 / 1.6) / W


def back():
    z, v = A * np.sin(W * LIFT), A * W * np.cos(W * LIFT)
    gap = lambda t: z + v * (t - LIFT) - G / 2 * (t - LIFT) ** 2 - A * np.sin(W * t)
    return brentq(gap, 2 * LIFT, 0.6, xtol=1e-15)


@pytest.mark.filterwarnings("ignore::torsor.errors.AccuracyWarning")  # methods of order 1
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
@pytest.mark.parametrize("method", sorted(registered("integrator")))
def test_a_body_leaves_a_table_once(method, formulation):
    model = ts.Model("table", gravity=(0, 0, -G))
    table = model.body("table", mass=3.0, inertia=(1, 1, 1))
    guide = model.add(ts.Prismatic("guide", model.ground, table, axis=(0, 0, 1), start_rate=A * W))
    model.add(ts.Drive("drive", guide, A * np.sin(W * ts.time)))
    body = model.body("body", mass=0.7, inertia=(1, 1, 1), velocity=(0, 0, A * W))
    model.add(ts.Contact("contact", table, body, plane=(0, 0, 0)))
    landing = back()
    for step in (0.01, 0.0031):
        data = ts.simulate(model, 0.9 * landing, outputs=1, method=method, step=step, formulation=formulation)
        assert data.event_name.values.tolist() == ["contact.touch", "contact.lift"]
        assert abs(data.event_time.values[1] - LIFT) < (
            step if registered("integrator")[method].order == 1 else 0.02 * step
        )
        data = ts.simulate(model, 1.02 * landing, outputs=1, method=method, step=step, formulation=formulation)
        assert data.event_name.values.tolist() == ["contact.touch", "contact.lift", "contact.touch"]
        assert abs(data.event_time.values[2] - landing) < 10 * step
