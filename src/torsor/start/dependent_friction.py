"""Whether dry friction and contacts of a large system hold something together, so that their loads are not unique.

Loads of dependent rows are shared out by kernels that are derived from the whole model
(`formulations/graphs/contact_load_sharing.py`); class kernels have no such rule. Rows are independent if their velocities can
change in every way:

    G δv = −r        for a random r
"""

import numpy as np

UNMET = 1e-6  # residual / r, above which a change of velocities is not possible
SEED = 24


def dependent_friction(model, system, state, switches, built, t, x, p):
    """Name of the first constraint whose rows depend on others if all dry friction sticks and all contacts are closed; empty if
    there is none.

    system     description of the system, or of the share of a rank, without its start; built: its kernels
    state      layout of the state
    switches   for every row places in p that are all 1 while it is active, then −1
    """
    p = p.copy()
    switched = {id(element) for element in model.switched_elements}
    intermittent = [c for c in model.constraints if c.intermittent and id(c) in switched]
    for c in intermittent:
        p[model.input_layout.place(c.active)] = 1.0
    names = [label.rsplit("[", 1)[0] for label, _ in system.rows]
    own = np.isin(names, [c.name for c in intermittent]) & ((switches < 0) | (p[switches] == 1.0)).all(axis=1)
    units = np.array([system.scales["rows"].get(label, 1.0) for label, _ in system.rows])
    r = np.where(own, units * np.random.default_rng(SEED).choice([-1.0, 1.0], len(units)), 0.0)
    t = np.array([t])
    (F,) = built["factor"](t, x, p)
    change, _ = built["impulse"](t, x, p, F, r)
    moved = x.copy()
    moved[state.q : state.q + state.v] += change
    before, after = (built["velocities"](t, y, p, F)[1][:-1] for y in (x, moved))
    unmet = np.flatnonzero(np.abs(after - before + r) > UNMET * units)
    return names[unmet[0]] if len(unmet) else ""
