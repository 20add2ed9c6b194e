"""The dependent coordinates at a start: chosen by the measure of `formulations/algebra/partition.py`, or given by the user."""

import numpy as np

from ..errors import OptionError
from ..formulations.algebra.partition import choose_dependent, dependence_measure

SINGULAR_CONDITION = 1e10  # condition number of the columns of G, above which a partition is singular


def validate_dependent(names, known, rows, G, owner):
    """Indices of the dependent coordinates that a user gives by name or index; refused if the partition is singular."""
    indices = []
    for name in names:
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(known):
            indices.append(int(name))
        elif name in known:
            indices.append(known.index(name))
        else:
            raise OptionError(f"{owner}: unknown coordinate {name!r}. Known: {', '.join(known)}.")
    if len(set(indices)) != rows:
        raise OptionError(
            f"{owner}: {rows} different dependent coordinates are needed, got {len(set(indices))}: {names}"
        )
    if rows and np.linalg.cond(G[:, indices]) > SINGULAR_CONDITION:
        raise OptionError(
            f"{owner}: the coordinates {', '.join(known[k] for k in indices)} cannot be computed from the others at the "
            "start: this partition is singular; choose others"
        )
    return sorted(indices)


def choose(f, examiner, t, q, p, requested):
    """Dependent coordinates for positions and for velocities, with the measure of all coordinates.

    requested   names or indices for positions, and for velocities; None: they are chosen
    """
    G, Minv = examiner.G(t, q, p, f.keep), examiner.Minv(q, p)
    holonomic = np.array([f.rows[k].holonomic for k in f.keep], bool)
    names, measures = f.coordinate_names(), []
    parts: list[list[int]] = []
    for what, rows, given in (("positions", G[holonomic], requested[0]), ("velocities", G, requested[1])):
        if not len(rows):
            parts.append([])
            measures.append([0.0] * len(names))
            continue
        measures.append(dependence_measure(rows, Minv).tolist())
        parts.append(
            choose_dependent(rows, Minv)
            if given is None
            else validate_dependent(given, names, len(rows), rows, f"partition of {what}")
        )
    return {"positions": parts[0], "velocities": parts[1], "measures": measures, "names": names}
