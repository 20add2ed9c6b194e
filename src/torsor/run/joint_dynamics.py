"""The quantities of robot dynamics, and where bodies are: for one state, or for arrays of states with leading dimensions."""

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..errors import OptionError
from .batches import Batch


class JointDynamics:
    """The part of a compiled model that is about joint coordinates and the bodies' places.

    Every argument may have leading dimensions, which are broadcast against each other and precede those of the result. A loop in
    native code goes over the states.
    """

    model: Any
    system: Any
    v: np.ndarray
    formulation_object: Any
    _matrices: dict
    _derivatives: dict
    _points: dict

    def _batch(self, q=None, v=None, t=0.0, p=None, **more) -> Batch:
        raise NotImplementedError

    @cached_property
    def matrix_functions(self) -> dict[str, ca.Function]:
        """Mass and Coriolis matrix, gravity, forward and inverse dynamics, Jacobians, as casadi.Function, by name."""
        from ..formulations import matrices

        return matrices.functions(self.formulation_object)

    def _matrix(self, name):
        """The kernel of one of them, built when it is first asked for: others may be much larger."""
        from .. import kernels
        from ..formulations import matrices

        if name not in self._matrices:
            self._matrices |= kernels.build({name: matrices.function(self.formulation_object, name)})
        return self._matrices[name]

    def mass_matrix(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """M(q)."""
        batch = self._batch(q, None, t, p)
        return batch.shaped(self._matrix("mass_matrix").over(*batch["q p"])[0], self.v.size, self.v.size)

    def coriolis(self, q: Any = None, v: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """C(q, v) with Ṁ − 2 C skew-symmetric."""
        batch = self._batch(q, v, t, p)
        return batch.shaped(self._matrix("coriolis").over(*batch["q v p"])[0], self.v.size, self.v.size)

    def christoffel(self, q: Any = None, p: Any = None, form: str = "metric") -> np.ndarray:
        """Γ_abc, the Christoffel symbols of the first kind, shape (…, n, n, n): C_ac = Γ_abc v_b, and (C v)_a = Γ_abc v_b v_c.

        form   "metric": by differentiation of M; "binet": from the bodies' twists and Binet's inertia tensors
        """
        from .. import kernels
        from ..formulations import christoffel

        name = f"christoffel {form}"
        if name not in self._matrices:
            graph = christoffel.function(self.formulation_object, form)
            self._matrices[name] = kernels.build({"christoffel": graph})["christoffel"]
        batch, n = self._batch(q, None, 0.0, p), self.v.size
        flat = self._matrices[name].over(*batch["q p"])[0]
        return flat.reshape(*batch.shape, n, n, n)

    def gravity(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """g(q): joint forces that hold the tree at rest against gravity alone, on grounds that stand where they are at t."""
        batch = self._batch(q, None, t, p)
        return batch.shaped(self._matrix("gravity").over(*batch["t q p"])[0])

    def inverse_dynamics(self, q: Any = None, v: Any = None, a: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """Joint forces, beyond the model's own, that produce accelerations a (recursive Newton–Euler; loops left open)."""
        batch = self._batch(q, v, t, p, a=a)
        return batch.shaped(self._matrix("inverse_dynamics").over(*batch["t q v a p"])[0])

    def forward_dynamics(
        self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, p: Any = None
    ) -> np.ndarray:
        """v̇ under the model's forces and further joint forces tau, constraints included."""
        batch = self._batch(q, v, t, p, tau=tau)
        return batch.shaped(self._matrix("forward_dynamics").over(*batch["t q v tau p"])[0])

    def body_jacobian(self, name: str, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """J of one body: (ẋ, ω) = J v, in world and in body axes."""
        k, batch = self._place(name), self._batch(q, None, t, p)
        whole = batch.shaped(
            self._matrix("body_jacobian").over(*batch["t q p"])[0], 6 * len(self.system.bodies), self.v.size
        )
        return whole[..., 6 * k : 6 * k + 6, :]

    def jacobian_derivative(
        self, name: str, q: Any = None, p: Any = None, t: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Twist Jacobian K of one body (angular first, own axes) and D with D[:, a, b] = ∂K_a/∂q_b, by Lie brackets."""
        from .. import kernels
        from ..formulations import matrices

        f = self.formulation_object
        self._place(name)
        if name not in self._derivatives:
            self._derivatives[name] = kernels.build(matrices.derivative_functions(f, self.model[name]))
        batch, built, n = self._batch(q, None, t, p), self._derivatives[name], self.v.size
        (K,), (D,) = (built[what].over(*batch["q p"]) for what in ("twist_jacobian", "jacobian_derivative"))
        return batch.shaped(K, 6, n), batch.shaped(D, 6, n, n)

    # where bodies are

    def poses(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """H of all bodies' frames, world axes, in the order of the model: shape (…, body, 4, 4)."""
        batch, n = self._batch(q, None, t, p), len(self.system.bodies)
        found = self._frames.over(*batch["t q p"])[0]
        return np.swapaxes(found.reshape(*batch.shape, n, 4, 4), -1, -2)

    def point(self, name: str, point: Any = (0, 0, 0), q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """World position of a point of a body, which is given in its own axes from the origin of its frame."""
        batch = self._batch(q, None, t, p, point=point)
        return batch.shaped(self._of_points(name)["point"].over(*batch["t q p point"])[0])

    def point_jacobian(
        self, name: str, point: Any = (0, 0, 0), q: Any = None, p: Any = None, t: Any = 0.0
    ) -> np.ndarray:
        """J of a point of a body: its velocity is J v, in world axes; shape (…, 3, velocities)."""
        batch = self._batch(q, None, t, p, point=point)
        return batch.shaped(self._of_points(name)["point_jacobian"].over(*batch["t q p point"])[0], 3, self.v.size)

    @cached_property
    def _frames(self):
        from .. import kernels
        from ..formulations import points

        return kernels.build({"poses": points.poses(self.formulation_object)})["poses"]

    def _of_points(self, name):
        from .. import kernels
        from ..formulations import points

        self._place(name)
        if name not in self._points:
            self._points[name] = kernels.build(points.functions(self.formulation_object, self.model[name]))
        return self._points[name]

    def _place(self, name):
        """Where a body stands among all of them."""
        if not isinstance(name, str) or name not in self.system.bodies:
            raise OptionError(f"unknown body {name!r}. Known: {', '.join(self.system.bodies)}.")
        return self.system.bodies.index(name)
