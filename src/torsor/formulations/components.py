"""Hierarchical solution of a system by its components (Vlasenko, sec. 2.5 to 2.7 [vlasenko2006]).

A component is an included model: its own bodies, its own constraints, and the components included in it. Its border are the
bodies that constraints outside of it act on. The accelerations of the border are

    v̇_e = D τ + r                                                                                     (1)

with the forces τ that constraints outside exert on the border. For a single body, D = M⁻¹ and r = M⁻¹ f. A component assembles
the D and r of its bodies and inner components to D̂ and r̂; its constraints G v̇ = γ then give its own D and r:

    S = G D̂ Gᵀ = Pᵀ L Δ Lᵀ P,    λ = S⁻¹ (γ − G r̂ − G D̂ Eᵀ τ)                                         (2)
    D = E D̂ Eᵀ − E D̂ Gᵀ S⁻¹ G D̂ Eᵀ,       r = E (r̂ + D̂ Gᵀ S⁻¹ (γ − G r̂))                             (3)
    v̇ = r̂ + D̂ τ̂,     τ̂ = Gᵀ λ + Eᵀ τ                                                                  (4)

where E selects the border; a row of a rotor has the compliance 1, which is added to its diagonal entry in S. Components that are
eliminated in an order given by the user are joined in groups, which are components, too (`component_paths.py`). The upward pass
evaluates (2) and (3) from the innermost components outwards. The downward pass evaluates (4) and gives every inner component its
part of τ̂. A component without a border is an independent system.

D̂ may be singular (a component that cannot move in some direction), and rows may depend on each other. Then a pivot in Δ is
negligible relative to the diagonal entry that the row has with free bodies, and its multiplier is set to zero.
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from .algebra.factorisation import PIVOT_RATIO_SINGULAR, add_inactive, sparse_ldl


class ComponentMatrices(NamedTuple):
    """The matrices of a component that depend on the configuration: G, D of the inner components, Lᵀ and Δ⁻¹ of (2)."""

    G: ca.SX
    inner: list
    LT: ca.SX
    pivots: ca.SX

    def matrices(self):
        return [self.G, *self.inner, self.LT, self.pivots]


class Component:
    """One component with its inner components.

    bodies   its own bodies
    rows     rows of its own constraints: (key of the row, {body: row of G}, 1 or 0 if it is active, or None if it always is)
    inside   its inner components
    border   its own or inner bodies that constraints outside act on
    """

    def __init__(self, path):
        self.path = path
        self.bodies: list = []
        self.rows: list[tuple[int, dict, ca.SX | None]] = []
        self.inside: list[Component] = []
        self.border: list = []

    def __iter__(self):
        """All components, the innermost first."""
        for inner in self.inside:
            yield from inner
        yield self

    def constrained_bodies(self):
        """The bodies that the component's own constraints may act on: its own, and the borders of the inner components."""
        return self.bodies + [body for inner in self.inside for body in inner.border]

    # upward pass

    def reduce(self, inverse_masses):
        """The matrices of all inner components and of this one, D of (3), and the smallest pivots relative to free bodies.

        inverse_masses   M⁻¹ of each body, by identity
        """
        stored = []
        ratios = []
        inner = []
        for child in self.inside:
            child_matrices, D, child_ratios = child.reduce(inverse_masses)
            stored += child_matrices
            inner.append(D)
            ratios += child_ratios
        bodies = self.constrained_bodies()
        self.indices = _velocity_indices(bodies, inverse_masses)
        size = sum(inverse_masses[id(body)].shape[0] for body in bodies)
        self.border_indices = [k for body in self.border for k in self.indices[id(body)]]
        D_hat = ca.diagcat(*[inverse_masses[id(body)] for body in self.bodies], *inner, ca.SX(0, 0))
        free = ca.diagcat(*[inverse_masses[id(body)] for body in bodies], ca.SX(0, 0))
        G = self._jacobian(size)
        LT, pivots, ratio = self._factorise(G, D_hat, free)
        matrices = ComponentMatrices(G, inner, LT, pivots)
        coupling = self._forward(matrices, (G @ D_hat)[:, self.border_indices])
        weighted = ca.diag(pivots) @ coupling if self.rows else coupling
        D = ca.sparsify(D_hat[self.border_indices, self.border_indices] - coupling.T @ weighted)  # (3)
        self.inverse_masses = [inverse_masses[id(body)] for body in self.bodies]
        return [*stored, matrices], D, ratios + ratio

    def _jacobian(self, size):
        """G of the component's own rows."""
        G = ca.SX(len(self.rows), size)
        for k, (_, row_of_body, _) in enumerate(self.rows):
            for body, row in row_of_body.items():
                G[k, self.indices[body]] = row
        return ca.sparsify(G)

    def _factorise(self, G, D_hat, free):
        """Lᵀ and Δ⁻¹ of (2), and the smallest ratio of a pivot to its diagonal entry with free bodies."""
        if not self.rows:
            self.order = []
            return ca.SX(0, 0), ca.SX(0, 1), []
        activity = self._activity()
        pivots, LT, self.order = sparse_ldl(add_inactive(G @ D_hat @ G.T, activity))
        diagonal = ca.densify(ca.diag(add_inactive(G @ free @ G.T, activity)))[self.order]
        return LT, ca.if_else(pivots > PIVOT_RATIO_SINGULAR * diagonal, 1 / pivots, 0), [ca.mmin(pivots / diagonal)]

    def _activity(self):
        """1 or 0 for each row, as it is active or not; None if all always are."""
        flags = [active for *_, active in self.rows]
        if all(flag is None for flag in flags):
            return None
        return ca.vertcat(*[ca.SX(1) if flag is None else flag for flag in flags])

    def _forward(self, matrices, columns):
        """L⁻¹ P B for some columns B."""
        if not self.rows:
            return ca.SX(0, columns.shape[1])
        return ca.solve((matrices.LT + ca.SX.eye(len(self.rows))).T, ca.sparsify(columns[self.order, :]))

    def solve(self, matrices, column):
        """S⁻¹ b for a column b."""
        if not self.rows:
            return column
        back = np.argsort(self.order).tolist()
        y = matrices.pivots * ca.densify(self._forward(matrices, ca.densify(column)))
        return ca.solve(matrices.LT + ca.SX.eye(len(self.rows)), y)[back]


