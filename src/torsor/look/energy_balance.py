"""The energy balance of a run: E − E₀ = work + changes by events. Where it does not close, the result is wrong.

It is a check and no measure of the error: an error of the phase costs no energy. A run is suspected where the balance is off by
more than

    10 n τ · turnover + 10 τ · magnitude,     adaptive: n steps of tolerance τ, at most a tenth of the turnover      (1)
    0.02 · turnover + 1e-4 · magnitude,       fixed steps                                                            (2)

turnover    largest kinetic energy, range of the potential energy, or what step control knows of energies between outputs; in good
            runs the balance is off by less than 0.1 n τ of it
magnitude   largest energy or work at any output, which rounding is relative to
"""

from typing import Any

import numpy as np

SLACK = 10.0  # by which a run may be worse than the sum of its tolerances
WORST = 0.1  # of the turnover: no tolerance explains more
COARSE = 0.02  # of the turnover: what a fixed step may cost
LEVELS = 4  # per factor 2 of the balance: levels whose first time is kept


class Balance:
    """Collected from all outputs at once or block by block: the numbers are the same."""

    def __init__(self):
        self.first: Any = None  # [energy, work, change by events]
        self.last: Any = None
        self.worst = self.kinetic = self.magnitude = 0.0
        self.potential = [np.inf, -np.inf]
        self.reached = {}  # level of the balance: first time

    def add(self, t, E, W, changed, T, U):
        """Some outputs, in order: times, energies, work, and what events changed the energy by so far."""
        if not len(E):
            return
        if self.first is None:
            self.first, self.kinetic = (E[0], W[0], changed[0]), T[0]
        self.last = (E[-1], W[-1], changed[-1])
        E0, W0, C0 = self.first
        off = np.abs(E - E0 - ((W + changed) - (W0 + C0)))
        self.worst = np.maximum(self.worst, off.max())
        self.kinetic = np.maximum(self.kinetic, T.max())
        self.potential = [np.minimum(self.potential[0], U.min()), np.maximum(self.potential[1], U.max())]
        self.magnitude = np.maximum(self.magnitude, max(np.abs(x).max() for x in (E, W, changed, U)))
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = np.floor(LEVELS * np.log2(off))
        for level, place in zip(*np.unique(levels[np.isfinite(levels)], return_index=True)):
            self.reached.setdefault(int(level), float(t[np.isfinite(levels)][place]))

    @property
    def turnover(self):
        return 0.0 if self.first is None else float(max(self.kinetic, self.potential[1] - self.potential[0]))

    def gain(self, k):
        """Change from start to end of: 0 energy, 1 work."""
        return 0.0 if self.first is None else float(self.last[k] - self.first[k])

    def time_of_loss(self, counts, tolerance, step, still=0.0):
        """When the balance was first off by more than (1) or (2) explains, None if it never was; still: an energy that is none."""
        allowed = float(
            _allowance(self.turnover, float(self.magnitude), counts["steps"], counts["energy"], tolerance, step)
        )
        if not float(self.worst) > max(allowed, still) > 0.0:
            return None
        beyond = [t for level, t in self.reached.items() if 2.0 ** ((level + 1) / LEVELS) > allowed]
        return min(beyond, default=None)


def _allowance(turnover, magnitude, steps, energy, tolerance, step):
    """By how much the balance may be off: (1) or (2)."""
    explained = np.minimum(WORST, SLACK * steps * tolerance) if step is None else COARSE
    rounding = SLACK * tolerance if step is None else 1e-4
    return explained * np.maximum(turnover, energy) + rounding * magnitude


def energy_of_rest(mass, length, rate, turnover, until, tolerance, step):
    """An energy that is none: what a mechanism at rest to six digits has; where nothing moves to ten digits, what forces that
    hold each other would do on a way as long as the tolerance."""
    size = mass * length**2
    still = 1e-12 * size / until**2
    held = np.maximum(still, 10 * tolerance * size * rate**2)
    return np.where((step is None) & (turnover < 1e-20 * size * rate**2), held, still)


def losses(times, variables, steps, energy, sizes, options):
    """Times from which the energy balance of each of many runs is lost, as `Balance.time_of_loss`; NaN if it is not.

    times, variables   of the outputs; (run, time) by name
    steps, energy      of each run: its steps, and a bound of the energies that step control has met
    sizes              mass, length and rate of each run;   options   until, tolerance and step
    """
    E, W, T, U = (variables[name][1] for name in ("energy", "work", "kinetic_energy", "potential_energy"))
    changed = variables["energy_by_events"][1] if "energy_by_events" in variables else np.zeros_like(W)
    found = np.full(len(E), np.nan)
    if not E.size:
        return found
    (mass, length, rate), (until, tolerance, step) = sizes, options
    with np.errstate(invalid="ignore", over="ignore"):  # of runs that grew beyond all bounds
        off = np.abs(E - E[:, :1] - ((W + changed) - (W[:, :1] + changed[:, :1]))).max(axis=1)
        turnover = np.maximum(T.max(axis=1), np.ptp(U, axis=1))
        magnitude = np.max([np.abs(x).max(axis=1) for x in (E, W, changed, U)], axis=0)
        still = energy_of_rest(mass, length, rate, turnover, until, tolerance, step)
        allowed = _allowance(turnover, magnitude, steps, energy, tolerance, step)
        suspected = off > (1 - 1e-9) * np.maximum(allowed, still)
    for k in np.flatnonzero(suspected):
        balance = Balance()
        balance.add(times, E[k], W[k], changed[k], T[k], U[k])
        lost = balance.time_of_loss({"steps": steps[k], "energy": energy[k]}, tolerance, step, still[k])
        found[k] = np.nan if lost is None else lost
    return found
