"""The quantities of robot dynamics and the poses of bodies, for one state or for arrays of states with leading dimensions."""

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..errors import OptionError
from .batches import Batch


class JointDynamics:
    """Joint-space matrices, body poses and Jacobians of a compiled model.

    Every argument may have leading dimensions. They are broadcast against each other and precede the dimensions of the result. A
    loop in native code evaluates all states.
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
        from . import joint_space_matrices

        return joint_space_matrices.functions(self.formulation_object)

    def _matrix(self, name):
        """The kernel of one matrix function. It is built at its first use, because others may be much larger."""
        from .. import kernels
        from . import joint_space_matrices

        if name not in self._matrices:
            self._matrices |= kernels.build({name: joint_space_matrices.function(self.formulation_object, name)})
        return self._matrices[name]

    def mass_matrix(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """M(q)."""
        batch = self._batch(q, None, t, p)
        return batch.reshape(self._matrix("mass_matrix").over(*batch["q p"])[0], self.v.size, self.v.size)

    def coriolis(self, q: Any = None, v: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """C(q, v) with Ṁ − 2 C skew-symmetric."""
        batch = self._batch(q, v, t, p)
        return batch.reshape(self._matrix("coriolis").over(*batch["q v p"])[0], self.v.size, self.v.size)

    def christoffel(self, q: Any = None, p: Any = None, form: str = "metric") -> np.ndarray:
        """Γ_abc, the Christoffel symbols of the first kind, shape (…, n, n, n): C_ac = Γ_abc v_b, and (C v)_a = Γ_abc v_b v_c.

        form   "metric": by differentiation of M; "binet": from the bodies' twists and Binet's inertia tensors
        """
        from .. import kernels
        from . import christoffel

        name = f"christoffel {form}"
        if name not in self._matrices:
            graph = christoffel.function(self.formulation_object, form)
            self._matrices[name] = kernels.build({"christoffel": graph})["christoffel"]
        batch = self._batch(q, None, 0.0, p)
        n = self.v.size
        flat = self._matrices[name].over(*batch["q p"])[0]
        return flat.reshape(*batch.shape, n, n, n)

    def gravity(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """g(q): joint forces that hold the tree at rest against gravity alone, with moving grounds at rest in their pose at t."""
        batch = self._batch(q, None, t, p)
        return batch.reshape(self._matrix("gravity").over(*batch["t q p"])[0])

    def inverse_dynamics(self, q: Any = None, v: Any = None, a: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """Joint forces, in addition to the model's own, that produce accelerations a (recursive Newton–Euler, loops open)."""
        batch = self._batch(q, v, t, p, a=a)
        return batch.reshape(self._matrix("inverse_dynamics").over(*batch["t q v a p"])[0])

    def forward_dynamics(
        self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, p: Any = None
    ) -> np.ndarray:
        """v̇ under the model's forces and additional joint forces tau, with the constraints satisfied."""
        batch = self._batch(q, v, t, p, tau=tau)
        return batch.reshape(self._matrix("forward_dynamics").over(*batch["t q v tau p"])[0])

    def body_jacobian(self, name: str, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """J of one body: (ẋ, ω) = J v, in world and in body axes."""
        k = self._body_index(name)
        batch = self._batch(q, None, t, p)
        all_bodies = batch.reshape(
            self._matrix("body_jacobian").over(*batch["t q p"])[0], 6 * len(self.system.bodies), self.v.size
        )
        return all_bodies[..., 6 * k : 6 * k + 6, :]

    def jacobian_derivative(
        self, name: str, q: Any = None, p: Any = None, t: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Twist Jacobian K of one body (angular first, own axes) and D with D[:, a, b] = ∂K_a/∂q_b, by Lie brackets."""
        from .. import kernels
        from . import joint_space_matrices

        f = self.formulation_object
        self._body_index(name)
        if name not in self._derivatives:
            self._derivatives[name] = kernels.build(joint_space_matrices.derivative_functions(f, self.model[name]))
        batch = self._batch(q, None, t, p)
        library = self._derivatives[name]
        n = self.v.size
        (K,), (D,) = (library[what].over(*batch["q p"]) for what in ("twist_jacobian", "jacobian_derivative"))
        return batch.reshape(K, 6, n), batch.reshape(D, 6, n, n)

    # poses and points of bodies

    def poses(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """H of all bodies' frames, world axes, in the order of the model: shape (…, body, 4, 4)."""
        batch = self._batch(q, None, t, p)
        n = len(self.system.bodies)
        flat = self._poses_kernel.over(*batch["t q p"])[0]
        return np.swapaxes(flat.reshape(*batch.shape, n, 4, 4), -1, -2)

    def point(self, name: str, point: Any = (0, 0, 0), q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """World position of a point of a body; `point` is given in the body's own axes, from the origin of its frame."""
        batch = self._batch(q, None, t, p, point=point)
        return batch.reshape(self._point_kernels(name)["point"].over(*batch["t q p point"])[0])

    def point_jacobian(
        self, name: str, point: Any = (0, 0, 0), q: Any = None, p: Any = None, t: Any = 0.0
    ) -> np.ndarray:
        """J of a point of a body: its velocity is J v, in world axes; shape (…, 3, velocities)."""
        batch = self._batch(q, None, t, p, point=point)
        return batch.reshape(self._point_kernels(name)["point_jacobian"].over(*batch["t q p point"])[0], 3, self.v.size)

    @cached_property
    def _poses_kernel(self):
        from .. import kernels
        from . import body_points

        return kernels.build({"poses": body_points.poses(self.formulation_object)})["poses"]

    def _point_kernels(self, name):
        from .. import kernels
        from . import body_points

        self._body_index(name)
        if name not in self._points:
            self._points[name] = kernels.build(body_points.functions(self.formulation_object, self.model[name]))
        return self._points[name]

    def _body_index(self, name):
        """The index of a body in the order of the model."""
        if not isinstance(name, str) or name not in self.system.bodies:
            raise OptionError(f"unknown body {name!r}. Known: {', '.join(self.system.bodies)}.")
        return self.system.bodies.index(name)
