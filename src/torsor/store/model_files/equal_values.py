"""Comparison of arguments of elements: with each other, and with their defaults."""

from dataclasses import MISSING
from typing import Any

import casadi as ca
import numpy as np


def same_value(a: Any, b: Any) -> bool:
    """True if two arguments are equal to the last bit."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, ca.SX) and isinstance(b, ca.SX):
        return a.shape == b.shape and (
            ca.is_equal(a, b, 100) or (a.is_constant() and b.is_constant() and str(a) == str(b))
        )
    if isinstance(a, (np.ndarray, float)) and isinstance(b, (np.ndarray, float)):
        return np.array_equal(a, b)
    return a is b


def is_default(f: Any, value: Any) -> bool:
    """Whether a value is what an argument is where it is left out."""
    default = (
        f.default
        if f.default is not MISSING
        else (f.default_factory() if f.default_factory is not MISSING else MISSING)
    )
    if default is MISSING:
        return False
    if value is None or default is None:
        return value is None and (default is None or not isinstance(default, (int, float, str, tuple, bool)))
    if isinstance(value, ca.SX) or isinstance(default, ca.SX):
        return False
    if isinstance(default, (tuple, list)) or isinstance(value, np.ndarray):
        return isinstance(value, (tuple, list)) and _plain_equal(value, default)
    return type(value) is type(default) and value == default


def _plain_equal(a, b):
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_plain_equal, a, b))
    return isinstance(a, (int, float, str)) and isinstance(b, (int, float, str)) and a == b