def _velocity_indices(bodies, inverse_masses):
    """Indices of the velocities of each body in the vector of all of them, by identity."""
    indices = {}
    start = 0
    for body in bodies:
        size = inverse_masses[id(body)].shape[0]
        indices[id(body)] = list(range(start, start + size))
        start += size
    return indices


class Passes:
    """Accelerations and multipliers by one upward and one downward pass.

    stored   `ComponentMatrices` of each component, the innermost first
    free     M⁻¹ f, the free acceleration of each body, by identity
    gamma    right-hand side of each row, by its key

    Results: `accelerations` by the identity of the body, `multipliers` by the key of the row.
    """

    def __init__(self, system, stored, free, gamma):
        self.stored = dict(zip(map(id, system), stored))
        self.free = free
        self.gamma = gamma
        self.accelerations: dict[int, ca.SX] = {}
        self.multipliers: dict[int, ca.SX] = {}
        self._border_free: dict = {}  # (r̂, λ with τ = 0) by component
        self._up(system)
        self._down(system, ca.SX.zeros(len(system.border_indices)))

    def _up(self, component):
        """r of (3)."""
        inner = [self._up(child) for child in component.inside]
        r_hat = ca.vertcat(*[self.free[id(body)] for body in component.bodies], *inner, ca.SX(0, 1))
        matrices = self.stored[id(component)]
        D_hat = self._D_hat(component)
        residual = ca.vertcat(*[self.gamma[key] for key, *_ in component.rows], ca.SX(0, 1)) - matrices.G @ r_hat
        lam = component.solve(matrices, residual)
        self._border_free[id(component)] = r_hat, lam
        return (r_hat + D_hat @ (matrices.G.T @ lam))[component.border_indices]

    def _down(self, component, tau):
        """Set v̇ of (4) and λ of (2), of the component and its inner components."""
        matrices = self.stored[id(component)]
        D_hat = self._D_hat(component)
        r_hat, lam = self._border_free[id(component)]
        outside = ca.SX.zeros(r_hat.shape[0])
        outside[component.border_indices] = tau
        if component.border_indices:
            lam = lam - component.solve(matrices, matrices.G @ (D_hat @ outside))
        self.multipliers.update({key: lam[k] for k, (key, *_) in enumerate(component.rows)})
        forces = matrices.G.T @ lam + outside  # τ̂
        for body, inverse_mass in zip(component.bodies, component.inverse_masses):
            own = component.indices[id(body)]
            self.accelerations[id(body)] = r_hat[own] + inverse_mass @ forces[own]  # (4)
        for inner in component.inside:
            self._down(inner, forces[[k for body in inner.border for k in component.indices[id(body)]]])

    def _D_hat(self, component):
        return ca.diagcat(*component.inverse_masses, *self.stored[id(component)].inner, ca.SX(0, 0))


def components_of(bodies, rows, paths):
    """The components of a model as a tree.

    rows    (key, constraint, {body: row of G}, 1 or 0 if it is active or None) of every row in the equations
    paths   components of bodies and constraints (`ComponentPaths`)
    """
    system = Component("")
    components = {"": system}

    def component_at(path):
        if path not in components:
            outer = component_at(path.rpartition(".")[0])
            components[path] = Component(path)
            outer.inside.append(components[path])
        return components[path]

    for body in bodies:
        component_at(paths.of_body(body)).bodies.append(body)
    by_identity = {id(body): body for body in bodies}
    for key, constraint, row_of_body, active in rows:
        owner = paths.of_constraint(constraint, [by_identity[body] for body in row_of_body])
        component_at(owner).rows.append((key, row_of_body, active))
        for body in row_of_body:
            for path in _paths_below(owner, paths.of_body(by_identity[body])):
                components[path].border.append(by_identity[body])
    for component in components.values():
        component.border = list({id(body): body for body in component.border}.values())
    return system


def _paths_below(outer, path):
    """A path and the paths of the components around it, up to an outer one, which is excluded."""
    while path != outer:
        yield path
        path = path.rpartition(".")[0]


def unpack_matrices(stored, matrices):
    """`ComponentMatrices` with the structure of `stored`, from a list of matrices in the same order."""
    pieces = iter(matrices)
    return [
        ComponentMatrices(next(pieces), [next(pieces) for _ in one.inner], next(pieces), next(pieces)) for one in stored
    ]
