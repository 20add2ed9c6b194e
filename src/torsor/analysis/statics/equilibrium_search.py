"""The search for an equilibrium: Newton's method on the manifold, and a damped descent where Newton's method fails.

    (Nᵀ K + μ Nᵀ M) δq = −r                                                                           (1)

With μ = 0 these are Newton steps, of least norm if there are neutral directions. With μ > 0 they are implicit Euler steps of length
1/μ for the overdamped motion M q̇ = −∂U/∂q, which ends in a stable equilibrium if there is one. μ falls with the residual, so that
the last steps are Newton steps (pseudo-transient continuation, sec. 2 of [kelley1998]). If both fail, the residual is minimised
(`least_residual.py`).
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...elements.quantity import time
from ...errors import ModelError
from ..linear.linearisation import linearise_at
from .contacts_at_rest import ContactsAtRest
from .equilibrium_tolerances import (
    ACCELERATION_ROUNDING,
    FLAT_CHANGE,
    IMBALANCE_IMPROVED,
    STEADY_MATRIX_CHANGE,
    STEADY_RATE_CHANGE,
    STEP_CONVERGED,
    UNRESISTED_ACCELERATION,
)
from .force_balance import Balance, balance_forces
from .least_residual import nearest_balance, no_equilibrium_error
from .nonholonomic_paths import follow_constraints

NEWTON_STEPS = 40
DAMPED_STEPS = 600
CONTACT_CHANGES = 60  # contacts that open or friction that is released, one after the other
PATIENCE = 80  # damped steps during which accelerations need not fall
CONSTRAINT_CORRECTION = 0.3  # largest correction by the constraints / length of the step
PERTURBATIONS = 6  # times that the damped search leaves an unstable equilibrium
PERTURBATION = 1e-2  # rad, or the size of the model: displacement from an unstable equilibrium
STEP_LIMIT = 0.3  # rad, or the size of the model
STEP_FRACTION_MIN = 1e-3  # shortest fraction of a Newton step
FLAT_STEPS = 20  # damped steps without a change of the accelerations, after which the damped search ends
RELATIVE_HINT = (
    "; try the coordinates of joints (formulation='relative'), in which a part that turns steadily is steady"
)


@dataclass
class Search:
    """A search for an equilibrium.

    best            the balance with the least imbalance so far
    friction_text   sentences about friction that was overloaded during the search
    origin          operating point at which the search began, with the current active set of contacts and friction
    """

    mechanism: Any
    contacts: ContactsAtRest
    best: Balance | None = None
    friction_text: str = ""
    origin: Any = None
    _start_reactions: Any = None

    def balance(self, point):
        """The balance at an operating point; `best` is updated."""
        balance = balance_forces(self.mechanism, point)
        self._start_reactions = self._start_reactions or balance.reactions
        if self.best is None or self.imbalance(balance) < (1 - IMBALANCE_IMPROVED) * self.imbalance(self.best):
            self.best = balance
        return balance

    def imbalance(self, balance):
        """Norm of the accelerations that the unbalanced forces would cause, with the masses at the start of the search."""
        return float(np.linalg.norm(self._start_reactions.scale_by_mass(balance.unbalanced)))

    def is_converged(self, balance):
        """True if the remaining Newton step and the accelerations in directions without resistance are negligible."""
        if not np.isfinite(balance.unbalanced).all():
            return False
        if balance.max_acceleration <= ACCELERATION_ROUNDING * balance.stiffness_scale:
            return True
        dq, dz = balance.step()
        remaining = np.abs(balance.accelerations(unresisted=True)).max(initial=0.0)
        done = max(self.length((dq, dz)), np.abs(dz).max(initial=0.0)) <= STEP_CONVERGED
        return done and remaining <= UNRESISTED_ACCELERATION * balance.stiffness_scale

    def apply_step(self, balance, step, part=1.0):
        """The operating point after a fraction of a step, on the constraints; None if they cannot be satisfied nearby."""
        (dq, dz), m, point = step, self.mechanism, balance.point
        examiner, p = m.examiner(point), np.array(point.p)
        p[m.equations.states] += part * dz
        start_q = follow_constraints(m, point, part * dq, balance.rows)
        q, correction = examiner.assemble(point.t, start_q, p, balance.rows.position_rows)
        failed = q is None or correction > max(CONSTRAINT_CORRECTION * part * self.length(step), STEP_CONVERGED)
        return None if failed else m.count_turns(point.with_changes(q=q, p=p))

    def length(self, step):
        """Length of a step: lengths divided by the size of the model, angles in rad."""
        return max(self.mechanism.examiner(self.mechanism.start).rate(step[0]), 0.0)

    def part(self, step):
        """The largest fraction of a step that is taken."""
        return min(1.0, STEP_LIMIT / max(self.length(step), 1e-300))

    # methods

    def newton(self, point):
        """Newton's method with a line search: its last balance, which may not be an equilibrium."""
        current = self.balance(point)
        for _ in range(NEWTON_STEPS):
            if not np.isfinite(current.unbalanced).all():
                return current
            small = self.is_converged(current)
            step = current.step(firm_only=small)
            part = self.part(step)
            if small and part < 1:  # rounding errors in a nearly neutral direction
                return current
            while part >= STEP_FRACTION_MIN:
                next_point = self.apply_step(current, step, part)
                trial = None if next_point is None or self._passes_gap(next_point) else self.balance(next_point)
                if trial is not None and trial.max_acceleration < (1 - 0.1 * part) * current.max_acceleration:
                    break
                part = 0 if small else part / 2
            else:
                return current
            current = trial
        return current

    def descend(self, point):
        """The damped search: its last balance. Contacts close and open during the search."""
        current, damping, reach = self.balance(point), None, STEP_LIMIT
        least, since, flat, perturbations = np.inf, 0, 0, 0
        for _ in range(DAMPED_STEPS):
            if self.is_converged(current) and current.lowest_stiffness and perturbations < PERTURBATIONS:
                current, perturbations, least = (
                    self.balance(self._perturb(current, perturbations)),
                    perturbations + 1,
                    np.inf,
                )
            if self.is_converged(current) or not np.isfinite(current.unbalanced).all():
                return current
            least, since = (
                (current.max_acceleration, 0) if current.max_acceleration < 0.9 * least else (least, since + 1)
            )
            if since == PATIENCE // 2:  # accelerations may rise for a while
                least = current.max_acceleration
            if since > PATIENCE or flat > FLAT_STEPS:
                return current
            first = current.max_acceleration / STEP_LIMIT if damping is None else damping
            damping = (
                -1.5 * current.lowest_stiffness
                if current.lowest_stiffness
                else max(first, 1e-12 * current.stiffness_scale)
            )
            step = current.step(damping)
            while self.length(step) > reach:
                damping *= 2
                step = current.step(damping)
            next_point = self.apply_step(current, step)
            next_balance = None if next_point is None else self.balance_with_contacts(next_point)
            if next_balance is None:
                reach = min(reach, self.length(step)) / 2
                continue
            reach = min(STEP_LIMIT, 2 * reach)
            ratio = next_balance.max_acceleration / max(current.max_acceleration, 1e-300)
            flat = flat + 1 if abs(ratio - 1) < FLAT_CHANGE and not self.contacts.contacts else 0
            damping, current = damping * float(np.clip(ratio, 0.2, 2.0)), next_balance
        return current

    def _passes_gap(self, point):
        """True if an open gap is negative at an operating point."""
        return self.contacts.close_gaps_below(point)[1]

    def balance_with_contacts(self, point):
        """The balance after an update of the contacts: negative gaps close, else the contact that pulls most opens.

        None if all gaps that close cannot be satisfied together.
        """
        point, closes = self.contacts.close_gaps_below(point)
        if closes:
            point = self._project(self.contacts.engage_friction(point))
            return None if point is None else self.balance(point)
        balance = self.balance(point)
        point, opens = self.contacts.open_pulling(balance)
        return self.balance(point) if opens else balance

    def _project(self, point):
        """The operating point projected onto the active constraints; None if they cannot be satisfied nearby."""
        q, _ = self.mechanism.examiner(point).assemble(point.t, point.q, point.p)
        return None if q is None else self.mechanism.count_turns(point.with_changes(q=q))

    # the whole search

    def find(self, point, stable=False):
        """The balance of an equilibrium near an operating point, with a consistent active set of contacts and friction."""
        point = self.contacts.close_touching(point)
        point = self.origin = self._project(point) or point
        current = None if stable else self.newton(point)
        if current is None or not self.is_converged(current):
            current = self._search_from_origin()
        for _ in range(CONTACT_CHANGES if self.contacts.any else 0):
            if not self.is_converged(current):
                break
            current = self.contacts.redistribute(current)
            point, opens = self.contacts.open_pulling(current)
            slides = [] if opens else self.contacts.sliding(current)
            if not opens and not slides:
                return self._restore_friction(current)
            self.contacts.released_friction |= {id(f) for f, *_ in slides}
            self.friction_text += self.contacts.overload_text(current, slides) if slides else ""
            self.best, self.origin = None, self.contacts.engage_friction(point)
            current = self._search_from_origin()
        if not self.is_converged(current):
            raise no_equilibrium_error(self, current, "stable equilibrium" if stable else "equilibrium")
        return current

    def _search_from_origin(self):
        """The balance at the end of the damped search from the origin; if it is no equilibrium, the one of least residual."""
        current = self.newton(self.descend(self.origin).point)
        return current if self.is_converged(current) else nearest_balance(self)

    def require_steady(self, current):
        """ModelError if imposed motions are not steady."""
        m, point, keep = self.mechanism, current.point, current.rows.keep
        gamma = m.equations.residuals(point.t, point.q, point.v, point.p, m.zero_unknowns())["constraints"][keep, 0]
        outputs = m.output_values(point)
        units = {"velocity": m.system.length, "angular_velocity": 1.0}  # moving grounds carry bodies
        rate = max(self._ground_rate(point), *(np.abs(outputs[x]).max(initial=0.0) / unit for x, unit in units.items()))
        acceleration = np.abs(gamma / m.row_units(point, keep)).max(initial=0.0)
        if (
            acceleration > STEADY_RATE_CHANGE * max(rate**2, current.stiffness_scale)
            or rate
            and not self._stays_steady(current, rate)
        ):
            raise ModelError(
                f"model {m.model.name!r}: what is driven or stands on a moving ground does not move steadily in the coordinates of "
                f"formulation {m.formulation!r}{'' if m.formulation == 'relative' else RELATIVE_HINT}"
            )
        return current

    def _ground_rate(self, point):
        """The largest rate of motion of the grounds, including √ of their accelerations [1/s]."""
        model, rates = self.mechanism.model, [ca.SX(0)]
        for _, _, v, w in (ground.motion() for ground in model.grounds if ground.moves):
            u = ca.vertcat(v / self.mechanism.system.length, w)
            rates += [ca.fabs(u), ca.sqrt(ca.fabs(ca.jacobian(u, time)))]
        fastest = ca.Function("fastest", [time, ca.vertcat(*model.inputs, ca.SX(0, 1))], [ca.mmax(ca.vertcat(*rates))])
        return float(fastest(point.t, point.p[model.input_layout.model_inputs]))

    def _stays_steady(self, current, rate):
        """True if a moving equilibrium is still one, with the same linear model, a little later."""
        m, point, later = self.mechanism, current.point, 0.1 / rate
        next_point = point.with_changes(t=point.t + later, q=m.examiner(point).move(point.q, later * point.v))
        A, B = (linearise_at(m, x).A for x in (point, next_point))
        same = A.shape == B.shape and np.abs(A - B).max(initial=0.0) <= STEADY_MATRIX_CHANGE * np.abs(A).max(
            initial=0.0
        )
        return same and (
            self._forces_depend_on_time()
            or balance_forces(m, next_point).max_acceleration <= STEADY_MATRIX_CHANGE * current.stiffness_scale
        )

    def _forces_depend_on_time(self):
        """True if forces depend on time: these are taken at one instant and need not balance later."""
        forces = self.mechanism.model.all_forces
        parts = [
            x for f in forces for x in (f.potential(), f.dissipation(), *(e for _, e in f.efforts())) if x is not None
        ]
        return any(ca.depends_on(ca.SX(x), time) for x in parts)

    def _restore_friction(self, current):
        """The balance with all released friction sticking again."""
        if not self.contacts.released_friction:
            return current
        self.contacts.released_friction.clear()
        return self.balance(self.contacts.engage_friction(current.point))

    def _perturb(self, current, again):
        """The operating point after a small random step from an unstable equilibrium."""
        step = current.random_step(np.random.default_rng(again))
        return self.apply_step(current, step, PERTURBATION / max(self.length(step), 1e-300)) or current.point
