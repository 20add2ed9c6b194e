"""How runs end, in words: finished, or why not, where, and because of which element."""

import numpy as np

from ..methods.codes import FINISHED, NOT_FINITE, NOT_PROJECTED, NOT_SOLVED, STEP_TOO_SMALL
from .beside import motion_of

AHEAD = 0.01  # of a run: how far behind its end it is looked for what is not a number
COLLAPSED = 1e-6  # of a run: shorter steps are looked at for forces that jump with a rate
DAYS = 30.0  # a run that would take longer at the pace it has had has no chance
ENDLESS = 1e12  # times its size, or radians, that a slow run would still move a model: the motion runs away
BOUNDLESS = 1e20  # times its size that a model would move in the run: no motion, but an unstable step
STATUS = {
    NOT_FINITE: "the state is no longer finite",
    STEP_TOO_SMALL: "the step became too small: the motion is singular, or jumps",
    NOT_SOLVED: "Newton's method does not solve the equations of a step, however short",
    NOT_PROJECTED: "the constraints could not be satisfied any more: the projection did not converge",
}


def message(runner, status):
    """What a status means, with the place and the element where that is known."""
    if status == FINISHED:
        return "finished"
    message = STATUS[status]
    if status == STEP_TOO_SMALL and not runner.needs:
        message += ", or is too stiff for an explicit method (then take method='radau5')"
    if status == NOT_SOLVED:
        tried = step_tried(runner)
        if blamed := _blamed(runner, tried):
            return message + blamed
        where = f"t = {runner.state.time:.9g} s, most of all in {runner.system.component(runner.state.worst)}"
        size = runner.state.unsolved
        left = (
            f"its last correction is {size:.3g} of the model's size"
            if np.isfinite(size)
            else "its corrections have no bounds"
        )
        more = "; a smaller step may help" if runner.plan.step > 0 else ""
        return f"{message}: {left} in a step of {tried:.3g} s at {where}{more}{_suspects(runner)}"
    blamed = _blamed(runner, AHEAD * runner.until)
    if blamed or status == NOT_FINITE:
        return message + (blamed or "; every element by itself is: accelerations or reactions have no solution here")
    if status == STEP_TOO_SMALL and (jumping := _suspects(runner)):
        return message + jumping
    if runner.state.least_pivot < 1e-9:
        message += (
            f" (the constraints were nearly dependent on the way, smallest pivot {runner.state.least_pivot:.1e}: the "
            "mechanism passes a singular position; a larger tolerance steps over it)"
        )
    return message


def _suspects(runner):
    """Forces that jump with a rate, as the end of a message."""
    return "" if runner.suspects is None else runner.suspects.suspects()


def hint_at_collapse(runner):
    """Warn of forces that jump with a rate, where steps are very short."""
    state = runner.state
    if runner.suspects is not None and state.step < COLLAPSED * abs(runner.until):
        runner.suspects.hint_at_collapse(state.time, state.step)


def step_tried(runner):
    """Length of the step that was tried last [s]. Where the run has gone back to the start of a step it is not known any more: then
    that of the step before."""
    known = 2 * runner.state.longest
    usual = runner.plan.step if runner.plan.step > 0 else runner.state.step
    return float(min(known, usual if 0 < usual < np.inf else AHEAD * runner.until))


def _blamed(runner, reach):
    """Which element is not a number where the run came to its end, or up to `reach` later, unless the motion itself grew beyond
    all bounds."""
    t, x, p = np.array([runner.state.time]), runner.state.x.copy(), runner.state.p
    if _fastest(runner) * runner.until > BOUNDLESS:
        return ": the motion grew beyond all bounds; the step is too long, or the motion unstable"
    none = [np.zeros(runner.system.state.algebra), np.zeros(runner.built["rate"].size_out(1))]
    flat, at, found = runner.built["outputs"](t, x, p, *none)[0], 0, {}
    for name, size in runner.system.layout:
        found[name], at = flat[at : at + size], at + size
    parts = [
        found[name].reshape(len(runner.system.bodies), -1)
        for name in ("position", "rotation", "velocity", "angular_velocity")
    ]
    return runner.blame(reach, float(t[0]), list(zip(*parts)), p[: runner.sizes["parameters"]])


def _fastest(runner):
    """The largest rate [1/s]: speeds over the size of the model, rates of turning as they are."""
    x, p = runner.state.x.copy(), runner.state.p
    sizes = np.where(np.array(runner.system.linear, bool), runner.system.length, 1.0)
    v = motion_of(runner.built, runner.system.state, runner.state.time, x, p)[1]
    return float(np.abs(v / sizes).max(initial=0.0))


def hopeless(runner, left, seconds, passed, steps):
    """What to say of a run that would take for ever for what is left of it at the pace of its last seconds, or whose motion
    runs away; None where it has a chance."""
    hint_at_collapse(runner)
    rate = runner._agreed(_fastest(runner))
    if passed * DAYS * 86400 < left * seconds:
        pace = f"steps of {passed / max(steps, 1):.2g} s, {passed:.2g} s in the last {seconds:.0f} s"
        return (
            f"the run would take more than {DAYS:.0f} days at its present pace ({pace}, {left:.4g} s are left): the forces are "
            f"too stiff for these steps; soften them, or try method='radau5'{_suspects(runner)}"
        )
    if rate * left > ENDLESS:
        return (
            f"the motion runs away: at rates of {rate:.2g} 1/s it would turn, or pass its own size, {rate * left:.1g} times in the "
            f"{left:.4g} s that are left. Something gives it energy without end, as a control loop that is unstable at its period"
        )
    return None
