"""Names of a file as names of a model."""

import re

from ..model.parameters import Input


def legal(name):
    """A name of letters, digits, '_' and '-' that starts with a letter or '_'; empty where nothing is left."""
    clean = re.sub(r"[^A-Za-z0-9_-]", "_", name or "")
    return f"_{clean}" if clean and not re.match(r"[A-Za-z_]", clean) else clean


def free_name(model, name, kind):
    """A name that the model has not yet, and that an input may have."""
    names = (name, f"{name}_{kind}", *(f"{name}_{kind}{k}" for k in range(2, 1000)))
    return next(x for x in names if x not in model and x not in Input.REFUSED)
