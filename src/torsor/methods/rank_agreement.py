"""Agreement of time loops that run one system together, each on a rank of its own (`parallel/ranks.py`).

What loops decide about (errors, speeds, turns, whether numbers are finite) is the largest over all ranks, so that they all decide
alike. Where there is one loop, numbers stay as they are: that costs one comparison.
"""

from ..kernels.compiled import call_agreement, inlined

LARGEST, SAME = 0, 1  # what is agreed on: the largest of each number, not a number if any is not; the numbers of rank 0


@inlined
def alone(run):
    """Whether no other loop runs the same system."""
    return run.plan.agree == 0


@inlined
def common(run, count):
    """The first numbers in the scratch that is common become the largest over all ranks."""
    if run.plan.agree != 0:
        call_agreement(run.plan.agree, run.scratch.common, count, LARGEST)


@inlined
def overall(run, number):
    """The largest over all ranks."""
    if run.plan.agree == 0:
        return number
    run.scratch.common[0] = number
    common(run, 1)
    return run.scratch.common[0]


@inlined
def both_overall(run, a, b):
    """The largest of each over all ranks."""
    if run.plan.agree == 0:
        return a, b
    c = run.scratch.common
    c[0], c[1] = a, b
    common(run, 2)
    return c[0], c[1]


@inlined
def same_trunk(run, x):
    """What every rank computes of the state, the first coordinates and velocities, becomes that of rank 0: they may differ in
    rounding, and must not drift apart."""
    plan, c = run.plan, run.scratch.common
    if plan.agree != 0:
        n, m = plan.common_configuration, plan.common_velocities
        for i in range(n):
            c[i] = x[i]
        for i in range(m):
            c[n + i] = x[plan.configuration + i]
        call_agreement(plan.agree, c, n + m, SAME)
        for i in range(n):
            x[i] = c[i]
        for i in range(m):
            x[plan.configuration + i] = c[n + i]
