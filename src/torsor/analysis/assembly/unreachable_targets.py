"""Messages about targets that are out of reach."""

import numpy as np

from .assembly_targets import ANGLE, LENGTH, target


def unreachable_message(model, result, bad, shape, tries):
    """The message of the AssemblyError for targets out of reach."""
    first = np.flatnonzero(bad)[0]
    pick = lambda x: x.reshape(-1, x.shape[-1])[first]
    parts = []
    for name, missing in result.missing.items():
        far = pick(np.asarray(missing))
        if np.abs(far).max(initial=0.0) > 0:
            parts.append(f"{name} by {_residual_text(model, name, far)}")
    coordinates = {name: float(np.ravel(value)[first]) for name, value in result.coordinates.items()}
    where = ", ".join(f"{name} = {value:.6g}" for name, value in list(coordinates.items())[:8])
    where = f", at {where}" if where else ""
    return (
        f"model {model.name!r}: {which_targets(bad, shape)} out of reach, from the start and from {tries} random configurations. "
        f"The nearest assembly misses {'; '.join(parts)}{where}; it is `nearest` of this error. least_squares=True returns it"
    )


def _residual_text(model, name, far):
    """A residual with its unit."""
    if len(far) == 6:
        return f"{np.linalg.norm(far.reshape(2, 3)[0]):.4g} m and {np.linalg.norm(far.reshape(2, 3)[1]):.4g} rad"
    kind = target(model, name, {}).units[0] if name not in model.signals and "." in name else ""
    unit = {LENGTH: " m", ANGLE: " rad"}.get(kind, "")
    return f"{np.linalg.norm(far):.4g}{unit}"


def which_targets(bad, shape):
    """The subject and verb of a message about some of the targets."""
    if not shape:
        return "the target is"
    places = [str(tuple(map(int, np.unravel_index(k, shape)))).replace(",)", ")") for k in np.flatnonzero(bad)[:4]]
    return f"{int(bad.sum())} of {bad.size} targets, the first at {', '.join(places)}, are"
