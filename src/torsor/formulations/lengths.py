"""Lengths √(x·x) in what users write, as in the drag −c |v| v. They have no slope where x vanishes: CasADi tells 0/0. In its place

    √s = √(s + o) − o,      s = x·x,      o = 1 where s = 0, else 0                                       (1)

is the same number, and has the mean of the slopes on both sides, 0.
"""

import casadi as ca

from ..tables.calls import applied, walked


def sloped(expression):
    """The expression, with roots of sums of squares by (1)."""
    expression = ca.SX(expression)
    symbols = ca.symvar(expression)
    f = ca.Function("f", symbols, [expression])
    if all(f.instruction_id(k) != ca.OP_SQRT for k in range(f.n_instructions())):
        return expression
    squares: dict = {}  # sums of squares, by their hashes

    def apply(op, operands):
        known = [x.element_hash() in squares for x in operands]
        if op == ca.OP_SQRT and known[0]:
            none = operands[0] == 0
            return ca.sqrt(operands[0] + none) - none  # (1)
        found = applied(op, operands)
        scaled = op == ca.OP_MUL and all(sums or x.is_constant() and float(x) > 0 for x, sums in zip(operands, known))
        if op == ca.OP_SQ or scaled or op in (ca.OP_ADD, ca.OP_TWICE) and all(known):
            squares[found.element_hash()] = found
        return found

    (found,) = walked(f, [[s] for s in symbols], apply=apply)
    return ca.SX(expression.sparsity(), ca.vertcat(ca.SX(0, 1), *found))
