"""Tolerances of assembly and path continuation. Lengths are divided by the size of the model, angles are in rad."""

from ...start.levenberg_marquardt import RESIDUAL_ZERO

STOP_OVERRUN_ALLOWED = 0.1 * RESIDUAL_ZERO  # overrun of an active stop that costs nothing
FREEDOM_BELOW = 1e-7  # singular value / largest singular value: the mechanism can move in that direction
SAME_POSES = 1e-6  # largest difference of the poses of two assemblies that are the same
