"""Files of tyre properties (`.tir`): sections of names and numbers, as MF-Tyre 5.2 and 6.1 read them.

    [LATERAL_COEFFICIENTS]
    PCY1 = 1.3507          $ shape factor

Text after `$` or `!` is a comment. Names are unique in a file, so that sections matter only for what is missing.
"""

import math
from pathlib import Path
from types import SimpleNamespace

from ...errors import ModelError

REQUIRED_SECTIONS = {  # sections that must be there, with the numbers that must be in them
    "DIMENSION": ("UNLOADED_RADIUS",),
    "VERTICAL": ("FNOMIN", "VERTICAL_STIFFNESS"),
    "LONGITUDINAL_COEFFICIENTS": ("PCX1", "PDX1", "PKX1"),
    "LATERAL_COEFFICIENTS": ("PCY1", "PDY1", "PKY1", "PKY2"),
}
FIT_TYPES = {5: "5.2", 6: "5.2", 21: "5.2", 52: "5.2", 60: "6.1", 61: "6.1", 62: "6.1"}  # by the number FITTYP
REFERENCE_SPEED = 16.7  # m/s, where a file has no LONGVL
UNIT_FACTORS = {  # what numbers are multiplied by to be in SI units, by the word in [UNITS]
    "LENGTH": {"METER": 1.0, "METRE": 1.0, "M": 1.0},
    "FORCE": {"NEWTON": 1.0, "N": 1.0},
    "ANGLE": {"RADIANS": 1.0, "RADIAN": 1.0, "RAD": 1.0},
    "MASS": {"KG": 1.0, "KILOGRAM": 1.0},
    "TIME": {"SECOND": 1.0, "SEC": 1.0, "S": 1.0},
}


def read_tyre_file(file, owner):
    """Sections of a file: names in capitals, numbers as numbers, anything else as text."""
    path = Path(file)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise ModelError(f"{owner}: tyre file {str(path)!r} cannot be read: {error.strerror or error}") from None
    sections: dict[str, dict] = {}
    current = None
    for number, line in enumerate(lines, 1):
        text = line.split("$")[0].split("!")[0].strip()
        if text.startswith("[") and text.endswith("]"):
            current = sections.setdefault(text[1:-1].strip().upper(), {})
        elif "=" in text and current is not None:
            name, _, value = (part.strip() for part in text.partition("="))
            current[name.upper()] = _value(value, f"{owner}: {path.name}:{number}: {name}")
    _check_sections(sections, path.name, owner)
    return sections


def _value(text, where):
    """A number, or a text without its quotes."""
    if text[:1] in "'\"":
        return text.strip("'\" ")
    try:
        found = float(text.replace("d", "e").replace("D", "e"))
    except ValueError:
        return text
    if not math.isfinite(found):
        raise ModelError(f"{where} must be a finite number, got {text}")
    return found


def _check_sections(sections, name, owner):
    """Refuse files in which sections or numbers are missing, other formats and other units."""
    if missing := [f"[{section}]" for section in ("MODEL", *REQUIRED_SECTIONS) if section not in sections]:
        raise ModelError(
            f"{owner}: tyre file {name!r} lacks the section{'s' * (len(missing) > 1)} {', '.join(missing)}"
        )
    for section, numbers in REQUIRED_SECTIONS.items():
        if missing := [x for x in numbers if not isinstance(sections[section].get(x), float)]:
            raise ModelError(f"{owner}: tyre file {name!r}: section [{section}] lacks the number {', '.join(missing)}")
    for what, known in UNIT_FACTORS.items():
        given = str(sections.get("UNITS", {}).get(what, next(iter(known)))).upper()
        if given not in known:
            raise ModelError(
                f"{owner}: tyre file {name!r}: unit of {what.lower()} must be {next(iter(known)).lower()}, got {given.lower()}"
            )
    format_of(sections, name, owner)


def format_of(sections, name, owner):
    """The version of the Magic Formula, "5.2" or "6.1"."""
    model = sections["MODEL"]
    given = model.get("FITTYP")
    if given is None and "PROPERTY_FILE_FORMAT" in model:
        given = {"MF_05": 52.0, "PAC2002": 52.0, "MF52": 52.0, "MF61": 61.0}.get(
            str(model["PROPERTY_FILE_FORMAT"]).upper()
        )
    if not isinstance(given, float) or int(given) not in FIT_TYPES:
        shown = model.get("FITTYP", model.get("PROPERTY_FILE_FORMAT"))
        raise ModelError(
            f"{owner}: tyre file {name!r}: FITTYP in [MODEL] must be one of {', '.join(map(str, FIT_TYPES))} (MF-Tyre 5.2 and "
            f"6.1), got {shown}"
        )
    return FIT_TYPES[int(given)]


def coefficients(sections, name, owner):
    """All numbers of a file by their names, with `version`; scale factors that are missing are 1, other coefficients 0."""
    found = {key: value for section in sections.values() for key, value in section.items() if isinstance(value, float)}
    if not found["PKY1"] * found.get("LKY", 1.0) < 0:
        raise ModelError(
            f"{owner}: tyre file {name!r}: PKY1 must be negative, as axes of ISO-W ask for, got {found['PKY1']:g}"
        )
    return Coefficients({"LONGVL": REFERENCE_SPEED} | found, format_of(sections, name, owner))


class Coefficients(SimpleNamespace):
    """Numbers of the Magic Formula as attributes: scale factors L… are 1 unless given, others 0."""

    def __init__(self, numbers, version):
        super().__init__(**numbers)
        self.version = version

    def __getattr__(self, name):
        if name.startswith("_") or not name[:1].isupper():
            raise AttributeError(name)
        if name == "PKY4":
            return 2.0  # of MF-Tyre 5.2
        return 1.0 if name.startswith("L") else 0.0
