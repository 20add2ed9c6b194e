"""Functions that are given by points: measured torques, maps of motors, profiles of roads."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..elements.conversion import LARGEST, SMALLEST, reals, show
from ..errors import ModelError
from ..lookup.interpolation import KINDS, OUTSIDE, pieces
from ..lookup.interval_search import Axis, Stored, keep, number_of
from ..lookup.lookup_calls import evaluate, horner

MANY = 100_000  # numbers at once for which native code is worth its building
STRAIGHT = 1e-13  # of the largest slope: a linear table that bends by less does not


@dataclass(frozen=True, eq=False)
class Table:
    """A function of one or two arguments through given points. Made by `table` and `read_table`.

        f(u) = Σₖ cₖ (u − o)ᵏ       o, c of the piece that u lies in                                      (1)

    Called with a signal, it gives an expression; called with numbers, numbers.
    """

    points: tuple  # one array for each argument
    values: np.ndarray
    kind: str
    outside: str
    name: str

    @property
    def smooth(self) -> int:
        """How many of its derivatives are continuous between its first and last points; −1: it jumps."""
        return KINDS[self.kind].smooth

    @cached_property
    def number(self) -> float:
        """What stands for it in expressions."""
        number = number_of(self.kind, self.outside, *self.points, self.values)
        keep(number, lambda: _store_rows(self))
        return number

    def __call__(self, *arguments: Any) -> Any:
        """f at signals, or at numbers (arrays of the same shape give an array)."""
        if len(arguments) != len(self.points):
            count = len(self.points)
            raise ModelError(
                f"{self.name}: takes {count} argument{'s' if count > 1 else ''}, got {len(arguments)}: "
                f"{', '.join(map(show, arguments))}"
            )
        try:
            given = [x if isinstance(x, ca.SX) else reals(x) for x in arguments]
            u = None if any(isinstance(x, ca.SX) for x in given) else np.broadcast_arrays(*given)
        except (TypeError, ValueError):
            names = ", ".join(map(show, arguments))
            raise ModelError(f"{self.name}: its arguments must be signals or numbers, got {names}") from None
        if u is None:
            return self._expression(given)
        if u[0].size < MANY:
            return self._numbers(u)
        return self._native_function.over(*[x.reshape(-1, 1) for x in u])[0].reshape(u[0].shape)

    @cached_property
    def _native_function(self):
        """f as native code."""
        from ..kernels import build
        from ..kernels.derivation_lock import DERIVING

        with DERIVING:
            u = [ca.SX.sym(f"u{k}") for k in range(len(self.points))]
            return build({"table": ca.Function("table", u, [self(*u)])})["table"]

    def _expression(self, arguments):
        u = [ca.SX(x) for x in arguments]
        for x in u:
            if x.shape != (1, 1):
                raise ModelError(
                    f"{self.name}: each argument must be one signal, got {x.shape[0]}x{x.shape[1]} of them"
                )
        return evaluate(self.number, keep(self.number, lambda: _store_rows(self)).width, *u)

    def _numbers(self, u):
        rows = keep(self.number, lambda: _store_rows(self)).rows_at(*u)
        steps = [x - rows[..., k] for k, x in enumerate(u)]
        c = np.moveaxis(rows[..., len(u) :], -1, 0)
        if len(u) == 2:
            size = KINDS[self.kind].degree + 1
            c = [horner(list(c[k * size : (k + 1) * size]), steps[1]) for k in range(size)]
        with np.errstate(invalid="ignore"):  # an infinite argument has no value
            found = horner(list(c), steps[0])  # (1)
        return found if np.ndim(found) else float(found)

    def bends(self, axis: int = 0) -> np.ndarray:
        """Arguments at which it jumps, or is less smooth than a method of order 4 takes it to be."""
        if axis not in range(len(self.points)):
            raise ModelError(
                f"{self.name}: axis must be one of its {len(self.points)} arguments, from 0 on, got {show(axis)}"
            )
        x, hold = self.points[axis], self.outside == "hold"
        between = 0.5 * (x[1:] + x[:-1])
        if self.kind == "cubic":
            return x[[0, -1]] if hold else x[:0]
        if self.kind == "akima" or len(self.points) > 1:
            return between if self.kind == "nearest" else x
        steps = np.diff(self.values)
        if self.kind == "nearest":
            return between[steps != 0]
        m = steps / np.diff(x)
        bent = np.abs(np.diff(m)) > STRAIGHT * np.abs(m).max()
        return x[np.array([hold and m[0] != 0, *bent, hold and m[-1] != 0])]

    def __reduce__(self):
        return table, (
            self.points if len(self.points) > 1 else self.points[0],
            self.values,
            self.kind,
            self.outside,
            self.name,
        )

    def __repr__(self):
        ranges = " × ".join(f"{x[0]:g} … {x[-1]:g}" for x in self.points)
        size = " × ".join(str(len(x)) for x in self.points)
        return f"<{self.name}: {size} points, {ranges}, {self.kind}, outside: {self.outside}>"


def table(
    points: Sequence | np.ndarray,
    values: Sequence | np.ndarray,
    kind: str = "linear",
    outside: str = "hold",
    name: str = "table",
) -> Table:
    """A function through given points, to be called with `torsor.time`, any other signal, or numbers.

        torque = ts.table([0, 1, 3], [0, 5, 5])
        model.add(ts.Torque("motor", wheel, (0, 0, torque(ts.time))))
        map = ts.table((speeds, throttles), torques)          two arguments: values[i, j] at speeds[i], throttles[j]

    points   increasing numbers; of a function of two arguments, such a list for each of them
    values   one for each point
    kind     "linear"; "nearest": that of the nearest point, constant half way to the next; "cubic": smooth to the second
             derivative (a spline, not a knot), as imposed motions need it; "akima": smooth to the first one, without
             overshooting at steps (one argument)
    outside  before the first and after the last point: "hold" the last value, "extrapolate" the last piece, or "error": a run
             that gets there ends
    name     in messages
    """
    if not isinstance(name, str):
        raise ModelError(f"table: its name must be a text, got {show(name)}")
    for given, what, known in ((kind, "kind", KINDS), (outside, "outside", OUTSIDE)):
        if not isinstance(given, str) or given not in known:
            raise ModelError(f"{name}: unknown {what} {show(given)}. Known: {', '.join(map(repr, known))}")
    two = isinstance(points, (tuple, list)) and len(points) == 2 and all(np.ndim(x) == 1 for x in points)
    axes = tuple(
        _points(x, kind, name, f"points[{k}]" if two else "points") for k, x in enumerate(points if two else [points])
    )
    if two and kind == "akima":
        raise ModelError(f"{name}: kind 'akima' is for one argument; take 'cubic' or 'linear' for two")
    return Table(axes, _values(values, axes, name), kind, outside, name)


def _array(given, dimensions, what, name):
    """Finite numbers, frozen."""
    try:
        found = reals(given)
    except (TypeError, ValueError):
        hint = "; torsor.read_table reads a file" if isinstance(given, str) else ""
        raise ModelError(f"{name}: {what} must be numbers, got {show(given)}{hint}") from None
    if found.ndim != dimensions:
        words = "a list of numbers" if dimensions == 1 else "a matrix of numbers, a row for each of the first points"
        raise ModelError(f"{name}: {what} must be {words}, got an array of shape {found.shape}")
    if (wrong := ~(np.abs(found) <= LARGEST)).any():
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        allowed = f"a finite number of at most {LARGEST:g}"
        raise ModelError(f"{name}: {what}[{', '.join(map(str, at))}] is {found[at]}; every one must be {allowed}")
    found = np.array(found)
    found.setflags(write=False)
    return found


def _points(given, kind, name, what):
    x = _array(given, 1, what, name)
    fewest = KINDS[kind].fewest
    if len(x) < fewest:
        raise ModelError(f"{name}: kind {kind!r} needs at least {fewest} {what}, got {len(x)}")
    steps = np.diff(x)
    if not (steps > SMALLEST).all():
        k = int(np.argmin(steps > SMALLEST)) + 1
        must = f"must increase by more than {SMALLEST:g}" if steps[k - 1] > 0 else "must increase"
        raise ModelError(f"{name}: {what} {must}; {what}[{k}] = {x[k]!s} follows {what}[{k - 1}] = {x[k - 1]!s}")
    return x


def _values(given, axes, name):
    y = _array(given, len(axes), "values", name)
    shape = tuple(len(x) for x in axes)
    if y.shape != shape:
        words = " × ".join(map(str, shape))
        raise ModelError(
            f"{name}: there must be as many values as points, {words}, got {' × '.join(map(str, y.shape))}"
        )
    return y


def _store_rows(given):
    """Its rows, as native code reads them; those of what is no number are last."""
    breaks, origins, c = pieces(given.points[0], given.values, given.kind, given.outside)
    if len(given.points) == 1:
        rows = np.full((len(origins) + 1, 1 + len(c)), np.nan)
        for k, column in enumerate([origins, *c]):
            rows[:-1, k] = column
        return Stored([Axis(breaks)], rows, given)
    along = np.stack(c, axis=2).swapaxes(0, 1)  # (point of v, piece of u, power of u)
    other, origins_y, c = pieces(given.points[1], along, given.kind, given.outside)
    count, size = (len(origins), len(origins_y)), len(c)
    rows = np.full((count[0] + 1, count[1] + 1, 2 + size * size), np.nan)
    inner = rows[:-1, :-1]
    inner[..., 0], inner[..., 1] = origins[:, None], origins_y
    for k, column in enumerate(c):  # (piece of v, piece of u, power of u)
        inner[..., 2 + k :: size] = column.swapaxes(0, 1)
    return Stored([Axis(breaks), Axis(other)], rows.reshape(-1, 2 + size * size), given)
