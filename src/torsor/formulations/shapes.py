"""The shape of expressions: their operations without the numbers in them.

Two expressions of one shape are the same function with other numbers, and share their code. Numbers that stand for tables belong
to the shape.
"""

from typing import NamedTuple

import casadi as ca

from ..tables.calls import calls, piece, resolved


class Shape(NamedTuple):
    """Operations one by one: what is done, with which cells, into which cells; and the sizes of the results. A constant that
    belongs to the shape has itself in the place of cells."""

    operations: tuple
    sizes: tuple

    def filled(self, symbols, numbers):
        """The expressions again, of other symbols and with other numbers."""
        given = [ca.vertsplit(ca.vec(ca.densify(s))) for s in symbols]
        cells: dict = {}
        found = [[ca.SX(0)] * size for size in self.sizes]
        left = iter(numbers)
        for what, inputs, outputs in self.operations:
            if what == ca.OP_INPUT:
                cells[outputs[0]] = given[inputs[0]][inputs[1]]
            elif what == ca.OP_OUTPUT:
                found[outputs[0]][outputs[1]] = cells[inputs[0]]
            elif what == ca.OP_CONST:
                cells[outputs[0]] = ca.SX(inputs[0] if inputs else next(left))
            elif what == ca.OP_CALL:
                results = piece(len(inputs) - 1, len(outputs))(*[cells[k] for k in inputs])
                cells.update((k, ca.SX(x)) for k, x in zip(outputs, results))
            elif len(inputs) == 1:
                cells[outputs[0]] = ca.SX.unary(what, cells[inputs[0]])
            else:
                cells[outputs[0]] = ca.SX.binary(what, cells[inputs[0]], cells[inputs[1]])
        return [ca.vertcat(*column, ca.SX(0, 1)) for column in found]


def shape_of(columns, symbols):
    """The shape of some columns, and the numbers in them; None where something else than the symbols is in them."""
    f = ca.Function(
        "shape", [ca.densify(s) for s in symbols], [ca.vec(ca.densify(x)) for x in columns], {"allow_free": True}
    )
    if f.has_free():
        return None, []
    f = resolved(f) if calls(f) else f
    operations, numbers, tables = [], [], _tables(f)
    for k in range(f.n_instructions()):
        what, inputs = f.instruction_id(k), tuple(f.instruction_input(k))
        if what == ca.OP_CONST:
            number = f.instruction_constant(k)
            inputs = (number,) if k in tables else ()
            numbers += [] if inputs else [number]
        operations.append((what, inputs, tuple(f.instruction_output(k))))
    return Shape(tuple(operations), tuple(x.numel() for x in columns)), numbers


def _tables(f):
    """Places of the constants that stand for tables."""
    found: set[int] = set()
    defined: dict[int, int] = {}
    for k in range(f.n_instructions() if calls(f) else 0):
        if f.instruction_id(k) == ca.OP_CALL:
            found.add(defined[f.instruction_input(k)[0]])
        if f.instruction_id(k) != ca.OP_OUTPUT:
            defined.update(dict.fromkeys(f.instruction_output(k), k))
    return found
