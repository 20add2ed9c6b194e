"""An impulse on a body at an event: a force in the limit of a large value and a short time.

    M (v⁺ − v⁻) = Q_J + Gᵀ Λ,     G (v⁺ − v⁻) = 0                                                    (1)
    v⁺ − v⁻ = (v̇(σ J) − v̇(0))/σ                                                                     (2)

J      linear and angular impulse on the body                                            [N s, N m s]
Q_J    its generalised impulse, as that of a force J at the same point
v̇(F)   accelerations with a force F on the body, in the same state
Λ      impulses of joints and constraints

(2) holds since v̇ is affine in the force, also with momenta as state; σ makes the effect of all other forces negligible.
One-sided constraints are open in (2). Where the velocities violate them afterwards they react as in an impact
(`run/contacts/velocity_jumps.py`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from ....elements import quantity
from ....elements.element import fill_in
from ....elements.quantity import Vector
from ....errors import ModelError
from ....events import Memory
from ....events.actions.base import Action, Step
from ....forces.loads_and_springs import AXES, PointForce, Torque
from ....kernels.compiled import entry, reference
from ....methods.status_codes import RUNNING
from ....methods.vector_functions import copy, rate
from ....prepare.event_codes import NEEDS_STRUCTURE, NOT_A_NUMBER
from ....prepare.event_records import EventRun
from ....registry import register
from ...contacts.impulses import loosen
from ..event_firing import PUSHED
from ..event_tolerances import structure_of

LARGE = 2.0**30  # σ of (2): a power of two, which rounds nothing


@register("kick")
@dataclass(frozen=True, eq=False)
class Kick(Action):
    """An impulse on a body: velocities jump as momentum demands, through joints, constraints and closed contacts.

    impulse          three components                                                              [N s]
    point            where it acts, in the world, in the reference configuration; None: the centre of mass
    angular_impulse  three components, None: none                                                  [N m s]
    axes             of both: "world" or "body"
    pulse, loads     memories with the impulse while it acts, and the forces that contain them
    """

    acts_on = "one body"
    loop: ClassVar[tuple] = (__name__, "apply_impulse")
    impulse: Vector = (0, 0, 0)
    point: Vector | None = None
    angular_impulse: Vector | None = None
    axes: str = "world"
    pulse: tuple = ()
    loads: tuple = ()

    def refers(self, model: Any, owner: str) -> None:
        super().refers(model, owner)
        if len(self.targets) != 1:
            raise ModelError(f"{owner}: action 'kick': give one body, got {len(self.targets)} elements")
        if self.axes not in AXES:
            raise ModelError(f"{owner}: action 'kick': axes must be 'world' or 'body', got {quantity.show(self.axes)}")
        if self.angular_impulse is not None and self.targets[0].particle:
            raise ModelError(
                f"{owner}: action 'kick': {self.targets[0].owner} is a particle, which takes no angular_impulse"
            )
        if self.point is not None:
            quantity.given(self.point, 3, 1, "point", owner)
        ca.vertcat(*self._components(owner))

    def accepts(self, model: Any, target: Any, owner: str) -> None:
        self.one_of(model.bodies, target, owner)

    def _components(self, owner="kick"):
        """Linear impulse, and angular impulse if there is one."""
        linear = quantity.vector(self.impulse, "impulse", owner)
        if self.angular_impulse is None:
            return [linear]
        return [linear, quantity.vector(self.angular_impulse, "angular_impulse", owner)]

    def join(self, model: Any, name: str) -> None:
        """Add the forces that stand for the impulse; they are zero but for the instant in which it acts."""
        if self.loads:  # another event has the same action, or it was copied with its model
            return
        (body,) = self.targets
        pulse = [
            Memory(f"{name}.{part}[{k}]") for part in ("linear", "angular")[: len(self._components())] for k in range(3)
        ]
        for memory in pulse:
            model._remember(memory)
        F = ca.vertcat(*[memory.symbol for memory in pulse])
        loads: list = [PointForce(name, body, force=F[:3, 0], point=self.point, axes=self.axes)]
        if self.angular_impulse is not None:
            loads.append(Torque(f"{name}.angular", body, torque=F[3:, 0], axes=self.axes))
        fill_in(self, pulse=tuple(pulse), loads=tuple(model._join(load) for load in loads))

    def expressions(self) -> tuple:
        return tuple(ca.vertsplit(ca.vertcat(*self._components())))

    def steps(self, model: Any) -> list[Step]:
        return [Step("kick", self.pulse, self.expressions(), loop=self.loop)]


def kick(
    body: Any,
    impulse: Vector = (0, 0, 0),
    point: Vector | None = None,
    angular_impulse: Vector | None = None,
    axes: str = "world",
) -> Kick:
    """An impulse on a body: its velocities jump, and joints, constraints and closed contacts react.

    impulse          components in N s, numbers or expressions
    point            where it acts (world, reference configuration); without it, at the centre of mass
    angular_impulse  components of a pure angular impulse in N m s, in addition
    axes             "world", or "body" for components in axes of the body
    """
    return Kick((body,), impulse, point, angular_impulse, axes)


at = reference(EventRun)


@entry("int64", "int64", "float64", "float64")
def apply_impulse(address, operation, t, h):
    """Change the velocities of the trial state by (2), and add the impulses of rows in use to `trial.given`. Returns a status."""
    run = at(address)
    op, trial, s, n = run.program.ops[operation], run.trial, run.scratch, run.plan.velocities
    p, first = trial.inputs, run.plan.configuration
    copy(run.state.p, p)
    for place in run.program.bits:  # the structure may have been changed by steps before
        p[place] = trial.p[place]
    for contact in run.program.onesided:
        p[contact.place] = 0.0
    loosen(run, p, False)
    i = structure_of(run, p)
    if i < 0:
        return NEEDS_STRUCTURE
    for m in range(op.count):
        value = trial.slots[op.slot + m]
        if not abs(value) <= 1e300:
            return NOT_A_NUMBER
        p[op.place + m] = LARGE * value
    rate(run, run.kernels[i], t, trial.x, p, trial.rate)
    for m in range(run.kernels[i].rows):
        trial.lam[m] = s.lam[m]
    for m in range(op.count):
        p[op.place + m] = 0.0
    rate(run, run.kernels[i], t, trial.x, p, s.xdot)
    for m in range(n):
        trial.x[first + m] += (trial.rate[n + m] - s.xdot[n + m]) / LARGE  # (2)
    for m in range(run.kernels[i].rows):
        trial.given[run.structures.rows[i, m]] += (trial.lam[m] - s.lam[m]) / LARGE
    trial.asks |= PUSHED
    return RUNNING
