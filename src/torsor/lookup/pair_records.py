"""What a search for pairs of shapes knows of each shape, and how its memory is divided: see `schedule_functions/pair_search.py`.

A shape is in a sphere about the origin of its body, or is a half-space. Its facts are nine numbers:

    radius      of the sphere
    body        number of its body, negative for grounds
    family      shapes of one body, of one family that is not negative, and of two grounds are no pairs
    extent      SMALL_SHAPE: sorted into cells; LARGE_SHAPE: compared with all others; HALF_SPACE
    normal      of a half-space, in the axes of its body: three numbers
    offset      distance of the half-space from the origin of the body
    cell        edge of a cell: the largest diameter of small spheres

The work memory has a header (the shape with which the next list begins), the list of pairs, cells, buckets, their beginnings, the
shapes in the order of the buckets, and the large ones with their number before them.
"""

import numpy as np

SHAPE_RADIUS, SHAPE_BODY, SHAPE_FAMILY, SHAPE_EXTENT, PLANE_NORMAL, PLANE_OFFSET, CELL_EDGE, FACT_COUNT = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    9,
)
SMALL_SHAPE, LARGE_SHAPE, HALF_SPACE = 0, 1, 2
NEXT_SHAPE, LIST_HEADER = 0, 1
MUCH_LARGER = 4.0  # radius / median radius, above which a shape is compared with all others


def list_length(count):
    """How many pairs a list holds: more than one shape can have."""
    return 4 * count + 64


def bucket_mask(count):
    """Number of buckets of the hash table, a power of two, less one."""
    n = 1
    while n < 2 * count:
        n *= 2
    return n - 1


def work_size(count):
    """How many numbers the search needs for so many shapes."""
    return LIST_HEADER + 2 * list_length(count) + 4 * count + bucket_mask(count) + 2 + count + 1 + count


def facts_of(radii, bodies, families, half_spaces):
    """Facts of all shapes, row by row.

    radii         infinite for half-spaces
    half_spaces   normal and offset of each shape that is one; None for others
    """
    facts = np.zeros((len(radii), FACT_COUNT))
    finite = np.isfinite(radii)
    large = finite & (radii > MUCH_LARGER * np.median(radii[finite])) if finite.any() else finite
    small = finite & ~large
    facts[:, SHAPE_RADIUS] = np.where(finite, radii, 0.0)
    facts[:, SHAPE_BODY], facts[:, SHAPE_FAMILY] = bodies, families
    facts[:, SHAPE_EXTENT] = np.where(finite, np.where(large, LARGE_SHAPE, SMALL_SHAPE), HALF_SPACE)
    facts[:, CELL_EDGE] = 2 * radii[small].max(initial=0.0) or 1.0
    for row, plane in zip(facts, half_spaces):
        if plane is not None:
            row[PLANE_NORMAL : PLANE_NORMAL + 3], row[PLANE_OFFSET] = plane
    return facts


def may_touch(facts, i, j):
    """True if two shapes are not parts of one thing."""
    a, b = facts[i], facts[j]
    if a[SHAPE_BODY] == b[SHAPE_BODY] or (a[SHAPE_BODY] < 0 and b[SHAPE_BODY] < 0):
        return False
    return not a[SHAPE_FAMILY] == b[SHAPE_FAMILY] >= 0
