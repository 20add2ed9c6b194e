"""A formulation in numbers: its rows, and functions of flat vectors. No equations are derived here.

A start, a diagnosis and a choice of dependent coordinates need only this. It is made from plain data and from functions that were
derived once, in this process or in an earlier one, with parameter values as arguments.
"""

from ..formulations.algebra.constraint_rows import Row, RowsInUse
from ..formulations.graphs.outputs import coordinate_labels, coordinate_units, layout


class NumericFormulation(RowsInUse):
    """The part of a formulation that `Examiner`, `diagnose` and `choose` use.

    absolute   the numeric formulation of the same model in absolute coordinates, possibly itself
    """

    def __init__(self, model, cls, facts, functions, absolute=None):
        super().__init__(model)
        self.cls, self.facts, self.absolute = cls, facts, absolute or self
        self.start_functions = functions
        self.watches, self.conjugate = cls.watches, cls.conjugate
        self.rows = [Row(model.constraints[c], *rest) for c, *rest in facts["rows"]]
        self.turns = [(model.joints[j], k) for j, k in facts["turns"]]
        self.offset = dict(zip([id(b) for b in model.bodies], facts["offset"]))
        self.keep = self.active_rows()

    def choose(self, examiner, t, q, p):
        self.cls.choose(self, examiner, t, q, p)

    def coordinate_names(self):
        return self.facts["names"]

    def linear(self):
        return self.facts["linear"]

    def moved_bodies(self):
        return self.facts["carried"]

    def measure(self, scales):
        super().measure(scales)
        if self.absolute is not self:
            self.absolute.measure(scales)

    def release(self, constraints):
        super().release(constraints)
        if self.absolute is not self:
            self.absolute.release(constraints)


def facts_of(f):
    """Rows, turns, offsets, names and sizes of a formulation, as plain data."""
    model = f.model
    constraints, joints = ({id(x): k for k, x in enumerate(xs)} for xs in (model.constraints, model.joints))
    return {
        "rows": [[constraints[id(r.constraint)], r.index, r.direction, r.holonomic] for r in f.rows],
        "turns": [[joints[id(j)], k] for j, k in f.turns],
        "offset": [int(f.offset[id(b)]) for b in model.bodies if id(b) in f.offset],
        "names": f.coordinate_names(),
        "linear": f.linear(),
        "carried": f.moved_bodies(),
        "q": f.q.shape[0],
        "v": f.v.shape[0],
    }


def output_facts(f, signals):
    """Names, units and layout of the results of a formulation, as plain data."""
    joints = [j for j in f.model.joints if j.dof]
    return {
        "joint_coordinates": coordinate_labels(joints),
        "coordinate_units": [unit for j in joints for unit in coordinate_units(j)],
        "connections": [c.name for c in f.model.constraints if c.connects_bodies],
        "layout": layout(f.model, len(f.all_rows.rows), signals),
        "signals": list(signals),
    }
