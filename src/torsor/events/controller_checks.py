"""How controllers may be written: what is checked when one is made."""

import inspect
import math
import pickle
from collections.abc import Mapping
from difflib import get_close_matches

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import ModelError
from .value_structure import NOTHING, Bundle, scalars

MOST = 100  # answers that may be on their way
WHOLE = 1e-9  # periods by which a delay may differ from a whole number of them and is one


def list_known(name, names):
    """The end of a message about a name that is none of these."""
    close = get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"{hint} Known: {', '.join(names) or 'none'}."


def behind(period, delay):
    """A delay as whole periods, and the rest of it [s]."""
    near = round(delay / period)
    if abs(delay / period - near) < WHOLE:
        return near, 0.0
    return math.floor(delay / period), delay - math.floor(delay / period) * period


def seconds(controller, what, zero=False):
    """A time that is given in seconds, checked."""
    given = getattr(controller, what)
    found = quantity.number(given)
    if found is None or not (quantity.SMALLEST <= found <= quantity.LARGEST or (zero and found == 0)):
        allowed = "0 or a positive number" if zero else "a positive number"
        raise ModelError(f"{controller.owner}: {what} must be {allowed} of seconds, got {quantity.show(given)}")
    return found


def starts(controller, names):
    """What outputs are before the first ones take effect."""
    given = controller.start
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in names]:
            raise ModelError(
                f"{controller.owner}: start: there is no output {unknown[0]!r}. Known: {', '.join(names)}."
            )
        given = [given.get(name, 0.0) for name in names]
    elif quantity.number(given) is not None:
        given = [given] * len(names)
    try:
        found = quantity.reals(given)
    except Exception:  # whatever a user's class raises when it is converted to numbers
        found = quantity.reals([])
    if found.shape != (len(names),) or not all(map(math.isfinite, found)):
        raise ModelError(
            f"{controller.owner}: start must be a number, or one for each of {', '.join(names)}, got "
            f"{quantity.show(controller.start)}"
        )
    return found.tolist()


def split_state(controller):
    """The form of a state that is made of numbers and the numbers that it starts with; of any other the object, pickled."""
    given = controller.state
    if given is None:
        return NOTHING, [], None
    try:
        form, column = Bundle.of(given, "state", False, controller.owner)
        numbers = [float(x) for x in scalars(column)] if column.is_constant() else []
    except ModelError:
        numbers = []
    if numbers and max(map(abs, numbers)) <= quantity.LARGEST:
        return form, numbers, None
    parts = list(_parts(given))
    if controller.compiled or (parts and all(map(_calculates, parts)) and not all(map(_is_finite, parts))):
        raise ModelError(
            f"{controller.owner}: state must be made of finite numbers{' where it runs compiled' if controller.compiled else ''}, "
            f"got {quantity.show(given)}"
        )
    return NOTHING, [], pickle_state(given, controller.owner)


def _parts(given):
    """What a state consists of, in dictionaries and lists."""
    if isinstance(given, (Mapping, list, tuple)):
        for part in given.values() if isinstance(given, Mapping) else given:
            yield from _parts(part)
    else:
        yield given


def _calculates(part):
    """True if it is a number, of whatever size, or an expression."""
    return isinstance(part, ca.SX) or quantity.number(part) is not None


def _is_finite(part):
    return not isinstance(part, ca.SX) and abs(quantity.number(part)) <= quantity.LARGEST


def pickle_state(state, owner):
    """A state that is an object, as bytes; refused where it does not let itself be saved."""
    try:
        found = pickle.dumps(state, pickle.HIGHEST_PROTOCOL)
        pickle.loads(found)
    except Exception as error:  # whatever a stranger's class raises
        raise ModelError(
            f"{owner}: its state {quantity.show(state)} cannot be copied and saved, {type(error).__name__}: {error}. A state is "
            "made of numbers, or of objects that pickle takes, with classes and functions from the top of a module"
        ) from None
    return found


def refuse_function(controller):
    """Refuse a law that is missing, given twice, or cannot be called as it will be."""
    owner, function = controller.owner, controller.function
    if not isinstance(controller.compiled, (bool, np.bool_)):
        raise ModelError(f"{owner}: compiled must be True or False, got {quantity.show(controller.compiled)}")
    if isinstance(controller.outputs, Mapping):
        inputs = not (isinstance(controller.inputs, (tuple, list)) and not controller.inputs)
        if function is not None or controller.state is not None or inputs:
            raise ModelError(
                f"{owner}: outputs are expressions, which need no function, inputs or state; give names of outputs where there "
                "is a function"
            )
        return
    if not callable(function):
        raise ModelError(
            f"{owner}: give a function of time and inputs, or outputs as expressions by name, got {quantity.show(function)}"
        )
    wanted = ["t", "inputs"] if controller.state is None else ["t", "inputs", "state"]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-in functions do not tell
        return
    try:
        signature.bind(*wanted)
    except TypeError:
        raise ModelError(
            f"{owner}: its function is called as function({', '.join(wanted)}), and takes {signature}"
        ) from None
