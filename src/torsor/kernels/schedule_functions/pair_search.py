"""Pairs of spheres that overlap, in time proportional to their number: the broad phase of contacts in number.

Small spheres are sorted into cells of a grid whose edge is the largest diameter, by a hash of their cells: what overlaps one
in one of the 27 cells around its centre. Large spheres, and half-spaces, are compared with all others. Pairs come in an order that
depends on positions only, a list at a time: a list holds at least as many pairs as one sphere can have.

What is known of a shape, and how the work memory is divided, is said in `lookup/pair_records.py`.
"""

from typing import TYPE_CHECKING, Any

from ...lookup.pair_records import (
    CELL_EDGE,
    FACT_COUNT,
    HALF_SPACE,
    LIST_HEADER,
    NEXT_SHAPE,
    PLANE_NORMAL,
    PLANE_OFFSET,
    SHAPE_BODY,
    SHAPE_EXTENT,
    SHAPE_FAMILY,
    SHAPE_RADIUS,
    SMALL_SHAPE,
    bucket_mask,
    list_length,
)
from ..compiled import BUILDING, compiled, entry

if TYPE_CHECKING or not BUILDING:
    numbers_at: Any = None  # arrays of doubles, 64-bit and 32-bit integers out of the address of their first number
    whole_numbers_at: Any = None
    short_integers_at: Any = None
else:
    from ..numba_arrays import numbers_at, short_integers_at, whole_numbers_at

SEARCH = "torsor.kernels.schedule_functions.pair_search"  # this module, which is compiled
MOTION_POSITION, MOTION_ROTATION = 0, 3  # offsets in a motion
CELLS_AROUND = 27
_bucket_mask = compiled(bucket_mask)
_list_length = compiled(list_length)


@compiled
def _bucket(x, y, z, mask):
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & mask


@compiled
def _cell(x, edge):
    """Index of a cell; numbers that are none, or out of range, are in cell 0."""
    k = x / edge
    if not abs(k) < 1e9:
        return 0
    n = int(k)
    return n - 1 if k < n else n


@compiled
def _may_touch(facts, i, j):
    """True if two shapes are not parts of one thing."""
    a, b = FACT_COUNT * i, FACT_COUNT * j
    if facts[a + SHAPE_BODY] == facts[b + SHAPE_BODY] or (facts[a + SHAPE_BODY] < 0.0 and facts[b + SHAPE_BODY] < 0.0):
        return False
    return not (facts[a + SHAPE_FAMILY] >= 0.0 and facts[a + SHAPE_FAMILY] == facts[b + SHAPE_FAMILY])


@compiled
def _overlap(memory, at_i, at_j, facts, i, j):
    """True if the spheres of two shapes overlap, or the sphere of one a half-space."""
    a, b = FACT_COUNT * i, FACT_COUNT * j
    if facts[b + SHAPE_EXTENT] == HALF_SPACE:
        at_i, at_j, a, b = at_j, at_i, b, a
    if facts[b + SHAPE_EXTENT] == HALF_SPACE:
        return False
    if facts[a + SHAPE_EXTENT] == HALF_SPACE:
        height = -facts[a + PLANE_OFFSET]
        for k in range(3):
            n = 0.0
            for m in range(3):
                n += memory[at_i + MOTION_ROTATION + k + 3 * m] * facts[a + PLANE_NORMAL + m]
            height += n * (memory[at_j + k] - memory[at_i + k])
        return height < facts[b + SHAPE_RADIUS]
    square = 0.0
    for k in range(3):
        d = memory[at_i + k] - memory[at_j + k]
        square += d * d
    reach = facts[a + SHAPE_RADIUS] + facts[b + SHAPE_RADIUS]
    return square < reach * reach


@compiled
def _sort_into_cells(memory, column, base, first, step, count, facts, cells, buckets, starts, order, large, mask):
    """Sort the small spheres by their buckets, and list the large ones."""
    edge = facts[CELL_EDGE]
    n_large = 0
    for k in range(mask + 2):
        starts[k] = 0
    for i in range(count):
        if facts[FACT_COUNT * i + SHAPE_EXTENT] != SMALL_SHAPE:
            large[1 + n_large] = i
            n_large += 1
            continue
        at = base + column[first + step * i]
        for k in range(3):
            cells[3 * i + k] = _cell(memory[at + MOTION_POSITION + k], edge)
        buckets[i] = _bucket(cells[3 * i], cells[3 * i + 1], cells[3 * i + 2], mask)
        starts[buckets[i]] += 1
    large[0] = n_large
    for k in range(mask + 1):
        starts[k + 1] += starts[k]
    for i in range(count - 1, -1, -1):  # filled from behind, so that starts become the beginnings
        if facts[FACT_COUNT * i + SHAPE_EXTENT] == SMALL_SHAPE:
            starts[buckets[i]] -= 1
            order[starts[buckets[i]]] = i


@entry("int64", "int64", "int64", "int64", "int64", "int64", "int64", "int64", "int64")
def next_pairs(memory_at, column_at, base, first, step, count, facts_at, work_at, restart):
    """Write the next pairs (i < j) to the list after the header of the work memory, and return how many there are; 0: no more.

    memory_at   address of the memory; the motion of shape i is at base + column[first + step i] in it
    facts_at    address of the facts
    work_at     address of the work memory, `work_size` numbers
    restart     1: positions are new
    """
    memory, column, facts = numbers_at(memory_at), short_integers_at(column_at), numbers_at(facts_at)
    work = whole_numbers_at(work_at)
    longest = _list_length(count)
    pairs = LIST_HEADER
    at_cells = pairs + 2 * longest
    mask = _bucket_mask(count)
    cells = whole_numbers_at(work_at + 8 * at_cells)
    buckets = whole_numbers_at(work_at + 8 * (at_cells + 3 * count))
    starts = whole_numbers_at(work_at + 8 * (at_cells + 4 * count))
    order = whole_numbers_at(work_at + 8 * (at_cells + 4 * count + mask + 2))
    large = whole_numbers_at(work_at + 8 * (at_cells + 5 * count + mask + 2))
    if restart == 1:
        _sort_into_cells(memory, column, base, first, step, count, facts, cells, buckets, starts, order, large, mask)
        work[NEXT_SHAPE] = 0
    found = 0
    i = work[NEXT_SHAPE]
    while i < count and found + count <= longest:
        at_i = base + column[first + step * i]
        small = facts[FACT_COUNT * i + SHAPE_EXTENT] == SMALL_SHAPE
        for k in range(large[0]):
            j = large[1 + k]
            if (small or j > i) and _may_touch(facts, i, j):
                if _overlap(memory, at_i, base + column[first + step * j], facts, i, j):
                    work[pairs + 2 * found] = min(i, j)
                    work[pairs + 2 * found + 1] = max(i, j)
                    found += 1
        if small:
            for n in range(CELLS_AROUND):
                x = cells[3 * i] + n % 3 - 1
                y = cells[3 * i + 1] + (n // 3) % 3 - 1
                z = cells[3 * i + 2] + n // 9 - 1
                b = _bucket(x, y, z, mask)
                for k in range(starts[b], starts[b + 1]):
                    j = order[k]
                    if j <= i or cells[3 * j] != x or cells[3 * j + 1] != y or cells[3 * j + 2] != z:
                        continue
                    if _may_touch(facts, i, j) and _overlap(memory, at_i, base + column[first + step * j], facts, i, j):
                        work[pairs + 2 * found] = i
                        work[pairs + 2 * found + 1] = j
                        found += 1
        i += 1
        work[NEXT_SHAPE] = i
        if found > 0 and found + count > longest:
            break
    return found
