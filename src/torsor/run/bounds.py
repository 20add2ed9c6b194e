"""What actions of events allow values of parameters to be, looked at for many values at once."""

import casadi as ca
import numpy as np

from ..events.actions.base import Action
from ..formulations.evaluation import Evaluated


class Bounds:
    """Whether rows of values of all parameters are surely allowed by all actions of a model."""

    def __init__(self, model):
        actions = [action for event in model.events for action in event.actions]
        self.own = any(type(action).check is not Action.check for action in actions)  # one that has its own way
        known = {p.symbol.element_hash() for p in model.parameters.values()}
        every = [(e, least, most) for action in actions for _, e, least, most in action.bounded()]
        told = [one for one in every if {s.element_hash() for s in ca.symvar(one[0])} <= known]
        self.least, self.most = (np.array([one[k] for one in told]) for k in (1, 2))
        symbols = ca.vertcat(*[p.symbol for p in model.parameters.values()], ca.SX(0, 1))
        column = ca.densify(ca.vertcat(*[e for e, _, _ in told], ca.SX(0, 1)))
        self.values = Evaluated(ca.Function("bounded", [symbols], [column])) if told else None

    def __call__(self, values):
        if self.own or self.values is None:
            return np.full(len(values), not self.own)
        found = self.values.over(values)[:, :, 0]
        return ((found >= self.least) & (found <= self.most)).all(axis=1)
