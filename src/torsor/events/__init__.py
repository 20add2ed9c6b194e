"""Everything about change: what is watched, what happens then, and the numbers that are remembered."""

from .event import ANSWERS, Clock, Event, Memory, Mode, Modes, State, Watch, crossing, falling, rising, watch

__all__ = [
    "ANSWERS",
    "Clock",
    "Event",
    "Memory",
    "Mode",
    "Modes",
    "State",
    "Watch",
    "crossing",
    "falling",
    "rising",
    "watch",
]
