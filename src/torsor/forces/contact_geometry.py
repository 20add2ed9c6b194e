"""Where two shapes touch: points with a radius on one shape, and the distance to the surface of the other.

    φ(p) = z                                      half-space below the plane z = 0                           (1)
    φ(p) = |p| − R                                sphere                                                     (2)
    φ(p) = |p − (0, 0, z')| − R                   capsule, z' the coordinate z within ± half its length      (3)
    φ(p) = |max(d, 0)| + min(max(d₁, d₂, …), 0)   box: dₖ = |pₖ| − bₖ; cylinder: d = (|(x, y)| − R, |z| − h)  (4)
    φ(p) = max (nₖ·p − dₖ)                        convex polyhedron, n and d of its faces                     (5)
    φ(p) = (z − h(x, y)) / √(1 + |∂h|²)           heights                                                    (6)

φ is the distance of p from the surface, negative inside, n = ∂φ/∂p its outward normal. A sphere of radius r about p is
r − φ(p) deep in the shape. Corners of boxes and points of rims are rounded by a hundredth of the smallest size, so that faces of
equal size touch at their corners, too; of two capsules, the nearest points of their axes are spheres with their radii. Corners of
polyhedra are points; spheres meet their edges as if the faces went on. Edges of
two boxes touch where they cross: see `crossing_edges`. Rims of cylinders that cross an edge are not noticed until a point of one of
them is inside.
"""

import math
from typing import NamedTuple

import casadi as ca

from .shape_contacts.convex_polyhedron import faces_of

SURFACES = ("plane", "heights", "sphere", "capsule", "box", "cylinder", "polyhedron")
GROUNDS = ("plane", "heights")  # surfaces that others are above
ROUNDING = 0.01  # radius of corners and rims / smallest size of a box or cylinder
EDGES_PARALLEL = 1e-6  # squared sine of the angle of two edges, below which they do not cross
TINY = 1e-24  # added to squared lengths, so that they have a direction where they vanish [m²]


class ShapeAt(NamedTuple):
    """A shape in a frame: kind, sizes, and the pose of its own frame."""

    kind: str
    size: list
    position: ca.SX
    rotation: ca.SX


class Touch(NamedTuple):
    """A possible touch: middle point, depth, and the normal from the first shape to the second, all in the common frame."""

    point: ca.SX
    depth: ca.SX
    normal: ca.SX


def bounding_radius(kind, size):
    """Radius of the sphere about the middle of a shape that contains it; infinite for a plane."""
    if kind in GROUNDS:
        return math.inf
    if kind == "polyhedron":
        return max(math.hypot(*corner) for corner in zip(size[::3], size[1::3], size[2::3]))
    if kind == "box":
        return math.hypot(*size) / 2
    if kind == "cylinder":
        return math.hypot(size[0], size[1] / 2)
    return size[0] + sum(size[1:]) / 2


def touches(first, second):
    """All possible touches of two shapes; None if torsor has no law for them."""
    if not {first.kind, second.kind} <= set(SURFACES) or first.kind in GROUNDS and second.kind in GROUNDS:
        return None
    if first.kind in GROUNDS or second.kind == "sphere":
        return points_on(first, probes(second, first))
    if second.kind in GROUNDS or first.kind == "sphere":
        return reverse_normals(points_on(second, probes(first, second)))
    if first.kind == second.kind == "capsule":
        return points_on(first, probes(second, first))
    found = points_on(first, probes(second, first))
    found += reverse_normals(points_on(second, probes(first, second)))
    return found + ([crossing_edges(first, second)] if first.kind == second.kind == "box" else [])


