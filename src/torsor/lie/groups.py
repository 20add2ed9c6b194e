"""Lie groups on flat columns of numbers, so that a state of many blocks is one column and one CasADi graph.

    retract(x, u) = x · exp(u),      retract(x, local(x, y)) = y                      (1)
    u̇ = dexp_inverse(u, w)   ⇔   x(t) = retract(x₀, u(t)) moves with body velocity w  (2)

x, y  group elements, columns of `size` numbers
u     local coordinates in the algebra, `dimension` numbers; increments act from the right, in the moving frame
w     body velocity, x⁻¹ẋ

With the standard dexp the body velocity of (1) is dexp(−u) u̇, so (2) is dexp⁻¹(−u) w. `map` is "exp" or "cayley";
with the latter cay stands for exp throughout. [munthekaas1999; iserles2000]
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from ..errors import OptionError
from ..registry import register
from . import se3, so3
from .numeric import returns

MAPS = ("exp", "cayley")


def _choose(map, exp, cayley):
    """Return `exp` or `cayley`, according to the name of the map from the algebra to the group."""
    if map not in MAPS:
        raise OptionError(f"unknown map {map!r}. Known: {', '.join(MAPS)}.")
    return exp if map == "exp" else cayley


class Group(ABC):
    """Base of the groups. Each group declares the abstract methods; `retract` and `local` follow by equation (1)."""

    kind = "group"
    key: str
    free = False  # True: all rigid motions of a body
    additive = False  # True: elements are columns of coordinates, and composition is addition
    rotations = False  # True: elements are rotation matrices, column by column

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension of the algebra: number of directions of motion."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Count of numbers in an element."""

    @classmethod
    def examples(cls):
        """Return example groups of this class, for the contract tests."""
        return (cls(),)

    @abstractmethod
    def identity(self):
        """The neutral element."""

    @abstractmethod
    def compose(self, x, y):
        """The product x · y."""

    @abstractmethod
    def inverse(self, x):
        """The inverse element x⁻¹."""

    @abstractmethod
    def exp(self, u, map="exp"):
        """The element of the coordinates u about the identity."""

    @abstractmethod
    def log(self, x, map="exp"):
        """The coordinates of x about the identity."""

    @abstractmethod
    def dexp_inverse(self, u, w, map="exp"):
        """Rate u̇ of the local coordinates when the body velocity is w, equation (2)."""

    @abstractmethod
    def Ad(self, x):
        """Adjoint matrix: x · exp(u) · x⁻¹ = exp(Ad(x) u)."""

    @abstractmethod
    def ad(self, u):
        """Lie bracket as a matrix: ad(u) w = [u, w]."""

    @abstractmethod
    def tidy(self, x):
        """Reduce the distance of x from the group, which is due to rounding, to second order: one Newton–Schulz step."""

    @returns("matrix")
    def axes(self, x):
        """The matrix that transforms velocities from moving (body) axes to fixed axes. Only rotations act; points are kept."""
        return ca.DM.eye(self.dimension)

    @returns("vector")
    def transport_momentum(self, x, y, m):
        """Components at y of the momentum that has the components m at x and is constant in space: Ad(x⁻¹ y)ᵀ m."""
        return self.Ad(self.tidy(self.compose(self.inverse(x), y))).T @ m

    @returns("vector")
    def retract(self, x, u, map="exp"):
        """The element with coordinates u about x: x · exp(u)."""
        return self.compose(x, self.exp(u, map))  # (1)

    @returns("vector")
    def local(self, x, y, map="exp"):
        """The coordinates of y about x."""
        return self.log(self.compose(self.inverse(x), y), map)  # (1)


@register("rn")
@dataclass(frozen=True)
class Rn(Group):
    """k numbers with addition; both maps are the identity."""

    additive = True
    k: int = 1

    @classmethod
    def examples(cls):
        return (cls(1), cls(3))

    @property
    def dimension(self):
        return self.k

    @property
    def size(self):
        return self.k

    @returns("vector")
    def identity(self):
        return ca.SX.zeros(self.k)

    @returns("vector")
    def compose(self, x, y):
        return x + y

    @returns("vector")
    def inverse(self, x):
        return -x

    @returns("vector")
    def exp(self, u, map="exp"):
        return _choose(map, u, u)

    @returns("vector")
    def log(self, x, map="exp"):
        return _choose(map, x, x)

    @returns("vector")
    def dexp_inverse(self, u, w, map="exp"):
        return _choose(map, w, w)

    @returns("matrix")
    def Ad(self, x):
        return ca.DM.eye(self.k)

    @returns("matrix")
    def ad(self, u):
        return ca.DM.zeros(self.k, self.k)

    @returns("vector")
    def tidy(self, x):
        return x


