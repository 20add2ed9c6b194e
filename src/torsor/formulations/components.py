"""A system solved up and down its components (Vlasenko, sec. 2.5 to 2.7 [vlasenko2006]).

A component is what was included under one name: its own bodies, its own constraints, and components inside it. Bodies that
constraints outside of it touch are its border. Seen from there it is

    v̇_e = D τ + r                                                                                     (1)

with the forces τ that constraints outside exert on its border. A body alone is (1) with D = M⁻¹ and r = M⁻¹ f. A component
joins the D and r of its bodies and of the components inside to D̂ and r̂, and its constraints G v̇ = γ to (1) of its own:

    S = G D̂ Gᵀ = Pᵀ L Δ Lᵀ P,    λ = S⁻¹ (γ − G r̂ − G D̂ Eᵀ τ)                                         (2)
    D = E D̂ Eᵀ − E D̂ Gᵀ S⁻¹ G D̂ Eᵀ,       r = E (r̂ + D̂ Gᵀ S⁻¹ (γ − G r̂))                             (3)
    v̇ = r̂ + D̂ τ̂,     τ̂ = Gᵀ λ + Eᵀ τ                                                                  (4)

where E selects its border. (2) and (3) go up from the innermost components; (4) comes down and hands every component inside
its part of τ̂. A component without a border is a system of its own.

D̂ may be singular (a component that cannot move some way) and rows may depend on each other: then a pivot in Δ vanishes
against what the row would be if all bodies were free, and is not divided through; its multiplier is zero.
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from .factor import SINGULAR, pivoted


class Stored(NamedTuple):
    """The matrices of a component that depend on the configuration: G, D̂ of the components inside, Lᵀ and Δ⁻¹ of (2)."""

    G: ca.SX
    inner: list
    LT: ca.SX
    pivots: ca.SX

    def parts(self):
        return [self.G, *self.inner, self.LT, self.pivots]


class Component:
    """One component, and those inside it.

    bodies   of its own;   rows: (place among all rows, {body: row of G}) of its own constraints
    inside   components;   border: bodies, of its own or inside, that constraints outside touch
    """

    def __init__(self, path):
        self.path = path
        self.bodies: list = []
        self.rows: list[tuple[int, dict]] = []
        self.inside: list[Component] = []
        self.border: list = []

    def __iter__(self):
        """All components, the innermost first."""
        for inner in self.inside:
            yield from inner
        yield self

    def joined(self):
        """The bodies that the constraints of the component may touch: its own, and the borders of the components inside."""
        return self.bodies + [body for inner in self.inside for body in inner.border]

    # up

    def reduced(self, over_mass):
        """Everything stored here and inside, D of (3), and the smallest pivots against free bodies.

        over_mass   M⁻¹ of each body, by identity
        """
        stored, ratios, inner = [], [], []
        for child in self.inside:
            below, D, smallest = child.reduced(over_mass)
            stored += below
            inner.append(D)
            ratios += smallest
        joined = self.joined()
        self.places = _places(joined, over_mass)
        size = sum(over_mass[id(body)].shape[0] for body in joined)
        self.edge = [k for body in self.border for k in self.places[id(body)]]
        whole = ca.diagcat(*[over_mass[id(body)] for body in self.bodies], *inner, ca.SX(0, 0))
        alone = ca.diagcat(*[over_mass[id(body)] for body in joined], ca.SX(0, 0))
        G = self._matrix(size)
        LT, pivots, ratio = self._factored(G, whole, alone)
        one = Stored(G, inner, LT, pivots)
        across = self._forward(one, (G @ whole)[:, self.edge])
        weighted = ca.diag(pivots) @ across if self.rows else across
        D = ca.sparsify(whole[self.edge, self.edge] - across.T @ weighted)  # (3)
        self.over_mass = [over_mass[id(body)] for body in self.bodies]
        return [*stored, one], D, ratios + ratio

    def _matrix(self, size):
        """G of the component's own rows."""
        G = ca.SX(len(self.rows), size)
        for k, (_, touched) in enumerate(self.rows):
            for body, row in touched.items():
                G[k, self.places[body]] = row
        return ca.sparsify(G)

    def _factored(self, G, whole, alone):
        """Lᵀ and Δ⁻¹ of (2), and how small the pivots are."""
        if not self.rows:
            self.order = []
            return ca.SX(0, 0), ca.SX(0, 1), []
        pivots, LT, self.order = pivoted(G @ whole @ G.T)
        free = ca.densify(ca.diag(G @ alone @ G.T))[self.order]
        return LT, ca.if_else(pivots > SINGULAR * free, 1 / pivots, 0), [ca.mmin(pivots / free)]

    def _forward(self, one, columns):
        """L⁻¹ P of some columns."""
        if not self.rows:
            return ca.SX(0, columns.shape[1])
        return ca.solve((one.LT + ca.SX.eye(len(self.rows))).T, ca.sparsify(columns[self.order, :]))

    def _solved(self, one, column):
        """S⁻¹ of a column."""
        if not self.rows:
            return column
        back = np.argsort(self.order).tolist()
        y = one.pivots * ca.densify(self._forward(one, ca.densify(column)))
        return ca.solve(one.LT + ca.SX.eye(len(self.rows)), y)[back]


