"""The search for an equilibrium: Newton's method on the manifold, and where that does not lead there, a damped way down.

    (Nᵀ K + μ Nᵀ M) δq = −r                                                                           (1)

With μ = 0 the steps are Newton's, the least ones where directions are neutral. With μ > 0 they follow M q̇ = −∂U/∂q, the motion of
a mechanism in honey, by implicit Euler steps of 1/μ, which end in a stable equilibrium where there is one; μ falls with the
residual, so that the last steps are Newton's again (pseudo-transient continuation, sec. 2 of [kelley1998]). Where neither leads
to an equilibrium, what is left is made as small as it becomes (`nearest.py`).
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..errors import ModelError
from .balance import Balance, balanced
from .linearisation import linearised
from .nearest import nearest, refusal
from .rest import Rest
from .rolling import rolled

NEWTON, DAMPED, CHANGES = 40, 600, 60  # steps, steps, and contacts that open or close
PATIENCE = 80  # steps of the damped way on which accelerations do not fall
BENT = 0.3  # of a step may be added by the constraints
ASIDE, ASTRAY = 6, 1e-2  # times that the damped way leaves an equilibrium that is not stable, and how far
LONGEST = 0.3  # step: lengths over the size of the model, angles in rad
SHORTEST = 1e-3  # part of a step of Newton's method that is tried
BETTER = 1e-9  # part by which less has to be left for a place to be nearer to an equilibrium than an earlier one
FLAT, STEPS = 1e-6, 20  # change of accelerations by a step of the damped way, and how many such steps: nothing resists
STEADILY = "; where a part turns steadily, those of joints may do (formulation='relative')"
CONVERGED = 1e-9  # step that is left, over the size of the model or in rad; the search goes on while accelerations fall
ROUNDING, LOOSE = 1e-13, 1e-12  # accelerations over the largest that occur: any, and those that meet no resistance


@dataclass
class Search:
    """A search from a place.

    best     the balance with the least left that was met
    slid     what friction could not hold on the way, in words
    origin   the place from which the search set out, with the contacts and the friction that were left then
    """

    mechanism: Any
    rest: Rest
    best: Balance | None = None
    slid: str = ""
    origin: Any = None
    _spread: Any = None

    def balance(self, place):
        found = balanced(self.mechanism, place)
        self._spread = self._spread or found.bearing
        if self.best is None or self.left(found) < (1 - BETTER) * self.left(self.best):
            self.best = found
        return found

    def left(self, balance):
        """The size of what is not in balance: accelerations that it would cause, with masses as at the start."""
        return float(np.linalg.norm(self._spread.caused(balance.off)))

    def converged(self, balance):
        """Whether nothing accelerates but for rounding: nothing is left to be done, and nothing that no step would change."""
        if not np.isfinite(balance.off).all():
            return False
        if balance.unrest <= ROUNDING * balance.pace:
            return True
        dq, dz = balance.step()
        left = np.abs(balance.accelerations(loose=True)).max(initial=0.0)
        done = max(self.length((dq, dz)), np.abs(dz).max(initial=0.0)) <= CONVERGED
        return done and left <= LOOSE * balance.pace

    def moved(self, balance, step, part=1.0):
        """The place after a part of a step, on the constraints; None where these cannot be met there, or lead elsewhere."""
        (dq, dz), m, place = step, self.mechanism, balance.place
        examiner, p = m.examiner(place), np.array(place.p)
        p[m.equations.states] += part * dz
        led = rolled(m, place, part * dq, balance.rows)
        q, bent = examiner.assemble(place.t, led, p, balance.rows.held)
        lost = q is None or bent > max(BENT * part * self.length(step), CONVERGED)
        return None if lost else m.counted(place.moved(q=q, p=p))

    def length(self, step):
        return max(self.mechanism.examiner(self.mechanism.start).rate(step[0]), 0.0)

    def part(self, step):
        """How much of a step is taken at most."""
        return min(1.0, LONGEST / max(self.length(step), 1e-300))

    # ways

    def newton(self, place):
        """Newton's method: the balance that it ends with, in equilibrium or not."""
        now = self.balance(place)
        for _ in range(NEWTON):
            if not np.isfinite(now.off).all():
                return now
            small = self.converged(now)
            step = now.step(firm=small)
            part = self.part(step)
            if small and part < 1:  # rounding in a direction that is nearly neutral
                return now
            while part >= SHORTEST:
                there = self.moved(now, step, part)
                trial = None if there is None or self._through(there) else self.balance(there)
                if trial is not None and trial.unrest < (1 - 0.1 * part) * now.unrest:
                    break
                part = 0 if small else part / 2
            else:
                return now
            now = trial
        return now

    def down(self, place):
        """The damped way: the balance that it ends with. Contacts close and open on it."""
        now, damping, reach = self.balance(place), None, LONGEST
        least, since, flat, aside = np.inf, 0, 0, 0
        for _ in range(DAMPED):
            if self.converged(now) and now.softest and aside < ASIDE:
                now, aside, least = self.balance(self._aside(now, aside)), aside + 1, np.inf
            if self.converged(now) or not np.isfinite(now.off).all():
                return now
            least, since = (now.unrest, 0) if now.unrest < 0.9 * least else (least, since + 1)
            least = now.unrest if since == PATIENCE // 2 else least  # the way down may lead past a steep place
            if since > PATIENCE or flat > STEPS:
                return now
            first = now.unrest / LONGEST if damping is None else damping
            damping = -1.5 * now.softest if now.softest else max(first, 1e-12 * now.pace)
            step = now.step(damping)
            while self.length(step) > reach:
                damping *= 2
                step = now.step(damping)
            there = self.moved(now, step)
            then = None if there is None else self.met(there)
            if then is None:
                reach = min(reach, self.length(step)) / 2
                continue
            reach = min(LONGEST, 2 * reach)
            ratio = then.unrest / max(now.unrest, 1e-300)
            flat = flat + 1 if abs(ratio - 1) < FLAT and not self.rest.contacts else 0
            damping, now = damping * float(np.clip(ratio, 0.2, 2.0)), then
        return now

    def _through(self, place):
        """Whether a place lies beyond a gap that is open."""
        return self.rest.closed(place)[1]

    def met(self, place):
        """The balance at a place, with gaps closed that a step went through, or the contact open that pulls most; None where all
        that it went through at once cannot be closed."""
        place, closes = self.rest.closed(place)
        if closes:
            place = self._onto(self.rest.held(place))
            return None if place is None else self.balance(place)
        found = self.balance(place)
        place, opens = self.rest.opened(found)
        return self.balance(place) if opens else found

    def _onto(self, place):
        """A place on the constraints that have just closed; None where they cannot be met nearby."""
        found, _ = self.mechanism.examiner(place).assemble(place.t, place.q, place.p)
        return None if found is None else self.mechanism.counted(place.moved(q=found))

    # all of it

    def found(self, place, stable=False):
        """The balance of an equilibrium near a place, with everything on its right side."""
        place = self.rest.began(place)
        place = self.origin = self._onto(place) or place
        now = None if stable else self.newton(place)
        if now is None or not self.converged(now):
            now = self._sought()
        for _ in range(CHANGES if self.rest.any else 0):
            if not self.converged(now):
                break
            now = self.rest.shared(now)
            place, opens = self.rest.opened(now)
            slides = [] if opens else self.rest.sliding(now)
            if not opens and not slides:
                return self._held_again(now)
            self.rest.let_go |= {id(f) for f, *_ in slides}
            self.slid += self.rest.refused(now, slides) if slides else ""
            self.best, self.origin = None, self.rest.held(place)
            now = self._sought()
        if not self.converged(now):
            raise refusal(self, now, "stable equilibrium" if stable else "equilibrium")
        return now

    def _sought(self):
        """The balance that the damped way from the origin ends with; where it leads to none, the one nearest to one."""
        now = self.newton(self.down(self.origin).place)
        return now if self.converged(now) else nearest(self)

    def steady(self, now):
        """Refuse motions that are imposed and do not go on as they are."""
        m, place, keep = self.mechanism, now.place, now.rows.keep
        gamma = m.equations.residuals(place.t, place.q, place.v, place.p, m.nothing())["constraints"][keep, 0]
        shown, units = m.shown(place), {"velocity": m.system.length, "angular_velocity": 1.0}  # grounds carry bodies
        rate = max(self._carried(place), *(np.abs(shown[x]).max(initial=0.0) / unit for x, unit in units.items()))
        off = np.abs(gamma / m.row_units(place, keep)).max(initial=0.0)
        if off > 1e-9 * max(rate**2, now.pace) or rate and not self._goes_on(now, rate):
            raise ModelError(
                f"model {m.model.name!r}: what is driven or stands on what moves does not move steadily in the coordinates of "
                f"formulation {m.formulation!r}{'' if m.formulation == 'relative' else STEADILY}"
            )
        return now

    def _carried(self, place):
        """How fast grounds move, or set out to, where they stand: √ of accelerations [1/s]."""
        model, rates = self.mechanism.model, [ca.SX(0)]
        for _, _, v, w in (ground.motion() for ground in model.grounds if ground.moves):
            u = ca.vertcat(v / self.mechanism.system.length, w)
            rates += [ca.fabs(u), ca.sqrt(ca.fabs(ca.jacobian(u, time)))]
        fastest = ca.Function("fastest", [time, ca.vertcat(*model.inputs, ca.SX(0, 1))], [ca.mmax(ca.vertcat(*rates))])
        return float(fastest(place.t, place.p[: len(model.inputs)]))

    def _goes_on(self, now, rate):
        """Whether forces balance at a place that moves, and small motions about it are the same, a little later."""
        m, place, later = self.mechanism, now.place, 0.1 / rate
        there = place.moved(t=place.t + later, q=m.examiner(place).move(place.q, later * place.v))
        A, B = (linearised(m, x).A for x in (place, there))
        same = A.shape == B.shape and np.abs(A - B).max(initial=0.0) <= 1e-6 * np.abs(A).max(initial=0.0)
        return same and (self._timed() or balanced(m, there).unrest <= 1e-6 * now.pace)

    def _timed(self):
        """Whether forces follow the time: they are taken as they are at one, and need not balance later."""
        forces = self.mechanism.model.all_forces
        parts = [
            x for f in forces for x in (f.potential(), f.dissipation(), *(e for _, e in f.efforts())) if x is not None
        ]
        return any(ca.depends_on(ca.SX(x), time) for x in parts)

    def _held_again(self, now):
        """What friction was let go on the way holds again."""
        if not self.rest.let_go:
            return now
        self.rest.let_go.clear()
        return self.balance(self.rest.held(now.place))

    def _aside(self, now, again):
        """A place a little aside of an equilibrium that is not stable."""
        step = now.anywhere(np.random.default_rng(again))
        return self.moved(now, step, ASTRAY / max(self.length(step), 1e-300)) or now.place