def crossing_edges(first, second):
    """The touch of two edges of boxes, by separating axes.

        σ(l) = l·d − Σ |l·aₖ| hₖ − Σ |l·bₖ| kₖ                                                            (7)

    a, b are the axes of the boxes with half edges h, k, and d joins their middles. The boxes overlap by −σ along the axis with the
    largest σ. If that is a product l = aᵢ × bⱼ, two edges cross there; if it is an axis of a box, a corner is on a face.
    """
    d = second.position - first.position
    axes = [[shape.rotation[:, k] for k in range(3)] for shape in (first, second)]
    halves = [[x / 2 for x in shape.size] for shape in (first, second)]

    def separation(l):
        """σ, and l with the sign that points from the first box to the second."""
        l = ca.if_else(ca.dot(l, d) < 0, -1, 1) * l
        reach = sum(h * ca.fabs(ca.dot(l, a)) for a, h in zip(sum(axes, []), sum(halves, [])))
        return ca.dot(l, d) - reach, l  # (7)

    def corner(own, skipped, l, side):
        """Middle of the edge of a box along one of its axes that is farthest along l, from the middle of the box."""
        others = [k for k in range(3) if k != skipped]
        return sum(
            side * ca.if_else(ca.dot(axes[own][k], l) < 0, -1, 1) * halves[own][k] * axes[own][k] for k in others
        )

    of_faces = ca.mmax(ca.vertcat(*[separation(a)[0] for a in sum(axes, [])]))
    found = ca.vertcat(-ca.inf, ca.SX.zeros(6))  # σ, l and the point of the crossing with the largest σ so far
    for i in range(3):
        for j in range(3):
            product = ca.cross(axes[0][i], axes[1][j])
            square = ca.sumsqr(product)
            parallel = square < EDGES_PARALLEL
            sigma, l = separation(product / ca.sqrt(square + parallel))
            a, b = axes[0][i], axes[1][j]
            p, q = first.position + corner(0, i, l, 1), second.position + corner(1, j, l, -1)
            gap, c = q - p, ca.dot(a, b)
            s = (ca.dot(a, gap) - c * ca.dot(b, gap)) / (
                1 - c**2 + parallel
            )  # of the point of edge i nearest to edge j
            better = ca.logic_and(ca.logic_not(parallel), sigma > found[0])
            found = ca.if_else(better, ca.vertcat(sigma, l, p + s * a + l * sigma / 2), found)
    depth = ca.if_else(found[0] > of_faces, -found[0], -1)
    return Touch(found[4:], depth, found[1:4])


def reverse_normals(found):
    return [Touch(touch.point, touch.depth, -touch.normal) for touch in found]


def points_on(surface, spheres):
    """Touches of spheres (centre, radius) with a surface."""
    found = []
    for p, r in spheres:
        distance, n = signed_distance(surface, surface.rotation.T @ (p - surface.position))
        normal = surface.rotation @ n
        found.append(Touch(p - normal * (r + distance) / 2, r - distance, normal))
    return found


def signed_distance(shape, p):
    """φ and n of a shape in its own frame: (1) to (4)."""
    if shape.kind == "plane":
        return p[2], ca.SX([0, 0, 1])  # (1)
    if shape.kind == "heights":
        return above_heights(shape.size[0], p)  # (6)
    if shape.kind == "polyhedron":
        return farthest_face(shape.size, p)  # (5)
    if shape.kind == "sphere":
        return from_point(p, shape.size[0])  # (2)
    if shape.kind == "capsule":
        radius, length = shape.size
        z = ca.fmin(ca.fmax(p[2], -length / 2), length / 2)
        return from_point(ca.vertcat(p[0], p[1], p[2] - z), radius)  # (3)
    if shape.kind == "box":
        d, directions = zip(*[along_axis(p, k, shape.size[k] / 2) for k in range(3)])
    else:
        radius, length = shape.size
        rho = ca.sqrt(p[0] ** 2 + p[1] ** 2 + TINY)
        side = rho - radius, ca.vertcat(p[0] / rho, p[1] / rho, 0)
        d, directions = zip(side, along_axis(p, 2, length / 2))
    return outside_or_inside(d, directions)  # (4)


def above_heights(height, p):
    """(6) and its gradient, where h is flat over the distance of p from the surface."""
    place = ca.SX.sym("place", 2)
    h = ca.SX(height(place[0], place[1]))
    h, slope = ca.substitute([h, ca.jacobian(h, place)], [place], [p[:2]])
    steep = ca.sqrt(1 + ca.sumsqr(slope))
    return (p[2] - h) / steep, ca.vertcat(-slope.T, 1) / steep


