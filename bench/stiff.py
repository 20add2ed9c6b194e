"""Stiff models: evaluations against SciPy at equal error, and steps of explicit and implicit methods.

    python bench/stiff.py                     five problems: radau5 and bdf against SciPy's Radau and BDF
    python bench/stiff.py --smoke             the same, two problems at one tolerance: seconds
    python bench/stiff.py --governor [--error 1e-6]

SciPy: each problem is run to several ends. The error of a tolerance is the largest one at these ends, over the scale of each
unknown, against SciPy's Radau at a tolerance of 1e-12; evaluations are summed. Errors scatter, so that both are means over
neighbouring tolerances. The last column says how many evaluations torsor takes for SciPy's error, over those of SciPy.

Governor: each method is given the loosest tolerance, of twelve per decade, from which on the error in the end stays below what is
asked for, over the size of the model, against a converged run. Rest: a mass hangs for 10 s on a spring of 1e8 N/m with a damper of
2e6 N s/m; the steps of the explicit method are those of a hundredth of the time, times a hundred. Times are those of the loops,
the best of five; the model is compiled before.
"""

import argparse
import warnings
from typing import NamedTuple

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

import torsor as ts

METHODS = ("rkmk54", "dop853", "radau5", "bdf")
PAIRS = (("radau5", "Radau"), ("bdf", "BDF"))
TOLERANCES = (1e-4, 1e-6, 1e-8)
LADDER = 10.0 ** -np.arange(2, 11.1, 1 / 3)
ENDS = (0.6, 0.7, 0.8, 0.9, 1.0)  # of the run
MOST = 1.5  # times the evaluations of SciPy
UNTIL = 10.0


class Problem(NamedTuple):
    """A model, the same equations for SciPy, and what is compared.

    read    data → the unknowns that are compared, at the last output
    which   these unknowns among those of SciPy
    scale   of every unknown of SciPy
    """

    model: ts.Model
    rates: object
    start: list
    until: float
    read: object
    which: list
    scale: np.ndarray
    formulation: str = "relative"


def on_a_rail(name, **given):
    model = ts.Model(name)
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    return model, model.add(ts.Prismatic("rail", model.ground, body, axis="x", **given))


def pendulum(k=1e8, c=1e4):
    """A pendulum on a hard, damped spring, in coordinates of the body."""
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(1, 0, 0))
    model.add(ts.SpringDamper("spring", model.ground, body, points=((0, 0, 0), (1, 0, 0)), stiffness=k, damping=c))

    def rates(t, y):
        x, v = y[:2], y[2:]
        length = np.linalg.norm(x)
        e = x / length
        return np.concatenate([v, -(k * (length - 1) + c * (v @ e)) * e + [0, -9.81]])

    read = lambda data: data.position.values[-1, 0, [0, 2]]
    return Problem(model, rates, [1, 0, 0, 0], 1.0, read, [0, 1], np.ones(4), "absolute")


def following(rate=1e4):
    """A state that follows cos t: Prothero and Robinson's test."""
    model, rail = on_a_rail("following", start_rate=1.0)
    x, v = rail.coordinate[0], rail.rate[0]
    model.state("z", rate=lambda z: -rate * (z - ca.cos(x)) - ca.sin(x) * v, start=1.0)
    rates = lambda t, y: np.array([y[1], 0, -rate * (y[2] - np.cos(y[0])) - np.sin(y[0]) * y[1]])
    return Problem(model, rates, [0, 1, 1], 20.0, lambda data: data.z.values[-1:], [2], np.ones(3))


def relaxing(epsilon=1e-6):
    """Van der Pol's oscillator, as two states."""
    model, _ = on_a_rail("relaxing")
    rates = lambda y: (y[1], ((1 - y[0] ** 2) * y[1] - y[0]) / epsilon)
    model.state("y", rate=lambda y: ca.vertcat(*rates(y)), start=(2.0, -0.66))
    return Problem(model, lambda t, y: rates(y), [2, -0.66], 2.0, lambda d: d["y[0]"].values[-1:], [0], np.ones(2))


