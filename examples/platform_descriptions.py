"""The platform in two descriptions, and which is right: rotation matrices and momenta (30 unknowns), angles and momenta (6).

Both are Hamilton's equations of one Lagrangian, derived by differentiation (Bai, eq. 42 to 46 [bai2024]):

    π = ∂T/∂ω,     π̇ₖ = ∂(T − U)/∂Rₖ : Rₖ êₖ,      Ṙₖ = Rₖ êₖ ωₖ     or     θ̇ₖ = ωₖ                      (1)

with the plain numbers of R or θ given to the same solver of ordinary differential equations. They are compared with each other,
with the same equations in extended precision, and with runs of torsor.

    python examples/platform_descriptions.py [folder for the pictures]
"""

import pathlib
import sys

import casadi as ca
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import torsor as ts
from torsor.cases.platform import ARM, CENTER, HINGE_AXES, INERTIA, MASS, START

TIMES = np.linspace(0, 10, 501)
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
FINE = ((1000, 7), (1000, 6))  # steps and columns in extended precision: what is shown, and a second run to judge it
SHOWN = 1e-8  # the tolerance of the pictures: the descriptions part at 5 s, as those of the document
APART = 0.1  # of an element of a rotation matrix: from there on two motions are different ones
COLORS = ("#0072b2", "#d55e00")


# the equations


def turn(axis, angle):
    """exp(angle ê) for an axis, which is one of x, y, z."""
    e = ca.skew(ca.DM(axis))
    return ca.SX.eye(3) + ca.sin(angle) * e + (1 - ca.cos(angle)) * (e @ e)


def energies(R, w, axes):
    """T and U of the three tables, from the rotation matrices and rates of their joints."""
    A, turning, o, speed, T, U = ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(3), 0, 0
    for k in range(3):
        arm, center = ca.DM(ARM[k]), ca.DM(CENTER[k])
        o, speed = o + A @ arm, speed + A @ ca.cross(turning, arm)
        A, turning = A @ R[k], R[k].T @ turning + ca.DM(axes[k]) * w[k]
        v = speed + A @ ca.cross(turning, center)
        T += 0.5 * MASS[k] * ca.sumsqr(v) + 0.5 * ca.dot(turning, ca.DM(INERTIA[k]) * turning)
        U += 9.81 * MASS[k] * (o + A @ center)[2]
    return T, U


def equations(axes=HINGE_AXES):
    """(1) as functions of x = (π, R) and x = (π, θ), the matrices of angles, and momenta and energy at given angles and rates."""
    R, w, pi, theta = [ca.SX.sym("R", 3, 3) for _ in range(3)], *(ca.SX.sym(name, 3) for name in ("w", "pi", "theta"))
    T, U = energies(R, w, axes)
    numbers, momenta = ca.vertcat(*map(ca.vec, R)), ca.gradient(T, w)
    along = ca.diagcat(*[ca.vec(R[k] @ ca.skew(ca.DM(axes[k]))) for k in range(3)])  # R ê
    rates = ca.solve(ca.jacobian(momenta, w), pi)
    forces = ca.substitute(along.T @ ca.gradient(T - U, numbers), w, rates)
    turned = ca.vertcat(*[ca.vec(turn(axes[k], theta[k])) for k in range(3)])
    in_angles = lambda x: ca.substitute(x, numbers, turned)
    function = lambda name, given, found: ca.Function(name, given, ca.cse([ca.densify(x) for x in found]))
    return {
        "matrices": function("matrices", [ca.vertcat(pi, numbers)], [ca.vertcat(forces, along @ rates)]),
        "angles": function("angles", [ca.vertcat(pi, theta)], [in_angles(ca.vertcat(forces, rates))]),
        "turned": function("turned", [theta], [turned]),
        "momenta": function("momenta", [theta, w], [in_angles(momenta)]),
        "energy": function("energy", [pi, numbers], [ca.substitute(T + U, w, rates)]),
    }


# solvers


