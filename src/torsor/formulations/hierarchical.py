"""Joint coordinates, with the accelerations of all bodies solved component by component (Vlasenko [vlasenko2006]).

The state is that of the relative formulation: generalised coordinates and velocities along a spanning tree (sec. 2.4 there).
It determines the poses and velocities of the bodies. The accelerations of the bodies satisfy all constraints, those of the tree
and those that close loops. They are solved component by component (`components.py`, sec. 2.5 to 2.7), and the accelerations of
the joints follow from them (sec. 2.8):

    ẇ = ∂w/∂v v̇ + (ẇ at constant v)                                                                   (1)

where w(x, v) are the velocities of the joints in the motion of the bodies. The effort grows linearly with the number of
components. The constraints of tree joints do not drift; those that close loops are projected as in the other formulations.
"""

import casadi as ca

from ..registry import register
from .algebra.factorisation import pack_nonzeros, zero_inactive
from .algebra.to_joint_coordinates import joint_state
from .base import Solvers
from .component_paths import ComponentPaths
from .components import Passes, components_of, unpack_matrices
from .graphs.run_kernels import active_part, replace_conditioning
from .relative import Relative

BODY_VELOCITIES = 6  # per body; joint coordinates do not support particles


@register("hierarchical")
class Hierarchical(Relative):
    """Joint coordinates; every component is reduced to its border, and the system solved up and down the components."""

    tables = "components"
    ranks = True
    switches = "independent"

    def components(self):
        """The components as a tree, with the rows of tree joints and the rows in use. Sets `_gamma`, γ by row.

        The key of a row in use is its index among these; that of a row of a tree joint is ("tree", number). Rotors are further
        rows, which have a compliance; their key is ("rotor", number).
        """
        activity = self.activity(self.keep)
        index = {(id(self.rows[k].constraint), self.rows[k].index): i for i, k in enumerate(self.keep)}
        rows: list = []
        self._gamma: dict = {}
        tree = {id(link.joint) for link in self.links}
        for block in self.absolute.blocks:
            for k in range(block.psi.shape[0]):
                key = index.get((id(block.constraint), k), ("tree", len(rows)))
                if id(block.constraint) not in tree and key not in index.values():
                    continue
                flag = activity[key] if activity is not None and isinstance(key, int) else None
                row_of_body = {id(body): zero_inactive(J[k, :], flag) for body, J in zip(block.bodies, block.G)}
                self._gamma[key] = zero_inactive(block.gamma[k], flag)
                rows.append((key, block.constraint, row_of_body, flag))
        rows += self._rows_of_rotors()
        return components_of(self.model.bodies, rows, ComponentPaths(self.model))

    def _rows_of_rotors(self):
        """The rows of rotors in all joints (`algebra/rotor_inertia.py`). Adds to `_gamma`.

        The flag 0 adds their compliance, 1, to the diagonal."""
        absolute = self.absolute
        rotors, rows = absolute.rotors, []
        E, right = rotors.scaled_jacobian(absolute.v), rotors.scaled_rate()
        joints = [joint for joint in rotors.joints for _ in range(joint.dof)]
        for k, joint in enumerate(joints):
            starts = {id(body): int(absolute.offset[id(body)]) for body in self.model.bodies}
            own = {body: E[k, start : start + BODY_VELOCITIES] for body, start in starts.items()}
            rows.append((("rotor", k), joint, {body: row for body, row in own.items() if row.nnz()}, ca.SX(0)))
            self._gamma["rotor", k] = right[k]
        return rows

    def schedules(self, layout):
        return {}  # the schedule of the recursion over links does not support components

    def factorise(self, G):
        """The matrices of the components, G and ∂w/∂v as one column, and last the smallest pivot relative to free bodies."""
        absolute = self.absolute
        inverse, forces = absolute.inverse_mass(), absolute.forces()
        starts = {id(body): int(absolute.offset[id(body)]) for body in self.model.bodies}
        columns = {body: slice(start, start + BODY_VELOCITIES) for body, start in starts.items()}
        inverse_masses = {body: inverse[own, own] for body, own in columns.items()}
        system = self.components()
        w = joint_state(self)[1]
        stored, _, ratios = system.reduce(inverse_masses)
        matrices = [A for component in stored for A in component.matrices()]
        factor, read = pack_nonzeros([*matrices, ca.sparsify(ca.jacobian(w, absolute.v)), G])
        factor = self.to_state_symbols(ca.vertcat(factor, ca.mmin(ca.vertcat(1, *ratios))))

        def solvers(F):
            *matrices, dw_dv, stored_G = read(F)
            stored_matrices = unpack_matrices(stored, matrices)

            def solve(free, gamma):
                """v̇ of the joints and λ of the rows in use, from the free accelerations and γ."""
                passes = Passes(system, stored_matrices, free, gamma)
                a = ca.vertcat(*[passes.accelerations[id(body)] for body in self.model.bodies])
                lam = [passes.multipliers[k] for k in range(len(self.keep))]
                return dw_dv @ a, ca.vertcat(*lam, ca.SX(0, 1))

            def accelerations(gamma):
                free = {
                    body: self.to_state_symbols(inverse_masses[body] @ forces[own]) for body, own in columns.items()
                }
                added = gamma - active_part(
                    self, self.stack_rows("gamma")[self.keep, :], self.keep
                )  # such as the terms of Baumgarte
                right = {
                    k: self.to_state_symbols(x) + (added[k] if isinstance(k, int) else 0)
                    for k, x in self._gamma.items()
                }
                a, lam = solve(free, right)
                return a + self.to_state_symbols(absolute.rate_of(w)), lam  # (1)

            def velocity_change(b):
                zero = {body: ca.SX.zeros(BODY_VELOCITIES) for body in columns}
                return solve(zero, {k: b[k] if isinstance(k, int) else ca.SX(0) for k in self._gamma})

            return Solvers(accelerations, velocity_change, G=stored_G)

        return replace_conditioning(self, factor, G), solvers
