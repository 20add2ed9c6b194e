"""Tolerances of a run: each is named by what is compared."""

POSITION_EXACT = 1e-15  # constraint residual at position level / model size: `position_tolerance` stands for this
VELOCITY_EXACT = 1e-14  # constraint residual at velocity level / (model size × characteristic rate)
SMALLEST_STEP = 1e-13  # step / end time of the run
STEP_COUNT_EQUAL = 1e-9  # relative difference up to which a distance in time is a whole number of steps
MOTION_RESOLVED = 1e13  # displacement during a run / model size: a larger one is lost in rounding
REDUNDANT_ROWS_AGREE = 1e-7  # violation of redundant constraints / model size
