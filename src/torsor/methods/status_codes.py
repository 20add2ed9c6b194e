"""Numbers that stand for how a step, or a run, came out."""

RUNNING, FINISHED, NOT_FINITE, STEP_TOO_SMALL, NOT_PROJECTED, ILL_CHOSEN = 0, 1, 2, 3, 4, 5
ACCEPTED, REJECTED, NOT_SOLVED = 6, 7, 8
LOST = 2  # the rate at the present state was known and has to be evaluated again, which does not count
