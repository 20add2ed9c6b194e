"""The shape of expressions: their operations without the numbers in them.

Two expressions of one shape are the same function with other numbers, and share their code.
"""

from typing import NamedTuple

import casadi as ca


class Shape(NamedTuple):
    """Operations one by one: what is done, with which cells, into which cell; and the sizes of the results."""

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
                cells[outputs[0]] = ca.SX(next(left))
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
    operations, numbers = [], []
    for k in range(f.n_instructions()):
        what = f.instruction_id(k)
        operations.append((what, tuple(f.instruction_input(k)), tuple(f.instruction_output(k))))
        if what == ca.OP_CONST:
            numbers.append(f.instruction_constant(k))
    return Shape(tuple(operations), tuple(x.numel() for x in columns)), numbers
