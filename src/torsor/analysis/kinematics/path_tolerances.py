"""Tolerances of path continuation and of singular positions. Lengths are divided by the size of the model, angles are in rad."""

from ...start.levenberg_marquardt import RESIDUAL_ZERO

# path continuation
FIRST_STEP_LIMIT = 0.3  # longest first step of Newton's method
STEP_SHRINK = 0.35  # length of a Newton step / length of the step before, at most
RESIDUAL_SHRINK = 0.4  # residual / residual before, at most, where steps do not shrink fast enough
RESIDUAL_STALLED = 1e-2 * RESIDUAL_ZERO  # residual that is accepted where rounding prevents further progress
SAME_ASSEMBLY = 1e-4  # distance of configurations that belong to one assembly, also at a singular position
SINGULAR_CROSSING_STEP = 1e-4  # longest step across a change of sign of the determinant
STOP_GAP_CLOSED = 1e-6  # gap of a stop that is reached
STEP_FRACTION_MIN = 1e-12  # shortest step / length of the path

# rank and singular positions
RANK_SINGULAR_VALUE = 1e-7  # singular value of the scaled constraint Jacobian: below it a row adds no rank
SINGULAR_VALUE_ZERO = 1e-6  # singular value of the scaled constraint Jacobian at a singular position
DIP_RATIO = 0.5  # conditioning / larger conditioning of its neighbours: below it a minimum is refined
PARTICIPATION = 0.15  # component of a direction / largest component, from which it is reported
PROBE_STEP = 1e-5  # displacement along a direction to find the bodies that it moves
PROBE_MOTION = 0.01  # motion of a body / PROBE_STEP, from which the body is reported

# coordinates and friction
SAME_COORDINATE = 1e-9  # difference of equal coordinates
SLIDING_ABOVE = 1e-9  # sliding velocity / largest velocity of the path
