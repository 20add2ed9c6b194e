"""Names of variables in results: any text that a NetCDF file returns unchanged."""

import re
import unicodedata

ORDINARY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # names of ASCII characters, one byte each
LONGEST = 200  # bytes of a full name, with the names of the models around it; NetCDF allows 256


def unstorable(name):
    """Return the reason why a result cannot have a variable of this name, or None."""
    if isinstance(name, str) and len(name) <= LONGEST and ORDINARY.fullmatch(name):
        return None
    if not isinstance(name, str) or not name:
        return "it must be a text that is not empty"
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        return "it has characters that no file can hold"
    if length > LONGEST:
        return f"it is {length} bytes long, and {LONGEST} are allowed"
    if "/" in name:
        return "it contains a slash"
    if any(unicodedata.category(c) in ("Cc", "Cn", "Co", "Zl", "Zp") for c in name):
        return "it contains control characters"
    if not (name[0].isalnum() or name[0] == "_") or name[-1].isspace():
        return "it must begin with a letter, a digit or '_', and not end with a blank"
    if unicodedata.normalize("NFC", name) != name:
        return "its accents are written as characters of their own; write it in composed form (unicodedata.normalize 'NFC')"
    return None
