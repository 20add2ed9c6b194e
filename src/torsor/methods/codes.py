"""Numbers that stand for how a step, or a run, came out."""

RUNNING, FINISHED, NOT_FINITE, STEP_TOO_SMALL, NOT_PROJECTED, ILL_CHOSEN = 0, 1, 2, 3, 4, 5
ACCEPTED, REJECTED, NOT_SOLVED = 6, 7, 8
