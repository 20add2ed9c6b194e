"""Tables in expressions: calls of a function `piece` that returns the coefficients of the piece that contains the argument.

    origin, c₀, c₁ … = piece(number, u),      f(u) = Σₖ cₖ (u − origin)ᵏ                                   (1)

The results of `piece` are constant between breaks: their derivatives are zero, and those of f follow from the polynomial, to any
order and by any kind of differentiation. CasADi evaluates `piece` by a call of Python, native code by a search. CasADi keeps
calls of its derivatives in a graph, although they are zero; `without_derivative_calls` removes them.

Functions of other programs (FMUs) are called in the same way, with any number of arguments: what is stored under their number
then calculates its row, and has a Jacobian, a function of the same kind under another number.
"""

from functools import cache

import casadi as ca
import numpy as np

from ..errors import OptionError
from .interval_search import stored_table

NAME = "torsor_table"  # part of the names of all these functions and of their derivatives


class Piece(ca.Callback):
    """The function `piece` for a number of arguments (of tables one or two) and a number of results (width)."""

    def __init__(self, arguments, width):
        ca.Callback.__init__(self)
        self.arguments, self.width = arguments, width
        self.construct(f"{NAME}_{arguments}_{width}", {})

    def get_n_in(self):
        return 1 + self.arguments

    def get_n_out(self):
        return self.width

    def eval(self, given):
        number, *u = [float(x) for x in given]
        table = stored_table(number)
        return (table.rows_at(*u) if table is not None else np.full(self.width, np.nan)).tolist()

    def has_forward(self, count):
        return True

    def has_reverse(self, count):
        return True

    def get_forward(self, count, name, ins, outs, options):
        return (
            self._zero(count, name, ins, outs) if self.arguments <= 2 else self._product(count, name, ins, outs, True)
        )

    def get_reverse(self, count, name, ins, outs, options):
        return (
            self._zero(count, name, ins, outs) if self.arguments <= 2 else self._product(count, name, ins, outs, False)
        )

    def _product(self, count, name, ins, outs, forward):
        """Return the derivative of a function of another program: products with its Jacobian, under the next number."""
        taken = 1 + self.arguments
        given = [ca.SX.sym(word, 1, 1 if k < taken + self.width else count) for k, word in enumerate(ins)]
        seeds = ca.vertcat(*given[taken + self.width :])
        J = _matrix(lookup(given[0] + 1, given[1:taken], self.width * self.arguments), self.arguments)
        product = J @ seeds[1:, :] if forward else ca.vertcat(ca.SX.zeros(1, count), J.T @ seeds)
        return ca.Function(name, given, ca.vertsplit(product), ins, outs)

    def _zero(self, count, name, ins, outs):
        """Return the derivative in `count` directions: zero."""
        plain = 1 + self.arguments + self.width
        given = [ca.SX.sym(word, 1, 1 if k < plain else count) for k, word in enumerate(ins)]
        return ca.Function(name, given, [ca.SX.zeros(1, count)] * len(outs), ins, outs)


@cache
def piece(arguments, width):
    """Return the function `piece`. It is kept, since CasADi needs it as long as an expression calls it."""
    return Piece(arguments, width)


def evaluate(number, width, *u):
    """Return f(u) of the table with this number as an expression, equation (1)."""
    results = piece(len(u), width)(number, *u)
    found = [ca.SX(x) for x in results]
    steps = [x - origin for x, origin in zip(u, found)]
    coefficients = found[len(u) :]
    size = round(len(coefficients) ** (1 / len(u)))
    if len(u) == 2:  # a polynomial in the first, whose coefficients are polynomials in the second
        coefficients = [horner(coefficients[k * size : (k + 1) * size], steps[1]) for k in range(size)]
    return horner(coefficients, steps[0])


def horner(coefficients, s):
    """Return Σₖ cₖ sᵏ."""
    found = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        found = c + s * found
    return found


def calls(f):
    """True if a function calls tables; calls of other functions are refused."""
    called = f.find_functions() if f.is_a("SXFunction") else []
    if foreign := [g.name() for g in called if NAME not in g.name()]:
        raise OptionError(
            f"an expression calls the function {foreign[0]!r}, which has no native code: expressions are made of elementary "
            "operations and tables; leave out its option never_inline"
        )
    return bool(called)


def pieces(f):
    """The instructions of a function that call `piece` itself, and not a derivative of it, with the number that each passes."""
    constants: dict[int, float] = {}
    found: dict[int, float] = {}
    for k in range(f.n_instructions() if f.find_functions() else 0):
        op = f.instruction_id(k)
        if op == ca.OP_CALL:
            operands = f.instruction_input(k)
            number = constants.get(operands[0])
            if number is not None and _is_value(number, len(operands)):
                found[k] = number
        if op != ca.OP_OUTPUT:
            for cell in f.instruction_output(k):
                constants.pop(cell, None)
        if op == ca.OP_CONST:
            constants[f.instruction_output(k)[0]] = f.instruction_constant(k)
    return found