def dormand_prince(f, x, times, tolerance):
    """x at all times by the pair 5(4) with error control and its own values between the ends of steps, as any library has it."""
    # fmt: off
    A = ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
         (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
         (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
         (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
    between = np.array((-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
                        701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423))
    # fmt: on
    error = np.array((71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40))
    t, h, found, first = 0.0, 1e-3, [x], f(x)
    while len(found) < len(times):
        K = [first]
        for row in A[1:]:
            y = x + h * (np.array(row) @ np.array(K))
            K.append(f(y))
        worst = np.abs(h * (error @ np.array(K)) / (1 + np.abs(x))).max() / tolerance
        if worst <= 1:
            while len(found) < len(times) and times[len(found)] <= t + h + 1e-12:
                s, moved = (times[len(found)] - t) / h, y - x
                bend = h * first - moved
                within = bend + s * (moved - h * K[-1] - bend + (1 - s) * h * (between @ np.array(K)))
                found.append(x + s * (moved + (1 - s) * within))
            t, x, first = t + h, y, K[-1]
        h *= min(5.0, max(0.2, 0.9 * max(worst, 1e-10) ** -0.2))
    return np.array(found)


def extrapolated(f, x, end, steps, columns=7):
    """x at the ends of equal steps by the rule of Gragg, extrapolated to order 2·columns; in any precision. Only increments are
    rounded: what a sum loses is carried on to the next step."""
    found, h, lost = [x], x.dtype.type(end) / steps, 0 * x
    for _ in range(steps):
        table: list = []
        for j in range(columns):
            n, first = 2 * (j + 1), f(x)
            before, here = 0 * x, h / n * first
            for _ in range(n - 1):
                before, here = here, before + 2 * h / n * f(x + here)
            row = [(before + here + h / n * f(x + here)) / 2]
            for k in range(j):
                row.append(row[k] + (row[k] - table[-1][k]) / (((j + 1) / x.dtype.type(j - k)) ** 2 - 1))
            table.append(row)
        step = table[-1][-1] + lost
        lost = step - ((x + step) - x)
        x = x + step
        found.append(x)
    return np.array(found)


def in_precision(function, dtype):
    """A CasADi function of one vector as one of NumPy's numbers of any precision: its operations, written out."""
    # fmt: off
    names = {ca.OP_SIN: "sin({})", ca.OP_COS: "cos({})", ca.OP_NEG: "-{}", ca.OP_SQ: "{0}*{0}", ca.OP_TWICE: "{0}+{0}",
             ca.OP_INV: "1/{}", ca.OP_ADD: "{}+{}", ca.OP_SUB: "{}-{}", ca.OP_MUL: "{}*{}", ca.OP_DIV: "{}/{}",
             ca.OP_ASSIGN: "{}"}
    # fmt: on
    space, lines = {"sin": np.sin, "cos": np.cos, "array": np.array}, ["def f(x):"]
    for k in range(function.n_instructions()):
        kind, to, given = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if kind == ca.OP_CONST:
            space[f"c{k}"] = dtype(function.instruction_constant(k))
            lines.append(f"  w{to[0]} = c{k}")
        elif kind == ca.OP_INPUT:
            lines.append(f"  w{to[0]} = x[{given[1]}]")
        elif kind == ca.OP_OUTPUT:
            lines.append(f"  y{to[1]} = w{given[0]}")
        else:
            lines.append(f"  w{to[0]} = " + names[kind].format(*[f"w{i}" for i in given]))
    lines.append(f"  return array([{', '.join(f'y{i}' for i in range(function.nnz_out(0)))}])")
    exec("\n".join(lines), space)
    return space["f"]


# what is shown


def reference(equations):
    """Momenta and matrices at all times in extended precision, and how far those of a coarser run are away."""
    real = np.longdouble
    start = np.array(START, real)
    at = lambda name: in_precision(equations[name], real)
    both = ca.SX.sym("both", 6)
    momenta = in_precision(ca.Function("both", [both], [equations["momenta"](both[:3], both[3:])]), real)
    x0 = np.concatenate([momenta(np.concatenate([start, start])), start])
    fine, coarse = (extrapolated(at("angles"), x0, 10, n, columns)[:: n // 500] for n, columns in FINE)
    turned = at("turned")
    matrices = [np.array([turned(x[3:]) for x in run]) for run in (fine, coarse)]
    return (
        fine[:, :3].astype(float),
        matrices[0].astype(float),
        np.abs(matrices[0] - matrices[1]).max(axis=1).astype(float),
    )


def described(equations, tolerance):
    """Momenta and matrices at all times in both descriptions, by the same solver."""
    start = np.array(START)
    pi, R = (equations[k](*x).full().ravel() for k, x in (("momenta", (start, start)), ("turned", (start,))))
    f = {k: (lambda x, k=k: equations[k](x).full().ravel()) for k in ("matrices", "angles")}
    matrices = dormand_prince(f["matrices"], np.concatenate([pi, R]), TIMES, tolerance)
    angles = dormand_prince(f["angles"], np.concatenate([pi, start]), TIMES, tolerance)
    turned = np.array([equations["turned"](x[3:]).full().ravel() for x in angles])
    return {"matrices": (matrices[:, :3], matrices[:, 3:]), "angles": (angles[:, :3], turned)}


def planar(axis, until=100.0, tolerance=SHOWN):
    """The counterpart in a plane, all three axes alike: when the two descriptions are apart, and by how much they are at most."""
    found, times, start = equations((axis,) * 3), np.linspace(0, until, 2001), np.array(START)
    pi, R = (found[k](*x).full().ravel() for k, x in (("momenta", (start, start)), ("turned", (start,))))
    f = {k: in_precision(found[k], float) for k in ("matrices", "angles", "turned")}
    matrices = dormand_prince(f["matrices"], np.concatenate([pi, R]), times, tolerance)[:, 3:]
    angles = dormand_prince(f["angles"], np.concatenate([pi, start]), times, tolerance)[:, 3:]
    error = np.abs(matrices - np.array([f["turned"](x) for x in angles])).max(axis=1)
    return times[np.argmax(error > APART)] if (error > APART).any() else np.inf, error.max()


def off(one, two):
    """Largest difference of an element at every time, and when it is too large."""
    error = np.abs(one - two).max(axis=1)
    return error, TIMES[np.argmax(error > APART)] if (error > APART).any() else np.inf


def loss(R):
    """How far the nine numbers of each matrix are from a rotation."""
    A = R.reshape(len(R), 3, 3, 3)  # each by columns
    return np.abs(np.einsum("tkij,tkmj->tkim", A, A) - np.eye(3)).max()


def run_of(formulation, tolerance=1e-14):
    """Momenta and matrices of a run of torsor."""
    model = ts.cases.load("platform")
    signals = {f"momentum{k}": model[f"joint{k}"].momentum[0] for k in (1, 2, 3)}
    data = ts.simulate(model, 10.0, outputs=500, tolerance=tolerance, formulation=formulation, signals=signals)
    momenta = np.stack([data[name].values for name in signals], axis=1)
    f = equations()["turned"]
    return momenta, np.array([f(q).full().ravel() for q in data.coordinate.values])


def pictures(folder, shown, exact, errors):
    """The momenta and the matrices of the document's figures 6 to 9, and how errors grow."""
    figure, rows = plt.subplots(3, 1, figsize=(9, 6.5), sharex=True, layout="constrained")
    for k, ax in enumerate(rows):
        for (name, (pi, _)), color in zip(shown.items(), COLORS):
            ax.plot(TIMES, pi[:, k], color=color, label=name)
        ax.plot(TIMES, exact[0][:, k], "k--", lw=0.9, label="exact")
        ax.set_ylabel(f"momentum about {'zyx'[k]} [kg m²/s]", fontsize=9)
        ax.grid(alpha=0.25)
    rows[0].legend(fontsize=8, ncols=3)
    rows[-1].set_xlabel("time [s]")
    figure.savefig(folder / "platform-momenta.png", dpi=80)
    figure, rows = plt.subplots(3, 3, figsize=(11, 6.5), sharex=True, layout="constrained")
    for k, places in enumerate(((0, 1, 8), (0, 6, 4), (4, 7, 0))):  # two elements that move, and one that is 1
        for ax, place in zip(rows[k], places):
            for (_, (_, R)), color in zip(shown.items(), COLORS):
                ax.plot(TIMES, R[:, 9 * k + place], color=color)
            ax.plot(TIMES, exact[1][:, 9 * k + place], "k--", lw=0.9)
            ax.set_title(f"R{'zyx'[k]}, element {place % 3 + 1}{place // 3 + 1}", fontsize=9)
            ax.set_ylim(-1.1, 1.1)
            ax.grid(alpha=0.25)
    figure.savefig(folder / "platform-rotations.png", dpi=70)
    figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
    for label, (error, style) in errors.items():
        ax.semilogy(TIMES[1:], np.maximum(error[1:], 1e-20), label=label, **style)
    ax.set(xlabel="time [s]", ylabel="largest error of an element", ylim=(1e-19, 5))
    ax.legend(fontsize=8, loc="lower right")
    ax.grid(alpha=0.25)
    figure.savefig(folder / "platform-errors.png", dpi=90)


def main(folder="."):
    found = equations()
    exact, errors, shown = reference(found), {}, {}
    apart = f"two runs differ by {exact[2][250]:.0e} at 5 s, {exact[2][-1]:.0e} at 10 s"
    print(f"extended precision: {np.finfo(np.longdouble).eps:.0e}; {apart}")
    growth = np.polyfit(TIMES[50:451], np.log(np.maximum(exact[2][50:451], 1e-30)), 1)[0]
    print(f"errors grow by a factor of e in {1 / growth:.2f} s\n")
    print(f"{'':>10}{'two apart':>11}{'wrong from then on [s]':>26}{'matrices are':>16}{'energy changes by [J]':>25}")
    print(
        f"{'tolerance':>10}{'[s]':>11}{'matrices':>16}{'angles':>10}{'not orthogonal':>16}{'matrices':>15}{'angles':>10}"
    )
    for k, tolerance in enumerate(TOLERANCES):
        runs = described(found, tolerance)
        shown = runs if tolerance >= SHOWN else shown
        energy = [np.ptp([float(found["energy"](*x)) for x in zip(*run)]) for run in runs.values()]
        until = [off(R, exact[1])[1] for _, R in runs.values()]
        for (name, (_, R)), color in zip(runs.items(), COLORS):
            errors[f"{name}, {tolerance:g}"] = off(R, exact[1])[0], {"color": color, "lw": 0.7 + 0.3 * k}
        parting, lost = off(runs["matrices"][1], runs["angles"][1])[1], loss(runs["matrices"][1])
        print(
            f"{tolerance:10.0e}{parting:11.2f}{until[0]:16.2f}{until[1]:10.2f}{lost:16.0e}{energy[0]:15.0e}{energy[1]:10.0e}"
        )
    for formulation, color in (("relative", "#009e73"), ("hamiltonian", "#cc79a7"), ("absolute", "#b8860b")):
        pi, R = run_of(formulation)
        error, until = off(R, exact[1])
        errors[f"torsor, {formulation}"] = error, {"color": color, "lw": 1.5, "ls": ":"}
        print(f"torsor, {formulation}: right up to {until:g} s; the momentum about z changes by {np.ptp(pi[:, 0]):.0e}")
    errors["extended precision"] = exact[2], {"color": "black", "lw": 1}
    for axis, until in (((0, 0, 1), 100.0), ((0, 1, 0), 20.0), ((1, 0, 0), 20.0)):
        parting, most = planar(axis, until)
        print(f"planar, axes {axis}, {until:g} s: apart at {parting:g} s; at most {most:.0e}")
    pictures(pathlib.Path(folder), shown, exact, errors)


if __name__ == "__main__":
    main(*sys.argv[1:2])
