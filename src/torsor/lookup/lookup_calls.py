"""Tables in expressions: calls of a function that says in which piece of a table an argument lies.

    origin, c₀, c₁ … = piece(number, u),      f(u) = Σₖ cₖ (u − origin)ᵏ                                   (1)

What `piece` gives is constant between breaks: its derivatives are zero, and those of f follow from the polynomial, to any order
and by any kind of differentiation. CasADi evaluates it by a call of Python, native code by a search (`search`). CasADi keeps
calls of derivatives in a graph, although they are zero; `resolved` takes them out.
"""

from functools import cache

import casadi as ca
import numpy as np

from ..errors import OptionError
from .interval_search import stored_table

NAME = "torsor_table"  # what the names of all these functions, and of their derivatives, contain


class Piece(ca.Callback):
    """`piece` for tables of one or two arguments, by how many numbers it gives."""

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
        return self._zero(count, name, ins, outs)

    def get_reverse(self, count, name, ins, outs, options):
        return self._zero(count, name, ins, outs)

    def _zero(self, count, name, ins, outs):
        """A derivative in `count` directions."""
        plain = 1 + self.arguments + self.width
        given = [ca.SX.sym(word, 1, 1 if k < plain else count) for k, word in enumerate(ins)]
        return ca.Function(name, given, [ca.SX.zeros(1, count)] * len(outs), ins, outs)


@cache
def piece(arguments, width):
    """The function `piece`: CasADi needs it as long as an expression calls it."""
    return Piece(arguments, width)


def evaluate(number, width, *u):
    """f(u) of the table with this number as an expression: (1)."""
    results = piece(len(u), width)(number, *u)
    found = [ca.SX(x) for x in results]
    steps = [x - origin for x, origin in zip(u, found)]
    coefficients = found[len(u) :]
    size = round(len(coefficients) ** (1 / len(u)))
    if len(u) == 2:  # a polynomial in the first, whose coefficients are polynomials in the second
        coefficients = [horner(coefficients[k * size : (k + 1) * size], steps[1]) for k in range(size)]
    return horner(coefficients, steps[0])


def horner(coefficients, s):
    """Σₖ cₖ sᵏ."""
    found = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        found = c + s * found
    return found


def calls(f):
    """Whether a function looks anything up in tables; calls of any other function are refused."""
    called = f.find_functions() if f.is_a("SXFunction") else []
    if foreign := [g.name() for g in called if NAME not in g.name()]:
        raise OptionError(
            f"an expression calls the function {foreign[0]!r}, which has no native code: expressions are made of elementary "
            "operations and tables; leave out its option never_inline"
        )
    return bool(called)


def is_piece(operands):
    """Whether a call is one of `piece`, and not of a derivative, which takes its results and directions, too."""
    return len(operands) <= 3


def lookup(number, u, width):
    """What `piece` gives, as expressions."""
    return [ca.SX(x) for x in piece(len(u), width)(number, *u)]


def apply_operation(op, operands):
    """The result of an elementary operation."""
    return (ca.SX.unary if len(operands) == 1 else ca.SX.binary)(op, *operands)


def rebuild_graph(f, inputs, call=lookup, apply=apply_operation):
    """The graph of a function carried out again, with other inputs: nonzeros of every result.

    inputs   nonzeros of every argument
    call     call(number, arguments, width) gives what takes the place of a lookup: expressions
    apply    apply(op, operands) what takes the place of an elementary operation
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
        elif is_piece(ins):
            number, *u = [work[i] for i in ins]
            work.update(zip(out, call(number, u, len(out))))
        else:  # a derivative
            work.update(zip(out, [ca.SX(0)] * len(out)))
    return results


def without_derivative_calls(f, renamed=None):
    """The same function without calls of derivatives; numbers of tables renamed by a function where one is given."""
    inputs = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())]

    def call(number, u, width):
        return lookup(number if renamed is None else renamed(float(number)), u, width)

    results = rebuild_graph(f, [x.nonzeros() for x in inputs], call)
    columns = [ca.SX(f.sparsity_out(i), ca.vertcat(ca.SX(0, 1), *x)) for i, x in enumerate(results)]
    return ca.Function(f.name(), inputs, columns, f.name_in(), f.name_out())


def plain(expression):
    """The same expression without calls of derivatives, which hide what it depends on."""
    symbols = ca.symvar(expression)
    f = ca.Function("f", symbols, [expression])
    return without_derivative_calls(f)(*symbols) if calls(f) else expression


def lookups_in(f, inputs):
    """Number and arguments of every lookup in a function of these inputs."""
    found = []

    def call(number, u, width):
        found.append((float(number), u))
        return lookup(number, u, width)

    rebuild_graph(f, inputs, call)
    return found


def numbers_in(f):
    """Numbers of all tables that a function looks up."""
    if not calls(f):
        return []
    symbols = [ca.SX.sym(f"u{i}", f.sparsity_in(i)).nonzeros() for i in range(f.n_in())]
    return list(dict.fromkeys(number for number, _ in lookups_in(f, symbols)))
