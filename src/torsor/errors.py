"""Errors and warnings of torsor. Every message names the element, the value that was given, and what is allowed."""

from typing import Any


class TorsorError(Exception):
    """Base of all errors that torsor raises on purpose."""


class ModelError(TorsorError, ValueError):
    """The description of a mechanism is not acceptable."""


class SymbolError(ModelError, RuntimeError):
    """A signal has a value only while a model runs."""


class AssemblyError(ModelError):
    """No configuration that satisfies the constraints and the targets was found, or the constraints contradict each other.
    `nearest` is the nearest one that was found, where there is any."""

    def __init__(self, message: str, nearest: Any = None):
        super().__init__(message)
        self.nearest = nearest

    def __reduce__(self):  # an error may come from another process
        return type(self), (*self.args, self.nearest)


class OptionError(TorsorError, ValueError):
    """An option of a run or of a function is unknown or out of range."""


class RunError(TorsorError, RuntimeError):
    """An integration stopped early. `data` holds what was computed until then."""

    def __init__(self, message: str, data: Any = None):
        super().__init__(message)
        self.data = data

    def __reduce__(self):  # an error may come from another process
        return type(self), (*self.args, self.data)


class ResultError(TorsorError, OSError):
    """A result file could not be read or written."""


class TimingWarning(UserWarning):
    """A function takes longer than the time that it stands for."""


class HintWarning(UserWarning):
    """A description is valid, but looks like a mistake: an angle in degrees, a joint that was never added."""


class AccuracyWarning(UserWarning):
    """A run finished, but its energy balance says that the result is wrong from some time on."""
