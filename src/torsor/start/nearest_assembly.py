"""The assembled configuration nearest to coordinates that no assembly has together.

    min |ξ(q) − ξ₁|²    with  g(q) = 0,   ξ_h(q) = ξ_h                                                   (1)

The search is that of `levenberg_marquardt.py`: r = ξ(q) − ξ₁, and the fixed coordinates ξ_h belong to the constraints.
"""

import numpy as np

from .levenberg_marquardt import LeastSquares, constrained_step, minimise

LONGEST_SEARCH_STEP = 0.3  # rad, or lengths divided by the size of the model


class NearestAssembly(LeastSquares):
    """The problem (1), as the only row of its kind.

    continuation     gives residuals and derivatives of the coordinates
    targets, fixed   coordinates by index: values to approach, and values to keep
    """

    longest_step = LONGEST_SEARCH_STEP

    def __init__(self, continuation, t, p, targets, fixed):
        self.continuation, self.examiner, self.t, self.p = continuation, continuation.examiner, t, p
        self.targets = [*targets], np.array([*targets.values()])
        self.fixed = [*fixed], np.array([*fixed.values()])

    def select(self, which):
        return self

    def move(self, q, u):
        return self.examiner.move(q[0], self.examiner.columns * u[0])[None]

    def restore_constraints(self, q):
        restored, _ = self.continuation.correct(self.t, q[0], self.p, *self.fixed)
        return (q, np.array([np.inf])) if restored is None else (restored[None], np.zeros(1))

    def evaluate(self, q):
        """r and its derivative J."""
        arguments = self.t, q[0], self.p, *self.targets
        return self.continuation.residuals(*arguments)[None], self.continuation.jacobian(*arguments)[None]

    def cost(self, r, J):
        return (r**2).sum(axis=1)

    def step(self, q, nu, r, J):
        here = self.t, q[0], self.p
        G = np.vstack([self.examiner.matrix(*here), self.continuation.jacobian(*here, *self.fixed)])[None]
        no_stops = np.zeros((1, 0)), np.zeros((1, 0, G.shape[2]))
        return constrained_step(r, J, np.zeros(G.shape[:2]), G, *no_stops, nu * (r**2).sum(axis=1))


def nearest(continuation, t, q, p, targets, fixed):
    """The configuration (1) that is found from q, and |r| there; None if the constraints cannot be satisfied near q."""
    problem = NearestAssembly(continuation, t, p, targets, fixed)
    q, violation = problem.restore_constraints(q[None])
    if violation[0] > 0:
        return None
    q, (r, _) = minimise(problem, q, exactly=False)
    return q[0], float(np.linalg.norm(r[0]))
