"""Units that may be written after a number: `12 mm`, `30 deg`, `1500 rpm`, `2.5 N/mm`. All values become SI units.

A unit is a product of names with powers, divided by such products: "kg*m^2", "N*m/rad", "m/s^2".
"""

import math
import re
from difflib import get_close_matches

UNITS = {  # value in SI units
    "m": 1.0, "km": 1e3, "dm": 0.1, "cm": 0.01, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048,
    "kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3, "lb": 0.45359237,
    "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0,
    "rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "rev": 2 * math.pi,
    "rpm": 2 * math.pi / 60, "Hz": 1.0, "kHz": 1e3,
    "N": 1.0, "mN": 1e-3, "kN": 1e3, "MN": 1e6, "lbf": 4.4482216152605, "Nm": 1.0, "kNm": 1e3,
    "J": 1.0, "kJ": 1e3, "W": 1.0, "kW": 1e3, "Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "bar": 1e5,
    "V": 1.0, "A": 1.0,
}  # fmt: skip
WRITTEN = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z][A-Za-z0-9*/^.·]*)\Z")
LONGEST = 100  # characters of a number with its unit
FACTOR = re.compile(r"([A-Za-z]+)(?:\^(-?\d))?\Z")


class UnitError(ValueError):
    """A unit that does not exist, with what is allowed."""


def factor(unit: str) -> float:
    """The value of a unit in SI units."""
    value = 1.0
    for k, part in enumerate(unit.replace("·", "*").replace(".", "*").split("/")):
        for name in part.split("*"):
            found = FACTOR.match(name)
            if found is None or found[1] not in UNITS:
                known = found[1] if found else name
                close = get_close_matches(known, UNITS, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise UnitError(f"unknown unit {known!r}.{hint} Known: {', '.join(UNITS)}")
            power = int(found[2] or 1)
            value *= UNITS[found[1]] ** (-power if k else power)
    return value


def quantity_of(text: str) -> float | None:
    """The SI value of a text such as "12 mm"; None if the text is not a number with a unit. UnitError for an unknown unit."""
    found = WRITTEN.match(text.strip()) if len(text) <= LONGEST else None
    return None if found is None else float(found[1]) * factor(found[2])
