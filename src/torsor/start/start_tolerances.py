"""Tolerances of assembly and of rank decisions, named by what is compared.

Residuals and lengths are divided by the size of the model, rows have at most length 1 on dimensionless velocities
(`formulations/algebra/scales.py`). Tolerances that other packages use too are defined in `constraints.py`, `diagnosis.py` and
`impostors.py`.
"""

# assembly
DAMPING = 1e-14  # damping of Newton steps / mean square of the rows
TARGET_REACHED = 1e-12  # residual of constraints and of requested coordinates at a configuration that needs no change
SAMPLE_RESIDUAL = 1e-11  # residual of the loop closures at a sampled configuration of a large system
JOINT_FRAMES_COINCIDE = 1e-12  # difference of the two frames of a joint / (1 + largest entry)
LARGE_START_RESIDUAL = 1e-13  # residual of the constraints at the assembled start of a large system
LARGE_START_ASSEMBLED = (
    1e-9  # residual of the given start of a large system, above which it does not count as assembled
)

# rank of constraint rows
FREE_DIRECTION = 1e-9  # singular value of a basis in the remaining columns, above which a direction is still free
COMBINATION_RESIDUAL = 1e-7  # residual of a row as a combination of others / max(|row|, 1)
COEFFICIENT_ZERO = 1e-9  # coefficient of a row in a combination
WRENCH_ZERO = 1e-7  # wrench of a dependency through a constraint / largest wrench of the dependency
REACTION_ZERO = 1e-6  # component of a self-equilibrated reaction / largest component
SECOND_ORDER_ZERO = 1e-7  # σᵀ γ₂ / largest γ₂, see `singular_positions.py`
STRESS_ZERO = 1e-3  # share of a row in a violated condition of second order / largest share

# velocities
DETERMINED_BELOW = (
    1e-6  # length of a row of length 1 on the free velocities, below which the levels before determine it
)
BASIS_ENTRY_ZERO = 1e-13  # entry of an orthonormal basis that is rounding noise
GIVEN_RESIDUAL = 1e-12  # residual of rows of length 1 / largest velocity, above which they contradict each other
BODY_VELOCITY_REACHED = 1e-12  # difference of a body's velocity from the given one / (1 + largest velocity)
VELOCITY_CHANGED = 1e-9  # change of a velocity / largest velocity, above which it is reported
