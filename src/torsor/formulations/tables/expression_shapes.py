"""The shape of expressions: their operations without their constants.

Two expressions of the same shape are the same function with other constants, and share their code. Constants that identify lookup
tables are part of the shape.
"""

from typing import NamedTuple

import casadi as ca

from ...lookup.lookup_calls import calls, piece, without_derivative_calls


class Shape(NamedTuple):
    """A list of operations, each with its opcode, input cells and output cells; and the sizes of the results.

    A constant that is part of the shape is stored in place of its input cells.
    """

    operations: tuple
    sizes: tuple

    def instantiate(self, symbols, constants):
        """The expressions as functions of other symbols and with other constants."""
        arguments = [ca.vertsplit(ca.vec(ca.densify(s))) for s in symbols]
        cells: dict = {}
        results = [[ca.SX(0)] * size for size in self.sizes]
        remaining = iter(constants)
        for opcode, inputs, outputs in self.operations:
            if opcode == ca.OP_INPUT:
                cells[outputs[0]] = arguments[inputs[0]][inputs[1]]
            elif opcode == ca.OP_OUTPUT:
                results[outputs[0]][outputs[1]] = cells[inputs[0]]
            elif opcode == ca.OP_CONST:
                cells[outputs[0]] = ca.SX(inputs[0] if inputs else next(remaining))
            elif opcode == ca.OP_CALL:
                values = piece(len(inputs) - 1, len(outputs))(*[cells[k] for k in inputs])
                cells.update((k, ca.SX(x)) for k, x in zip(outputs, values))
            elif len(inputs) == 1:
                cells[outputs[0]] = ca.SX.unary(opcode, cells[inputs[0]])
            else:
                cells[outputs[0]] = ca.SX.binary(opcode, cells[inputs[0]], cells[inputs[1]])
        return [ca.vertcat(*column, ca.SX(0, 1)) for column in results]


def shape_of(columns, symbols):
    """The shape of expressions and their constants; the shape is None if they depend on anything but the symbols."""
    f = ca.Function(
        "shape", [ca.densify(s) for s in symbols], [ca.vec(ca.densify(x)) for x in columns], {"allow_free": True}
    )
    if f.has_free():
        return None, []
    f = without_derivative_calls(f) if calls(f) else f
    operations = []
    constants = []
    tables = _table_constants(f)
    for k in range(f.n_instructions()):
        opcode = f.instruction_id(k)
        inputs = tuple(f.instruction_input(k))
        if opcode == ca.OP_CONST:
            constant = f.instruction_constant(k)
            inputs = (constant,) if k in tables else ()
            constants += [] if inputs else [constant]
        operations.append((opcode, inputs, tuple(f.instruction_output(k))))
    return Shape(tuple(operations), tuple(x.numel() for x in columns)), constants


def _table_constants(f):
    """Indices of the instructions whose constant identifies a lookup table."""
    tables: set[int] = set()
    defined: dict[int, int] = {}
    for k in range(f.n_instructions() if calls(f) else 0):
        if f.instruction_id(k) == ca.OP_CALL:
            tables.add(defined[f.instruction_input(k)[0]])
        if f.instruction_id(k) != ca.OP_OUTPUT:
            defined.update(dict.fromkeys(f.instruction_output(k), k))
    return tables
