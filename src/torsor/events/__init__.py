"""Everything about change: what is watched, what happens then, and the numbers that are remembered."""

from .event import ANSWERS, Event, Memory, Mode, Modes, State, Watch, crossing, falling, rising, watch

__all__ = ["ANSWERS", "Event", "Memory", "Mode", "Modes", "State", "Watch", "crossing", "falling", "rising", "watch"]