def _is_value(number, operands):
    """True if a call with this number and so many operands is one of `piece`; its derivatives have more operands."""
    table = stored_table(number)
    return operands == 1 + len(table.axes) if table is not None else operands <= 3


def lookup(number, u, width):
    """Call `piece` with expressions and return its results."""
    return [ca.SX(x) for x in piece(len(u), width)(number, *u)]


def _matrix(entries, columns):
    """A matrix of entries that are given row by row."""
    return ca.reshape(ca.vertcat(*entries), columns, len(entries) // columns).T


def apply_operation(op, operands):
    """Return the result of an elementary operation."""
    return (ca.SX.unary if len(operands) == 1 else ca.SX.binary)(op, *operands)


def rebuild_graph(f, inputs, call=lookup, apply=apply_operation):
    """Evaluate the graph of a function with other inputs, and return the nonzeros of every result.

    inputs   nonzeros of every argument
    call     call(number, arguments, width) returns the expressions that replace a lookup
    apply    apply(op, operands) returns the expression that replaces an elementary operation
    """
    work: dict[int, ca.SX] = {}
    results: list[list] = [[None] * f.nnz_out(i) for i in range(f.n_out())]
    for k in range(f.n_instructions()):
        op, out, ins = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == ca.OP_INPUT:
            work[out[0]] = inputs[ins[0]][ins[1]]
        elif op == ca.OP_CONST:
            work[out[0]] = ca.SX(f.instruction_constant(k))
        elif op == ca.OP_OUTPUT:
            results[out[0]][out[1]] = work[ins[0]]
        elif op != ca.OP_CALL:
            work[out[0]] = apply(op, [work[i] for i in ins])
        elif _is_value(float(work[ins[0]]), len(ins)):
            number, *u = [work[i] for i in ins]
            work.update(zip(out, call(number, u, len(out))))
        else:
            work.update(zip(out, _derivative(work, ins, len(out), call)))
    return results


def _derivative(work, operands, results, call):
    """The results of a call of a derivative: of tables zero, else products with the Jacobian J, row by row.

    Its operands are those of `piece`, the results of `piece`, and the seeds, all directions of one after the other: those of a
    forward derivative belong to the operands, those of a reverse one to the results of `piece`.
    """
    number = work[operands[0]]
    table = stored_table(float(number))
    jacobian = getattr(table, "jacobian", None)
    if jacobian is None:
        return [ca.SX(0)] * results
    taken, width = 1 + len(table.axes), table.width
    u, seeds = [work[k] for k in operands[1:taken]], [work[k] for k in operands[taken + width :]]
    J = _matrix(call(ca.SX(jacobian), u, width * len(u)), len(u))
    forward = results % width == 0 and len(seeds) == taken * (results // width)
    seeds_of = ca.reshape(ca.vertcat(*seeds), -1, taken if forward else width).T
    product = J @ seeds_of[1:, :] if forward else ca.vertcat(ca.SX.zeros(1, seeds_of.shape[1]), J.T @ seeds_of)
    return ca.vertsplit(ca.vec(product.T))


def without_derivative_calls(f, renamed=None):
    """Return the function without calls of derivatives. If `renamed` is given, it maps the numbers of the tables."""
    inputs = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())]

    def call(number, u, width):
        return lookup(number if renamed is None else renamed(float(number)), u, width)

    results = rebuild_graph(f, [x.nonzeros() for x in inputs], call)
    columns = [ca.SX(f.sparsity_out(i), ca.vertcat(ca.SX(0, 1), *x)) for i, x in enumerate(results)]
    return ca.Function(f.name(), inputs, columns, f.name_in(), f.name_out())


def plain(expression):
    """Return the expression without calls of derivatives, so that its dependencies are those of its value."""
    symbols = ca.symvar(expression)
    f = ca.Function("f", symbols, [expression])
    return without_derivative_calls(f)(*symbols) if calls(f) else expression


def lookups_in(f, inputs):
    """Return the number and the arguments of every lookup in a function of these inputs."""
    found = []

    def call(number, u, width):
        found.append((float(number), u))
        return lookup(number, u, width)

    rebuild_graph(f, inputs, call)
    return found


def numbers_in(f):
    """Return the numbers of all tables that a function looks up."""
    if not calls(f):
        return []
    symbols = [ca.SX.sym(f"u{i}", f.sparsity_in(i)).nonzeros() for i in range(f.n_in())]
    return list(dict.fromkeys(number for number, _ in lookups_in(f, symbols)))
