"""Contacts of many bodies with each other: what touches is searched for, and only that costs time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, islice
from typing import Any, Self

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.argument_help import WORKED_OUT
from ..elements.element import ANYTHING, MOTION, REQUIRED, Statement, fill_in
from ..elements.quantity import Number
from ..elements.shapes import SIZES, Shape, shapes_of
from ..errors import ModelError
from ..registry import register
from .base import Force
from .contact_geometry import SURFACES, ShapeAt, bounding_radius, touches
from .contact_law import LAW_NUMBERS, check_law, law_of
from .shape_contacts.compliant_contact import INSIDE
from .shape_contacts.shape_pair import place

SHAPE_KINDS = tuple(kind for kind in SURFACES if kind in SIZES)
EXAMPLES = 3  # of each kind, of which pairs stand for all


@cache
def largest_depth(first, second):
    """The largest depth of the touches of two kinds of shapes, as a function of size, position and rotation of each."""
    places = [
        [ca.SX.sym(name, *shape) for name, shape in (("size", (3, 1)), ("x", (3, 1)), ("R", (3, 3)))] for _ in range(2)
    ]
    shapes = [
        ShapeAt(kind, ca.vertsplit(size)[: SIZES[kind]], x, R) for kind, (size, x, R) in zip((first, second), places)
    ]
    depth = ca.mmax(ca.vertcat(*[touch.depth for touch in touches(*shapes)]))
    return ca.Function("depth", sum(places, []), [depth])


@register("contact-group")
@dataclass(frozen=True, eq=False)
class ContactGroup(Force):
    """Contacts of all shapes of many bodies with each other, by the law of `CompliantContact`.

    bodies      bodies with their shapes; a pair of a body or ground and one or more shapes for those that have other ones
    families    a number for each of them: those with equal numbers do not touch each other; None: all do
    stiffness, exponent, damping, friction, slip_speed, law   as of `CompliantContact`, for all of them

    Large models search for the pairs that are near each other (a grid of cells, in time proportional to the number of shapes), and
    compute forces for these only. Models that run as one graph compute all pairs.
    """

    drawing = "none"
    not_drawn = "contacts of shapes, which are drawn themselves"
    variants = (
        lambda scene: {
            "bodies": (
                (scene["first"], Shape("sphere", (0.8,))),
                (scene["second"], Shape("box", (0.9, 0.8, 0.7))),
                (scene["second"], Shape("capsule", (0.2, 0.9))),
            ),
            "stiffness": 30.0,
            "damping": 0.2,
            "friction": 0.3,
        },
    )
    acts_by_pairs = True
    bodies: Sequence[Any] = REQUIRED
    families: Any = None
    stiffness: Number = 1e5
    exponent: Number = 1.5
    damping: Number = 0.5
    friction: Number = 0.0
    slip_speed: Number = 1e-3
    law: str = "hunt-crossley"
    kinds: Any = field(default=None, repr=False)
    sizes: Any = field(default=None, repr=False)
    places: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        if self.kinds is not None:
            return fill_in(self, **self._derived())
        check_law(self)
        entries = [self._entry(x) for x in self._entries()]
        families = self._families(len(entries))
        every = [(body, shape, families[k]) for k, (body, shapes) in enumerate(entries) for shape in shapes]
        order = sorted(every, key=lambda one: SHAPE_KINDS.index(one[1].kind))  # a pair begins with the lower kind
        fill_in(
            self,
            bodies=tuple(body for body, _, _ in order),
            families=tuple(float(family) for _, _, family in order),
            kinds=tuple(SHAPE_KINDS.index(shape.kind) for _, shape, _ in order),
            sizes=tuple(tuple(float(x) for x in shape.size) for _, shape, _ in order),
            places=tuple(place(shape, body) for body, shape, _ in order),
        )
        self._refuse_deep_start()
        return self

    def _entries(self):
        given = self.bodies
        if not isinstance(given, (tuple, list)) or len(given) < 2:
            raise ModelError(f"{self.owner}: bodies must be two or more bodies with shapes, got {quantity.show(given)}")
        return given

    def _entry(self, given):
        """A body or ground of the model, and its shapes."""
        body, shape = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, None)
        if not hasattr(body, "reference") or getattr(body, "_home", None) is not self._home:
            raise ModelError(
                f"{self.owner}: bodies must be bodies of the model, or pairs of a body or ground and shapes; "
                f"got {quantity.show(given)}"
            )
        shapes = shapes_of(body.shape if shape is None else shape, self.owner) or ()
        if not shapes:
            raise ModelError(f"{self.owner}: {body.owner} has no shape; give a pair ({body.name}, shape), of ts.shapes")
        for one in shapes:
            if one.kind not in SHAPE_KINDS:
                known = ", ".join(SHAPE_KINDS)
                raise ModelError(
                    f"{self.owner}: there is no contact of a {one.kind}. Known: {known}; compose it of these"
                )
        return body, shapes

    def _families(self, count):
        """The family of each entry; −1 for all without families."""
        if self.families is None:
            return [-1] * count
        try:
            found = [int(x) for x in self.families]
        except (TypeError, ValueError):
            found = []
        if len(found) != count or min(found) < 0:
            shown = quantity.show(self.families)
            raise ModelError(
                f"{self.owner}: families must be {count} whole numbers from 0 on, one for each of bodies, got {shown}"
            )
        return found

    def _derived(self):
        """What was worked out before, of plain numbers and arrays."""
        try:
            return {
                "families": tuple(float(x) for x in self.families),
                "kinds": tuple(int(k) for k in self.kinds),
                "sizes": tuple(tuple(float(x) for x in size) for size in self.sizes),
                "places": tuple(
                    (np.array(x, float).reshape(3), np.array(R, float).reshape(3, 3)) for x, R in self.places
                ),
            }
        except Exception:  # of numbers of any kind
            raise ModelError(f"{self.owner}: families, kinds, sizes and places are {WORKED_OUT}") from None

    def _refuse_deep_start(self):
        """Refuse bodies whose spheres about them overlap, and that are far inside each other in the reference configuration."""
        if not all(quantity.is_number(x) for body in self.bodies for x in body.reference):
            return
        x = np.array([np.asarray(body.reference[0], float).ravel() for body in self.bodies])
        reach = np.array(self.radii())
        for j in range(1, len(x)):
            near = np.flatnonzero(~(np.linalg.norm(x[:j] - x[j], axis=1) > reach[:j] + reach[j]))
            for i in near.tolist():
                if self._may_touch(i, j):
                    self._refuse_deep_pair(i, j)

    def _refuse_deep_pair(self, i, j):
        given = [self._place_in_world(k) for k in (i, j)]
        kinds = [SHAPE_KINDS[self.kinds[k]] for k in (i, j)]
        depth = float(largest_depth(*kinds)(*given[0], *given[1]))
        least = min((x for k, kind in zip((i, j), kinds) if kind != "plane" for x in self.sizes[k]), default=0.0)
        if depth > INSIDE * least > 0:
            raise ModelError(
                f"{self.owner}: {self.bodies[i].owner} and {self.bodies[j].owner} start {depth:.3g} m inside each other; move "
                "one of them, or give other shapes"
            )

    def _place_in_world(self, k):
        """Size, position and rotation of a shape in the reference configuration."""
        (x, R), (at, turn) = self.bodies[k].reference, self.places[k]
        return [*self.sizes[k], *[0.0] * (3 - len(self.sizes[k]))], np.ravel(x) + R @ np.ravel(at), R @ turn

    def _may_touch(self, i, j):
        """True if two shapes are not parts of one body, of one family, of grounds, or two planes."""
        a, b = self.bodies[i], self.bodies[j]
        one_family = self.families[i] == self.families[j] >= 0
        grounds = not hasattr(a, "mass") and not hasattr(b, "mass")
        planes = SHAPE_KINDS[self.kinds[i]] == SHAPE_KINDS[self.kinds[j]] == "plane"
        return not (a is b or one_family or grounds or planes)

    def radii(self) -> list[float]:
        """For each shape the radius of a sphere about the centre of mass of its body that contains it."""
        several = zip(self.kinds, self.sizes, self.places)
        return [float(np.linalg.norm(at)) + bounding_radius(SHAPE_KINDS[kind], size) for kind, size, (at, _) in several]

    def touches(self, i: int, j: int, poses: Any) -> list[Any]:
        """Possible touches of shapes i and j, at given poses (x, R) of their bodies."""
        shapes = []
        for k, (x, R) in zip((i, j), poses):
            at, turn = (ca.SX(ca.DM(a)) for a in self.places[k])
            shapes.append(ShapeAt(SHAPE_KINDS[self.kinds[k]], list(self.sizes[k]), x + R @ at, R @ turn))
        return touches(*shapes)

    def _efforts_of(self, i, j):
        a, b = self.bodies[i], self.bodies[j]
        law, poses = law_of(self), [(body.position, body.rotation) for body in (a, b)]
        return law.efforts(law.pressures(self.touches(i, j, poses), a, b))

    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of shapes that may touch each other."""
        return [pair for pair in combinations(range(len(self.bodies)), 2) if self._may_touch(*pair)]

    def pair_count(self) -> int:
        """The number of pairs of shapes."""
        return len(self.kinds) * (len(self.kinds) - 1) // 2

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        return [effort for pair in self.pairs() for effort in self._efforts_of(*pair)]

    def typical_efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        """The efforts of one pair of each two kinds."""
        first: dict[Any, Any] = {}
        count = len(self.bodies)
        some = {k: list(islice((i for i in range(count) if self.kinds[i] == k), EXAMPLES)) for k in set(self.kinds)}
        for i, j in combinations(sorted(sum(some.values(), [])), 2):
            if self._may_touch(i, j):
                first.setdefault((self.kinds[i], self.kinds[j]), (i, j))
        return [effort for pair in first.values() for effort in self._efforts_of(*pair)]

    def statements(self) -> list[Statement]:
        several = self.typical_efforts()
        found = [Statement("the velocity of its effort", u, MOTION) for u, _ in several]
        return found + [Statement("its effort", e, ANYTHING) for _, e in several]

    def searched(self) -> bool:
        """True if large models can search for its pairs: its numbers are constant."""
        return all(quantity.is_number(getattr(self, what)) for what in LAW_NUMBERS)

    def contents(self) -> list[str]:
        """What it is made of, as text: what a stored model is compared by."""
        arrays = [self.families, self.kinds, *self.sizes, *(part for pose in self.places for part in pose)]
        return [self.law, *(body.name for body in self.bodies), *(np.array(x, float).tobytes().hex() for x in arrays)]