@register("so3")
@dataclass(frozen=True)
class SO3(Group):
    """Rotations; an element is its 3 × 3 matrix R, column by column."""

    dimension = 3
    size = 9
    rotations = True

    @returns("vector")
    def velocity_of(self, w):
        """The velocity in the algebra of an angular velocity w in moving axes."""
        return w

    @returns("matrix")
    def matrix(self, x):
        """The 3 × 3 matrix of a flat element."""
        return ca.reshape(x, 3, 3)

    @returns("vector")
    def from_matrix(self, R):
        """The flat element of a 3 × 3 matrix."""
        return ca.vec(R)

    @returns("vector")
    def identity(self):
        return ca.vec(ca.densify(ca.SX.eye(3)))

    @returns("vector")
    def compose(self, x, y):
        return ca.vec(self.matrix(x) @ self.matrix(y))

    @returns("vector")
    def inverse(self, x):
        return ca.vec(self.matrix(x).T)

    @returns("vector")
    def exp(self, u, map="exp"):
        return ca.vec(_choose(map, so3.exp, so3.cay)(u))

    @returns("vector")
    def log(self, x, map="exp"):
        return _choose(map, so3.log, so3.cay_inverse)(self.matrix(x))

    @returns("vector")
    def dexp_inverse(self, u, w, map="exp"):
        return _choose(map, so3.exp_rate, so3.cay_rate)(u, w)

    @returns("matrix")
    def Ad(self, x):
        return self.matrix(x)

    @returns("matrix")
    def ad(self, u):
        return so3.ad(u)

    @returns("matrix")
    def axes(self, x):
        return self.matrix(x)

    @returns("vector")
    def transport_momentum(self, x, y, m):
        """m + Aᵀ m with A = RᵀS − I, which is small for small rotations from R to S.

        E = A + Aᵀ + AᵀA is zero but for rounding. It is subtracted, so that the length of m does not drift over many steps.
        """
        R, S = self.matrix(x), self.matrix(y)
        A = R.T @ (S - R)
        E = A + A.T + A.T @ A
        return m + (A - (E + A @ E) / 2).T @ m

    @returns("vector")
    def tidy(self, x):
        """R + R (I − RᵀR)/2, in this form because the small difference I − RᵀR loses no digits in the sum."""
        R = self.matrix(x)
        return ca.vec(R + R @ (ca.DM.eye(3) - R.T @ R) / 2)


@register("se3")
@dataclass(frozen=True)
class SE3(Group):
    """Rigid motions; an element is R column by column, then p."""

    dimension = 6
    size = 12
    free = True

    @returns("matrix")
    def matrix(self, x):
        """The 4 × 4 pose of a flat element."""
        return se3.pose(ca.reshape(x[:9], 3, 3), x[9:])

    @returns("vector")
    def from_matrix(self, H):
        """The flat element of a 4 × 4 pose."""
        return ca.vec(H[:3, :])

    @returns("vector")
    def identity(self):
        return self.from_matrix(ca.SX.eye(4))

    @returns("vector")
    def compose(self, x, y):
        R = ca.reshape(x[:9], 3, 3)
        return ca.vertcat(ca.vec(R @ ca.reshape(y[:9], 3, 3)), x[9:] + R @ y[9:])

    @returns("vector")
    def inverse(self, x):
        return self.from_matrix(se3.inverse(self.matrix(x)))

    @returns("vector")
    def exp(self, u, map="exp"):
        return self.from_matrix(_choose(map, se3.exp, se3.cay)(u))

    @returns("vector")
    def log(self, x, map="exp"):
        return _choose(map, se3.log, se3.cay_inverse)(self.matrix(x))

    @returns("vector")
    def dexp_inverse(self, u, w, map="exp"):
        return _choose(map, se3.exp_rate, se3.cay_rate)(u, w)

    @returns("matrix")
    def Ad(self, x):
        return se3.Ad(self.matrix(x))

    @returns("matrix")
    def ad(self, u):
        return se3.ad(u)

    @returns("matrix")
    def axes(self, x):
        R, p = se3.split_pose(self.matrix(x))
        return se3.Ad(se3.pose(R, 0 * p))

    @returns("vector")
    def tidy(self, x):
        return ca.vertcat(SO3().tidy(x[:9]), x[9:])
