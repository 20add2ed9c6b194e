"""Linear models of random mechanisms: every formulation tells the same small motions, and so do differences of the equations."""

import numpy as np
import pytest
from mechanisms import mechanism

import torsor as ts
from torsor.analysis.analysis_states import project_onto_constraints
from torsor.analysis.linear.linearisation import linearise_at
from torsor.analysis.mechanism import Mechanism

# a tree, a rolling thing, free bodies, gears, a planar and a spherical loop, a driven rolling thing, a spatial loop
SEEDS = [3, 9, 12, 20, 29, 33, 34, 45]


def small_motions(model, formulation):
    """Changes of positions, velocities and accelerations of all bodies that small motions permit: a basis, column by column."""
    names = [
        f"{b.name}.{what}"
        for b in model.bodies
        for what in ("position", "velocity", "acceleration", "angular_velocity")
    ]
    C = ts.linearise(model, inputs=[], outputs=names, formulation=formulation).C
    scale = np.abs(C).max(axis=1, keepdims=True)
    return C, np.maximum(scale, 1e-6 * scale.max())  # what does not change but for rounding is not stretched


def drawn(seed):
    return mechanism(seed, sizes=False)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_formulations_tell_the_same_small_motions(seed):
    """Columns in one set of coordinates are combinations of those in another, accelerations included."""
    model = drawn(seed)
    ours, scale = small_motions(model, "relative")
    theirs, _ = small_motions(model, "absolute")
    assert ours.shape == theirs.shape
    A, B = ours / scale, theirs / scale
    fit = np.linalg.lstsq(A, B, rcond=None)[0]
    assert np.abs(A @ fit - B).max() < 1e-7 * np.abs(B).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_linear_model_is_the_limit_of_differences(seed):
    """States that differ a little, on the constraints, have accelerations that differ as A says, but for squares of it."""
    m = Mechanism(drawn(seed), "relative")
    found = linearise_at(m, m.start)
    n, S = m.equations.sizes["v"], m.equations.numeric_function("axes")
    way = np.random.default_rng(seed).standard_normal(found.tangent.shape[1]) * 1e-5 * m.system.length
    change = found.tangent @ way
    R = S(m.start.q, m.start.v)[:, :n]

    def velocities_and_accelerations(part):
        q = m.examiner(m.start).move(m.start.q, part * (R.T @ change[:n]))
        place = project_onto_constraints(m, m.start.with_changes(q=q, v=m.start.v + part * (R.T @ change[n : 2 * n])))
        turned = S(place.q, place.v)
        a, v = m.solve_accelerations(place, m.rows(place).keep).a, place.v
        return np.concatenate([v, a]), turned

    ahead, behind = (velocities_and_accelerations(part)[0] for part in (1.0, -1.0))
    measured = (ahead - behind) / 2
    R, Rdot, ad = np.split(S(m.start.q, m.start.v), 3, axis=1)
    # the same from A: in axes that move along
    rates = found.A @ way
    first = R @ measured[:n] + (Rdot @ R.T - R @ ad @ R.T) @ change[:n]
    second = R @ measured[n:] + Rdot @ R.T @ change[n : 2 * n]
    expected = np.concatenate([first[found.coordinates], second[found.velocities]])
    np.testing.assert_allclose(rates[: len(expected)], expected, atol=1e-6 * np.abs(expected).max())
