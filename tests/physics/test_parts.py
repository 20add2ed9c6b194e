"""The parts of a system that ranks compute are those of the whole: kernels of all ranks together give what its kernels give."""

import numpy as np
import pytest
from hierarchies import hierarchy
from together import bush, in_threads

from torsor import kernels
from torsor.formulations.graphs.outputs import layout
from torsor.formulations.tables.gather_outputs import Gathering
from torsor.formulations.tables.group_schedule import Manifold
from torsor.formulations.tables.numeric_system import NumericSystem
from torsor.formulations.tables.rank_system import PartSystem
from torsor.formulations.tables.shares import shares
from torsor.formulations.tables.system_schedule import SystemKernels
from torsor.formulations.tables.tree_outputs import Outputs
from torsor.parallel.ranks import SINGLE_RANK
from torsor.prepare.state_space import Layout
from torsor.start.large_start import given_link_state


def library(system, ranks=SINGLE_RANK):
    """Kernels of a system or of a part of it, and the layout of its state."""
    sizes = [int(system.tree.sizes(what).sum()) for what in ("size", "dimension")]
    made = SystemKernels(system, Layout(*sizes, 0), 1.0)
    made.layout = Layout(*sizes, len(made.turns))
    manifold = Manifold(system.tree.groups, system.tree.traces, made.layout)
    found = {
        "factor": made.factor(), "rate": made.rate(True), "positions": made.positions(manifold.back()),
        "velocities": made.velocities(), "tangent": made.tangent(),
        "outputs": Outputs(made, layout(system.shown, made.loop_rows, [])).schedule,
    }  # fmt: skip
    return kernels.build(found, exchange=ranks.exchange, waiting=ranks.waiting), made


def evaluated(built, made, x, e):
    """All that kernels say at a state."""
    t, p, gains = np.zeros(1), np.zeros(made.layout.p), np.array([2.0, 3.0, 4.0, 5.0])
    F = built["factor"](t, x, p)[0]
    xdot, lam = built["rate"](t, x, p, F, gains)
    return {
        "pivot": F[-1:], "xdot": xdot, "lam": lam, "positions": built["positions"](t, x, p, F),
        "velocities": built["velocities"](t, x, p, F), "tangent": built["tangent"](t, x, p, F, e)[0],
        "row": built["outputs"](t, x, p, xdot, lam)[0],
    }  # fmt: skip


def near(found, expected, what):
    """The same to rounding."""
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max(initial=0)), err_msg=what
    )


def start(system, made, random):
    """Some state, which does not satisfy the constraints, and an element of the algebra there."""
    q, v = given_link_state(system.tree)
    x, e = np.concatenate([q, random.standard_normal(v.size), [0.3]]), random.standard_normal(2 * v.size + 1)
    moved = Manifold(system.tree.groups, system.tree.traces, made.layout).kernels("exp")["retract"]
    return kernels.build({"retract": moved})["retract"](x, 0.1 * e)[0], e


@pytest.mark.parametrize("model, count", [(bush, 2), (lambda: hierarchy(3), 2)])
def test_parts_give_what_the_whole_gives(model, count):
    whole = NumericSystem(model())
    built, made = library(whole)
    x, e = start(whole, made, np.random.default_rng(1))
    expected = evaluated(built, made, x, e)
    divided = shares(count, whole.tree.parents, whole.join_order, whole.ends_of_forces.tolist())

    def part(ranks):
        system = PartSystem(whole, divided, ranks.rank, count)
        built, made = library(system, ranks)
        x_of, e_of = system.state_of_whole(), system.rate_of_whole()
        told = evaluated(built, made, x[x_of], e[e_of])
        rows = system.rows_of(np.arange(len(system.loops)))
        near(told["pivot"], expected["pivot"], "pivot")
        near(told["xdot"], expected["xdot"][e_of], "xdot")
        near(told["tangent"], expected["tangent"][e_of], "tangent")
        near(told["lam"][rows], expected["lam"][rows], "lam")
        for what in ("positions", "velocities"):
            near(told[what][0], expected[what][0][x_of], what)
            near(told[what][1][np.append(rows, -1)], expected[what][1][np.append(rows, -1)], what)
        gathering = Gathering(system)
        return gathering, gathering.own(told["row"])

    row, parts = np.zeros(len(expected["row"])), layout(whole.shown, made.loop_rows, [])
    for gathering, own in in_threads(count, part):
        gathering.into(row, own, gathering.target)
    at = 0
    for name, size in parts:
        near(row[at : at + size], expected["row"][at : at + size], name)
        at += size
