"""The coordinates that depend on others at a start: chosen by the measure of `formulations/partition.py`, or forced by the user."""

import numpy as np

from ..errors import OptionError
from ..formulations.partition import best, measure


def forced(names, known, rows, G, owner):
    """A choice that a user forces, by names or places; refused if it is singular."""
    places = []
    for name in names:
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(known):
            places.append(int(name))
        elif name in known:
            places.append(known.index(name))
        else:
            raise OptionError(f"{owner}: unknown coordinate {name!r}. Known: {', '.join(known)}.")
    if len(set(places)) != rows:
        raise OptionError(
            f"{owner}: {rows} different dependent coordinates are needed, got {len(set(places))}: {names}"
        )
    if rows and np.linalg.cond(G[:, places]) > 1e10:
        raise OptionError(
            f"{owner}: the coordinates {', '.join(known[k] for k in places)} cannot be computed from the others at the "
            "start: this partition is singular; choose others"
        )
    return sorted(places)


def choose(f, examiner, t, q, p, wanted):
    """Dependent coordinates for positions and for velocities, chosen or forced, with the measure of all."""
    G, Minv = examiner.G(t, q, p, f.keep), examiner.Minv(q, p)
    held = np.array([f.rows[k].holonomic for k in f.keep], bool)
    known, measures = f.coordinate_names(), []
    parts: list[list[int]] = []
    for what, rows, names in (("positions", G[held], wanted[0]), ("velocities", G, wanted[1])):
        if not len(rows):
            parts.append([])
            measures.append([0.0] * len(known))
            continue
        measures.append(measure(rows, Minv).tolist())
        parts.append(
            best(rows, Minv) if names is None else forced(names, known, len(rows), rows, f"partition of {what}")
        )
    return {"positions": parts[0], "velocities": parts[1], "measures": measures, "names": known}