def farthest_face(size, p):
    """(5) and its gradient."""
    normals, distances = faces_of(tuple(float(x) for x in size))
    distance, normal = ca.SX(-ca.inf), ca.SX.zeros(3)
    for n, d in zip(normals, distances.tolist()):
        height = ca.dot(ca.SX(ca.DM(n)), p) - d
        normal = ca.if_else(height > distance, ca.SX(ca.DM(n)), normal)
        distance = ca.fmax(distance, height)
    return distance, normal


def from_point(d, radius):
    length = ca.sqrt(ca.sumsqr(d) + TINY)
    return length - radius, d / length


def along_axis(p, k, half):
    """|pₖ| − b and its gradient."""
    sign = ca.if_else(p[k] < 0, -1, 1)
    unit = ca.SX.zeros(3)
    unit[k] = sign
    return sign * p[k] - half, unit


def outside_or_inside(d, directions):
    """(4) and its gradient: that of the distance from an edge or a face outside, that of the nearest face inside."""
    over = [ca.fmax(x, 0) for x in d]
    outer = ca.sqrt(sum(x**2 for x in over) + TINY)
    inner, nearest = d[0], directions[0]
    for x, direction in zip(d[1:], directions[1:]):
        nearest = ca.if_else(x > inner, direction, nearest)
        inner = ca.fmax(inner, x)
    outside = inner > 0
    normal = sum(x * direction for x, direction in zip(over, directions)) / outer
    return ca.if_else(outside, outer, inner), ca.if_else(outside, normal, nearest)


def probes(shape, other):
    """Points of a shape with a radius, which may touch another shape: pairs (centre, radius) in the common frame."""
    place = lambda x, y, z: shape.position + shape.rotation @ ca.vertcat(x, y, z)
    if shape.kind == "sphere":
        return [(shape.position, shape.size[0])]
    if shape.kind == "polyhedron":
        size = shape.size
        return [(place(*corner), 0) for corner in zip(size[::3], size[1::3], size[2::3])]
    if shape.kind == "capsule":
        radius, length = shape.size
        if other.kind == "capsule":
            return [(place(0, 0, nearest_on_axis(shape, other)), radius)]
        ends = [(place(0, 0, s * length / 2), radius) for s in (-1, 1)]
        middle = ca.dot(shape.rotation[:, 2], other.position - shape.position)
        inner = (place(0, 0, ca.fmin(ca.fmax(middle, -length / 2), length / 2)), radius)
        return ends if other.kind in GROUNDS else [*ends, inner]
    if shape.kind == "box":
        r = ROUNDING * ca.fmin(ca.fmin(shape.size[0], shape.size[1]), shape.size[2])
        a, b, c = (x / 2 - r for x in shape.size)
        return [(place(i * a, j * b, k * c), r) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    radius, length = shape.size
    r = ROUNDING * ca.fmin(radius, length)
    return [(place(x, y, s * (length / 2 - r)), r) for s in (-1, 1) for x, y in rim(shape, other, radius - r)]


def rim(shape, other, radius):
    """Four points of a rim: the lowest one over a plane, and those a quarter turn away from it."""
    if other.kind != "plane":
        return [(radius, 0), (0, radius), (-radius, 0), (0, -radius)]
    down = -(shape.rotation.T @ other.rotation[:, 2])
    x, y = down[0] + 1e-12, down[1]  # an upright cylinder has no lowest point: any direction will do
    length = ca.sqrt(x**2 + y**2 + TINY)
    x, y = radius * x / length, radius * y / length
    return [(x, y), (-y, x), (-x, -y), (y, -x)]


def nearest_on_axis(shape, other):
    """Coordinate of the point of a capsule's axis that is nearest to the axis of another."""
    a, b = shape.rotation[:, 2], other.rotation[:, 2]
    d = shape.position - other.position
    half, half_other = shape.size[1] / 2, other.size[1] / 2
    clamp = lambda x, h: ca.fmin(ca.fmax(x, -h), h)
    c, da, db = ca.dot(a, b), ca.dot(a, d), ca.dot(b, d)
    parallel = 1 - c**2
    s = clamp((c * db - da) / (parallel + 1e-12), half)  # of the lines
    t = clamp(c * s + db, half_other)
    return clamp(c * t - da, half)
