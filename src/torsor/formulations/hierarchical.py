"""Joint coordinates, with the accelerations of all bodies solved for up and down the components (Vlasenko [vlasenko2006]).

The state is that of the relative formulation: generalised coordinates and velocities along a spanning tree (sec. 2.4 there).
In it the bodies have poses and velocities, and all constraints, those of the tree and those that close loops, hold between
their accelerations. These follow component by component (`components.py`, sec. 2.5 to 2.7), and from them the accelerations of
the joints (sec. 2.8):

    ẇ = ∂w/∂v v̇ + (ẇ at held v)                                                                       (1)

where w(x, v) are the velocities of the joints in the motion of the bodies. The effort grows linearly with the number of
components. Constraints that the tree satisfies by itself do not drift; those of loops are projected as everywhere.
"""

import casadi as ca

from ..registry import register
from .adoption import adopted
from .base import Solvers
from .components import Passes, components_of, restored_from
from .factor import as_column
from .graphs import conditioned
from .relative import Relative

SIX = 6  # velocities of a body; there are no particles in joint coordinates


@register("hierarchical")
class Hierarchical(Relative):
    """Joint coordinates; every component is reduced to its border, and the system solved up and down the components."""

    def components(self):
        """The components as a tree, with the rows of all constraints in the equations: tree joints, then those in use."""
        use = {(id(self.rows[k].constraint), self.rows[k].index): place for place, k in enumerate(self.keep)}
        rows: list = []
        self._gamma: dict = {}
        tree = {id(link.joint) for link in self.links}
        for block in self.absolute.blocks:
            for k in range(block.psi.shape[0]):
                place = use.get((id(block.constraint), k), ("tree", len(rows)))
                if id(block.constraint) not in tree and place not in use.values():
                    continue
                touched = {id(body): J[k, :] for body, J in zip(block.bodies, block.G)}
                rows.append((place, block.constraint, touched))
                self._gamma[place] = block.gamma[k]
        return components_of(self.model.bodies, rows)

    def schedules(self, layout):
        return {}  # the recursion over links knows nothing of components

    def factored(self, G):
        """What the components store, G and ∂w/∂v as one column, and last the smallest pivot against free bodies."""
        absolute = self.absolute
        inverse, forces, at = absolute.inverse_mass(), absolute.forces(), absolute.offset
        places = {id(body): slice(int(at[id(body)]), int(at[id(body)]) + SIX) for body in self.model.bodies}
        over_mass = {body: inverse[here, here] for body, here in places.items()}
        system, w = self.components(), adopted(self)[1]
        stored, _, ratios = system.reduced(over_mass)
        matrices = [*(part for one in stored for part in one.parts()), ca.sparsify(ca.jacobian(w, absolute.v)), G]
        factor, read = as_column(matrices)
        factor = self.placed(ca.vertcat(factor, ca.mmin(ca.vertcat(1, *ratios))))

        def solvers(F):
            *parts, along, kept = read(F)
            known = restored_from(stored, parts)

            def passed(free, gamma):
                done = Passes(system, known, free, gamma)
                v = ca.vertcat(*[done.found[id(body)] for body in self.model.bodies])
                return along @ v, ca.vertcat(*[done.multipliers[k] for k in range(len(self.keep))], ca.SX(0, 1))

            def accelerations(gamma):
                free = {body: self.placed(over_mass[body] @ forces[here]) for body, here in places.items()}
                more = gamma - self.stacked("gamma")[self.keep, :]  # what holds the constraints besides them
                right = {k: self.placed(x) + (more[k] if isinstance(k, int) else 0) for k, x in self._gamma.items()}
                a, lam = passed(free, right)
                return a + self.placed(absolute.rate_of(w)), lam  # (1)

            def restored(b):
                rest = {body: ca.SX.zeros(SIX) for body in places}
                return passed(rest, {k: b[k] if isinstance(k, int) else ca.SX(0) for k in self._gamma})

            return Solvers(accelerations, restored, G=kept)

        return conditioned(self, factor, G), solvers