def chemistry():
    """Robertson's reactions, as three states."""
    model, _ = on_a_rail("chemistry")
    scale = np.array([1, 4e-5, 1])
    fast, slow = lambda y: 3e7 * y[1] ** 2, lambda y: 0.04 * y[0] - 1e4 * y[1] * y[2]
    rates = lambda y: (-slow(y), slow(y) - fast(y), fast(y))
    model.state("y", rate=lambda y: ca.vertcat(*rates(y)), start=(1.0, 0.0, 0.0))
    read = lambda data: np.array([data[f"y[{k}]"].values[-1] for k in range(3)])
    return Problem(model, lambda t, y: rates(y), [1, 0, 0], 1e4, read, [0, 1, 2], scale)


def chain(n=5, k=1e7, c=1e5, soft=100.0):
    """Masses on a rail, coupled by hard, damped, cubic springs, and held by a soft one."""
    model = ts.Model("chain")
    bodies = [model.body(f"b{i}", mass=1.0, inertia=(1, 1, 1), at=(i, 0, 0)) for i in range(n)]
    rails = [model.add(ts.Prismatic(f"r{i}", model.ground, b, axis="x", start=0.3)) for i, b in enumerate(bodies)]
    q, v = [rail.coordinate[0] for rail in rails], [rail.rate[0] for rail in rails]
    hard = lambda d, w: -k * d - 10 * k * d**3 - c * w
    for i in range(n - 1):
        force = hard(q[i] - q[i + 1], v[i] - v[i + 1])
        model.add(ts.JointForce(f"left{i}", rails[i], force))
        model.add(ts.JointForce(f"right{i}", rails[i + 1], -force))
    model.add(ts.JointForce("soft", rails[0], -soft * (q[0] + q[0] ** 3)))

    def rates(t, y):
        q, v, a = y[:n], y[n:], np.zeros(n)
        force = hard(q[:-1] - q[1:], v[:-1] - v[1:])
        a[:-1] += force
        a[1:] -= force
        a[0] -= soft * (q[0] + q[0] ** 3)
        return np.concatenate([v, a])

    read = lambda data: data.coordinate.values[-1, [0, n - 1]]
    return Problem(model, rates, [0.3] * n + [0.0] * n, 5.0, read, [0, n - 1], np.ones(2 * n))


PROBLEMS = {each.__name__: each for each in (pendulum, following, relaxing, chemistry, chain)}


def mean(numbers):
    return float(np.exp(np.mean(np.log(np.maximum(numbers, 1e-300)))))


def by_scipy(problem, method, tolerance, ends):
    """Values at all ends, and evaluations."""
    given = {"method": method, "rtol": tolerance, "atol": tolerance * problem.scale}
    runs = [solve_ivp(problem.rates, (0, end * problem.until), problem.start, **given) for end in ends]
    return np.array([r.y[problem.which, -1] for r in runs]), sum(r.nfev for r in runs)


def by_torsor(problem, method, tolerance, ends):
    given = {"outputs": 1, "method": method, "tolerance": tolerance, "formulation": problem.formulation}
    runs = [ts.simulate(problem.model, end * problem.until, **given) for end in ends]
    return np.array([problem.read(r) for r in runs]), sum(r.attrs["evaluations"] for r in runs)


def work_and_error(run, problem, method, tolerance, exact, ends):
    values, evaluations = run(problem, method, tolerance, ends)
    return evaluations, np.abs((values - exact) / problem.scale[problem.which]).max()


def at_error(ladder, error):
    """Evaluations for an error, between those of a ladder of tolerances, each a mean over its neighbours."""
    smooth = [[mean(column) for column in zip(*ladder[max(k - 1, 0) : k + 2])] for k in range(len(ladder))]
    work, errors = np.array(smooth).T
    errors = np.minimum.accumulate(errors)
    return float(np.exp(np.interp(-np.log(error), -np.log(errors), np.log(work))))


