"""Status codes that the loop of a run with events returns, and codes of the elementary steps of events."""

# statuses in addition to those of the loop without events
NEEDS_STRUCTURE = 10  # the kernels of a new structure are required
LOG_FULL = 11  # the log of events is full
NOT_A_NUMBER = 12  # a condition, or a value that an event sets, is not a number
CHATTERS = 13  # events fire again and again at one instant
ACCUMULATES = 14  # events fire at ever shorter intervals
NOT_SATISFIED = 15  # constraints are engaged that are far from satisfied
ENDED = 16  # an event ends the run
PENETRATES = 17  # a constraint is struck that is already violated
RESTITUTION = 18  # a coefficient of restitution is not between 0 and 1
UNDECIDED = 19  # no consistent set of sticking friction was found
VARIES_TOO_FAST = 20  # a watched function varies too fast for the steps
NEEDS_CONTROLLER = 21  # a controller in Python must be called
CONTROLLER_FAILED = 22  # a controller in Python has failed
LOADS_CHANGED = 23  # redundant contacts share their loads in another way
NEEDS_CONTACT_KERNEL = 24  # the kernel of contacts of a structure is required

# opcodes of the elementary steps of events
SET = 0  # set a value of p
RELEASE = 1  # release a constraint
ENGAGE = 2  # engage a constraint
STRIKE = 3  # impact on a one-sided constraint
STICK_OR_SLIDE = 4  # let dry friction decide between sticking and sliding
END = 5  # end the run
CALL_CONTROLLER = 6  # call a controller in Python
DECIDE = 7  # decide again which contacts and friction elements act
CALL_STEP = 8  # call the compiled code of a step
