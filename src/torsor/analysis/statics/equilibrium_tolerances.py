"""Tolerances of the search for equilibria. Lengths are divided by the size of the model, angles are in rad."""

# convergence of the search
STEP_CONVERGED = 1e-9  # remaining Newton step; iterations continue while accelerations fall
ACCELERATION_ROUNDING = 1e-13  # largest acceleration / stiffness scale: nothing is left to do
UNRESISTED_ACCELERATION = 1e-12  # acceleration without resistance / stiffness scale, at most
IMBALANCE_IMPROVED = 1e-9  # relative decrease of the imbalance from which a point is better
FLAT_CHANGE = 1e-6  # relative change of the accelerations by a damped step: nothing resists
STEADY_RATE_CHANGE = 1e-9  # acceleration of imposed motions / squared rate of motion
STEADY_MATRIX_CHANGE = 1e-6  # relative change of the linear model, and of the balance, along a steady motion

# balance of forces
RESISTANCE_ABOVE = 1e-12  # singular value of K̂ / largest of its terms: the direction meets resistance
FIRM_RESISTANCE_ABOVE = 1e-7  # the same, for the last steps of the search
STIFFNESS_NEGATIVE = 1e-12  # negative stiffness / largest stiffness that is not rounding
MASS_MIN = 1e-14  # smallest mass / largest mass; smaller ones are raised to it
ACCELERATION_NOISE = 1e-4  # acceleration / largest acceleration that is the least counted in (6) of `force_balance.py`

# contacts at rest
GAP_CLOSED = 1e-9  # gap of a closed contact
FORCE_EXCEEDED = 1e-9  # force / sum of its terms, by which a limit of a contact or of friction is exceeded
EDGE_GAIN_MIN = 1e-13  # gain of an edge of a friction cone / force to be balanced