def compared(names, tolerances, steps, ends):
    """Print the table; returns the largest ratio."""
    worst = 0.0
    print(
        f"{'problem':<12}{'SciPy':<7}{'tolerance':>10}{'error':>10}{'evaluations':>13}{'torsor: at equal error':>24}{'ratio':>8}"
    )
    for name in names:
        problem = PROBLEMS[name]()
        exact, _ = by_scipy(problem, "Radau", 1e-12, ends)
        for ours, theirs in PAIRS:
            ladder = [work_and_error(by_torsor, problem, ours, tolerance, exact, ends) for tolerance in steps]
            for tolerance in tolerances:
                near = [work_and_error(by_scipy, problem, theirs, tolerance * f, exact, ends) for f in (0.5, 1, 2)]
                work, error = (mean(column) for column in zip(*near))
                found = at_error(ladder, error)
                worst = max(worst, found / work)
                print(
                    f"{name:<12}{theirs:<7}{tolerance:10.0e}{error:10.1e}{work:13,.0f}{found:24,.0f}{found / work:8.2f}",
                    flush=True,
                )
    print(f"at most {worst:.2f} times the evaluations of SciPy (the bar is {MOST})")
    return worst


def hanging():
    model, rail = on_a_rail("hanging")
    model.add(ts.JointForce("weight", rail, -9.81))
    model.add(ts.JointForce("spring", rail, value=-1e8 * rail.coordinate[0] - 2e6 * rail.rate[0]))
    return model


def run(model, until, method, tolerance):
    return ts.simulate(model, until, outputs=1, method=method, tolerance=tolerance)


def loosest(model, method, exact, most):
    """The loosest tolerance from which on errors are small enough."""
    found = None
    for tolerance in 10.0 ** np.arange(-12, -2, 1 / 12):
        data = run(model, UNTIL, method, tolerance)
        error = float(np.abs(data.position - exact).max()) / data.attrs["model_length"]
        if error > most:
            break
        found = tolerance
    return found


def print_run(name, method, tolerance, data, seconds, steps, most):
    a = data.attrs
    print(
        f"  {name:<10}{method:<8}{tolerance:10.1e}{a['steps']:>11,} steps{a['evaluations']:>11,} evaluations"
        f"{seconds * 1e3:11.2f} ms{most / steps:9.1f} times fewer steps",
        flush=True,
    )


def governor(most):
    model, first = ts.cases.load("governor"), None
    exact = run(model, UNTIL, "radau5", 1e-12).position
    print(f"governor, {UNTIL:g} s, errors below {most:g} of its size: the loosest tolerance and what it costs")
    for method in METHODS:
        tolerance = loosest(model, method, exact, most)
        runs = [run(model, UNTIL, method, tolerance) for _ in range(5)]
        steps = runs[0].attrs["steps"]
        first = first or steps
        print_run("governor", method, tolerance, runs[0], min(d.attrs["wall_seconds"] for d in runs), steps, first)
    print(f"a mass that hangs on a hard spring, {UNTIL:g} s, tolerance 1e-9")
    part = run(hanging(), UNTIL / 100, "rkmk54", 1e-9)
    many = 100 * part.attrs["steps"]
    print(f"  rest      rkmk54             {many:>11,} steps (of a hundredth of the time, times a hundred)")
    for method in ("radau5", "bdf"):
        data = run(hanging(), UNTIL, method, 1e-9)
        print_run("rest", method, 1e-9, data, data.attrs["wall_seconds"], data.attrs["steps"], many)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", help=f"of {', '.join(PROBLEMS)}; all without")
    parser.add_argument("--smoke", action="store_true", help="two problems at one tolerance")
    parser.add_argument("--governor", action="store_true", help="explicit and implicit methods on the governor")
    parser.add_argument("--error", type=float, default=1e-6, help="governor: largest error in the end, over its size")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ts.AccuracyWarning)
    if unknown := set(asked.problems) - set(PROBLEMS):
        parser.error(f"unknown problems {', '.join(sorted(unknown))}; known: {', '.join(PROBLEMS)}")
    if asked.governor:
        governor(asked.error)
    elif asked.smoke:
        compared(asked.problems or ("following", "chain"), (1e-6,), LADDER[::6], ENDS[-1:])
    else:
        compared(asked.problems or PROBLEMS, TOLERANCES, LADDER, ENDS)
