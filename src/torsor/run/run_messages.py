"""Messages about the end of a run: finished, or why not, when, and because of which element."""

import numpy as np

from ..methods.status_codes import FINISHED, NOT_FINITE, NOT_PROJECTED, NOT_SOLVED, STEP_TOO_SMALL
from ..prepare.velocity_block import motion_of

LOOK_AHEAD = 0.01  # time after the end of a run in which elements are searched for undefined values / length of the run
COLLAPSED_BELOW = 1e-6  # step / length of the run, below which forces that jump as functions of a rate are searched for
LONGEST_RUN = 30.0  # days that a run may take at its present pace
RUNAWAY_FROM = 1e12  # displacement in the rest of a slow run / model size, or radians
UNSTABLE_FROM = 1e20  # displacement in a run / model size, from which the step is unstable
SINGULAR_BELOW = 1e-9  # smallest pivot of the constraints that is reported as a singular position
STATUS = {
    NOT_FINITE: "the state is no longer finite",
    STEP_TOO_SMALL: "the step became too small: the motion is singular, or jumps",
    NOT_SOLVED: "Newton's method does not solve the equations of a step, however short",
    NOT_PROJECTED: "the constraints could not be satisfied any more: the projection did not converge",
}


def message(runner, status):
    """The message of a status, with time and element where these are known."""
    if status == FINISHED:
        return "finished"
    message = STATUS[status]
    if status == STEP_TOO_SMALL and not runner.needs:
        message += ", or is too stiff for an explicit method (then take method='radau5')"
    if status == NOT_SOLVED:
        return message + _unsolved_step(runner)
    if status == NOT_FINITE and (failures := failures_of_other_programs(runner)):
        return f"{message}: {failures}"
    undefined = _undefined_elements(runner, LOOK_AHEAD * runner.until)
    if undefined or status == NOT_FINITE:
        return message + (
            undefined or "; every element by itself is finite: accelerations or reactions have no solution here"
        )
    if status == STEP_TOO_SMALL and (jumps := _rate_jumps(runner)):
        return message + jumps
    if runner.state.least_pivot < SINGULAR_BELOW:
        message += (
            f" (the constraints were nearly dependent on the way, smallest pivot {runner.state.least_pivot:.1e}: the "
            "mechanism passes a singular position; a larger tolerance steps over it)"
        )
    return message


def failures_of_other_programs(runner):
    """Why functions of other programs (FMUs) had no value."""
    contents = [table.content for kernel in runner.built.values() for table in kernel.looked_up]
    return "; ".join(dict.fromkeys(why for x in contents if (why := getattr(x, "failure", ""))))


def _unsolved_step(runner):
    """Where Newton's method failed and how far it came, as the end of a message."""
    tried = last_attempt(runner)
    if undefined := _undefined_elements(runner, tried):
        return undefined
    where = f"t = {runner.state.time:.9g} s, most of all in {runner.system.component(runner.state.worst)}"
    size = runner.state.unsolved
    correction = (
        f"its last correction is {size:.3g} of the model's size"
        if np.isfinite(size)
        else "its corrections grow without bound"
    )
    advice = "; a smaller step may help" if runner.plan.step > 0 else ""
    return f": {correction} in a step of {tried:.3g} s at {where}{advice}{_rate_jumps(runner)}"


def _rate_jumps(runner):
    """Forces that jump as functions of a rate, as the end of a message; empty if there are none."""
    return "" if runner.jump_search is None else runner.jump_search.suspects()


def warn_of_tiny_steps(runner):
    """Warn of forces that jump as functions of a rate if steps are very short."""
    state = runner.state
    if runner.jump_search is not None and state.step < COLLAPSED_BELOW * abs(runner.until):
        runner.jump_search.warn_of_tiny_steps(state.time, state.step)


def last_attempt(runner):
    """Length of the last attempted step [s]. If the run went back to the start of a step, the length of the step before."""
    known = 2 * runner.state.longest
    usual = runner.plan.step if runner.plan.step > 0 else runner.state.step
    return float(min(known, usual if 0 < usual < np.inf else LOOK_AHEAD * runner.until))


def _undefined_elements(runner, reach):
    """Elements that are not numbers where the run ended, or up to `reach` seconds later, as the end of a message.

    A motion that grew without bound is reported instead.
    """
    t, x, p = np.array([runner.state.time]), runner.state.x.copy(), runner.state.p
    if _fastest_rate(runner) * runner.until > UNSTABLE_FROM:
        return ": the motion grew beyond all bounds; the step is too long, or the motion unstable"
    zeros = [np.zeros(runner.system.state.algebra), np.zeros(runner.built["rate"].size_out(1))]
    outputs = runner.system.outputs.split(runner.built["outputs"](t, x, p, *zeros)[0])
    parts = [
        outputs[name].reshape(len(runner.system.bodies), -1)
        for name in ("position", "rotation", "velocity", "angular_velocity")
    ]
    return runner.blame(reach, float(t[0]), list(zip(*parts)), p[: runner.sizes["parameters"]])


def _fastest_rate(runner):
    """The largest rate [1/s]: speeds over the model size, angular velocities as they are."""
    x, p = runner.state.x.copy(), runner.state.p
    sizes = np.where(np.array(runner.system.linear, bool), runner.system.length, 1.0)
    v = motion_of(runner.built, runner.system.state, runner.state.time, x, p)[1]
    return float(np.abs(v / sizes).max(initial=0.0))


def endless_run_message(runner, left, seconds, passed, steps):
    """Message about a run that cannot finish at its present pace, or whose motion runs away; None if it can finish.

    left, passed     simulated time that is left, and that passed in the last `seconds` [s]
    seconds, steps   wall time since the last check [s], and steps in it
    """
    warn_of_tiny_steps(runner)
    rate = runner._largest_over_ranks(_fastest_rate(runner))
    if passed * LONGEST_RUN * 86400 < left * seconds:
        pace = f"steps of {passed / max(steps, 1):.2g} s, {passed:.2g} s in the last {seconds:.0f} s"
        return (
            f"the run would take more than {LONGEST_RUN:.0f} days at its present pace ({pace}, {left:.4g} s are left): the forces "
            f"are too stiff for these steps; soften them, or try method='radau5'{_rate_jumps(runner)}"
        )
    if rate * left > RUNAWAY_FROM:
        return (
            f"the motion runs away: at rates of {rate:.2g} 1/s it would turn, or pass its own size, {rate * left:.1g} times in the "
            f"{left:.4g} s that are left. Something adds energy without limit, such as a control loop that is unstable at "
            "its period"
        )
    return None
