"""What events do: one registered class each, and a function of the same name that makes it, as in `torsor.actions.release`."""

from .assignment import assign, enter, switch
from .base import Action, Step
from .engage_release import engage, release
from .impact import strike
from .record_and_end import end, record

__all__ = ["Action", "Step", "assign", "end", "engage", "enter", "record", "release", "strike", "switch"]
