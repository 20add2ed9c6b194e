"""Tolerances of assembly and path continuation. Lengths are divided by the size of the model, angles are in rad."""

RESIDUAL_ROUNDING = 1e-13  # residual in its unit: an iteration stops here
RESIDUAL_ZERO = (
    1e-9  # residual in its unit that counts as zero where an ill-conditioned position stops the iteration earlier
)
ROWS_DEPENDENT_BELOW = 1e-9  # singular value / largest singular value of the constraint Jacobian
STOP_OVERRUN_ALLOWED = 0.1 * RESIDUAL_ZERO  # overrun of an active stop that costs nothing
GRADIENT_ZERO = 1e-11  # gradient / residual at a least-squares solution
FREEDOM_BELOW = 1e-7  # singular value / largest singular value: the mechanism can move in that direction
SAME_POSES = 1e-6  # largest difference of the poses of two assemblies that are the same