def _places(bodies, over_mass):
    """Where the velocities of bodies stand, one body after the other, by identity."""
    found, at = {}, 0
    for body in bodies:
        size = over_mass[id(body)].shape[0]
        found[id(body)] = list(range(at, at + size))
        at += size
    return found


class Passes:
    """Accelerations and multipliers by one pass up and one down, with what the components stored.

    stored   one for each component, the innermost first
    free     M⁻¹ f of each body by identity: what it would do alone
    gamma    right-hand side of each row by its place
    """

    def __init__(self, system, stored, free, gamma):
        self.stored = dict(zip(map(id, system), stored))
        self.free, self.gamma = free, gamma
        self.found: dict[int, ca.SX] = {}  # accelerations by body
        self.multipliers: dict[int, ca.SX] = {}  # by place of the row
        self.known: dict = {}
        self._up(system)
        self._down(system, ca.SX.zeros(len(system.edge)))

    def _up(self, component):
        """r of (3)."""
        below = [self._up(inner) for inner in component.inside]
        rest = ca.vertcat(*[self.free[id(body)] for body in component.bodies], *below, ca.SX(0, 1))
        one, whole = self.stored[id(component)], self._whole(component)
        lam = ca.vertcat(*[self.gamma[place] for place, _ in component.rows], ca.SX(0, 1)) - one.G @ rest
        lam = component._solved(one, lam)
        self.known[id(component)] = rest, lam
        return (rest + whole @ (one.G.T @ lam))[component.edge]

    def _down(self, component, tau):
        """v̇ of (4) and λ of (2), here and inside."""
        one, whole, (rest, lam) = self.stored[id(component)], self._whole(component), self.known[id(component)]
        outside = ca.SX.zeros(rest.shape[0])
        outside[component.edge] = tau
        if component.edge:
            lam = lam - component._solved(one, one.G @ (whole @ outside))
        self.multipliers.update({place: lam[k] for k, (place, _) in enumerate(component.rows)})
        forces = one.G.T @ lam + outside  # τ̂
        for body, over in zip(component.bodies, component.over_mass):
            own = component.places[id(body)]
            self.found[id(body)] = rest[own] + over @ forces[own]  # (4)
        for inner in component.inside:
            self._down(inner, forces[[k for body in inner.border for k in component.places[id(body)]]])

    def _whole(self, component):
        """D̂."""
        return ca.diagcat(*component.over_mass, *self.stored[id(component)].inner, ca.SX(0, 0))


def components_of(bodies, rows):
    """The components of a model as a tree, from the paths of their names.

    rows   (place, constraint, {body: row of G}) of every row in the equations
    """
    system = Component("")
    known = {"": system}

    def at(path):
        if path not in known:
            outer = at(path.rpartition(".")[0])
            known[path] = Component(path)
            outer.inside.append(known[path])
        return known[path]

    for body in bodies:
        at(path_of(body)).bodies.append(body)
    by_identity = {id(body): body for body in bodies}
    for place, constraint, touched in rows:
        home = _common([path_of(constraint), *[path_of(by_identity[body]) for body in touched]])
        at(home).rows.append((place, touched))
        for body in touched:
            for path in _between(path_of(by_identity[body]), home):
                known[path].border.append(by_identity[body])
    for component in known.values():
        component.border = list({id(body): body for body in component.border}.values())
    return system


def path_of(thing):
    """Where a thing was included: its name without the last part."""
    return thing.name.rpartition(".")[0]


def _common(paths):
    """The innermost component that all paths are in."""
    parts = [path.split(".") if path else [] for path in paths]
    shared = []
    for level in zip(*parts):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return ".".join(shared)


def _between(path, outer):
    """Components from that of a path outwards, up to but without an outer one."""
    while path != outer:
        yield path
        path = path.rpartition(".")[0]


def restored_from(stored, parts):
    """The same as `stored`, with other matrices in their order."""
    pieces = iter(parts)
    return [Stored(next(pieces), [next(pieces) for _ in one.inner], next(pieces), next(pieces)) for one in stored]
