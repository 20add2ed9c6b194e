"""Modes of a linear model, as the viewer animates them."""

from typing import Any

import numpy as np

from .pack import pack


def mode_shapes(modes: list) -> list[dict[str, Any]]:
    """Displacements and rotations of the bodies in each mode, complex, world axes."""
    found = []
    for k, mode in enumerate(modes, start=1):
        parts = {"p": mode.displacement, "r": mode.rotation}
        shape = {name: pack(np.stack([x.real, x.imag], axis=-1), "f64") for name, x in parts.items()}
        found.append(
            {
                "name": f"{k}: {mode!r}".splitlines()[0], "frequency": float(mode.frequency) if mode.oscillates else 0.0,
                "damping": float(mode.damping), "shape": shape,
            }
        )  # fmt: skip
    return found
