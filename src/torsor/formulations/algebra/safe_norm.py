"""Lengths √(x·x) in expressions of users, as in the drag −c |v| v. They have no derivative at x = 0, where CasADi returns NaN.
They are replaced by

    √s = √(s + o) − o,      s = x·x,      o = 1 where s = 0, else 0                                       (1)

which has the same value, and at x = 0 the derivative 0, the mean of the slopes on both sides.
"""

import casadi as ca

from ...lookup.lookup_calls import apply_operation, rebuild_graph


def regularise_norms(expression):
    """The expression with every square root of a sum of squares replaced by (1)."""
    expression = ca.SX(expression)
    symbols = ca.symvar(expression)
    f = ca.Function("f", symbols, [expression])
    if all(f.instruction_id(k) != ca.OP_SQRT for k in range(f.n_instructions())):
        return expression
    squares: dict = {}  # expressions that are sums of squares, by their hashes

    def apply(op, operands):
        is_sum = [x.element_hash() in squares for x in operands]
        if op == ca.OP_SQRT and is_sum[0]:
            zero = operands[0] == 0
            return ca.sqrt(operands[0] + zero) - zero  # (1)
        result = apply_operation(op, operands)
        scaled = op == ca.OP_MUL and all(s or x.is_constant() and float(x) > 0 for x, s in zip(operands, is_sum))
        if op == ca.OP_SQ or scaled or op in (ca.OP_ADD, ca.OP_TWICE) and all(is_sum):
            squares[result.element_hash()] = result
        return result

    (nonzeros,) = rebuild_graph(f, [[s] for s in symbols], apply=apply)
    return ca.SX(expression.sparsity(), ca.vertcat(ca.SX(0, 1), *nonzeros))
