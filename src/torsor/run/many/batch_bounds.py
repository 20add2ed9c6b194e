"""Bounds that actions of events set for parameters, checked for many values at once."""

import casadi as ca
import numpy as np

from ...events.actions.base import Action
from ...formulations.algebra.numpy_functions import NumericFunction


class Bounds:
    """Checks rows of values of all parameters: True where all actions of the model surely allow them."""

    def __init__(self, model):
        actions = [action for event in model.events for action in event.actions]
        self.own_check = any(type(action).check is not Action.check for action in actions)
        parameters = {p.symbol.element_hash() for p in model.parameters.values()}
        every = [(e, least, most) for action in actions for _, e, least, most in action.bounds()]
        checked = [one for one in every if {s.element_hash() for s in ca.symvar(one[0])} <= parameters]
        self.least, self.most = (np.array([one[k] for one in checked]) for k in (1, 2))
        symbols = ca.vertcat(*[p.symbol for p in model.parameters.values()], ca.SX(0, 1))
        column = ca.densify(ca.vertcat(*[e for e, _, _ in checked], ca.SX(0, 1)))
        self.values = NumericFunction(ca.Function("bounded", [symbols], [column])) if checked else None

    def __call__(self, values):
        if self.own_check or self.values is None:  # an action with a check of its own is not examined here
            return np.full(len(values), not self.own_check)
        bounded = self.values.over(values)[:, :, 0]
        return ((bounded >= self.least) & (bounded <= self.most)).all(axis=1)
