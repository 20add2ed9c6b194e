"""The quantities of robot dynamics and the poses of bodies, for one state or for arrays of states with leading dimensions."""

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..errors import OptionError
from .batches import Batch, finite_array
from .state_functions import StateFunction


class StateFunctions(dict):
    """The functions of a compiled model by name, each built when it is first used; others may be much larger."""

    def __init__(self, dynamics):
        super().__init__()
        self.dynamics = dynamics

    def __missing__(self, name):
        function = self[name] = self.dynamics._state_function(name)
        return function


class JointDynamics:
    """Joint-space matrices, body poses and Jacobians of a compiled model.

    Every argument may have leading dimensions. They are broadcast against each other and precede the dimensions of the result. A
    loop in native code evaluates all states.
    """

    model: Any
    system: Any
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    kernels: Any
    formulation_object: Any
    _matrices: dict
    _derivatives: dict

    def _batch(self, q=None, v=None, t=0.0, p=None, **more) -> Batch:
        raise NotImplementedError

    @cached_property
    def matrix_functions(self) -> dict[str, ca.Function]:
        """Mass and Coriolis matrix, gravity, forward and inverse dynamics, Jacobians, as casadi.Function, by name."""
        from . import joint_space_matrices

        return joint_space_matrices.functions(self.formulation_object)

    @cached_property
    def _functions(self):
        return StateFunctions(self)

    def _state_function(self, name):
        """The function of a name of `joint_space_matrices.QUANTITIES` or `whole_body.QUANTITIES`, or of a tuple: the name of
        one of `frame_motion.QUANTITIES`, the frame, and its options."""
        from .. import kernels

        if isinstance(name, tuple):
            return self._frame_function(*name)
        from . import body_points, joint_space_matrices, whole_body

        n, bodies = self.v.size, len(self.system.bodies)
        matrices = {
            "mass_matrix": (n, n), "coriolis": (n, n), "body_jacobian": (6 * bodies, n), "centroidal_matrix": (6, n),
            "center_of_mass_jacobian": (3, n), "regressor": (n, 10 * bodies),
        }  # fmt: skip
        module = whole_body if name in whole_body.QUANTITIES else joint_space_matrices
        make = body_points.poses if name == "poses" else lambda f: module.function(f, name)
        kernel = kernels.build({name: make(self.formulation_object)})[name]
        taken = ARGUMENTS[name]
        if name in joint_space_matrices.QUANTITIES:
            taken = " ".join(module.QUANTITIES[name][0])
        return self._function_of_kernel(kernel, taken, ARGUMENTS[name], matrices.get(name, ()))

    def _function_of_kernel(self, kernel, taken, inputs, matrix=()):
        """A kernel, which takes the inputs `taken`, as a function of `inputs`.

        matrix   rows and columns of its result, which is stored column by column
        """
        sizes = {name: kernel.size_in(i) for i, name in enumerate(taken.split())}

        def general(*values):
            batch = self._batch_of(dict(zip(inputs.split(), values)), sizes)
            return batch.reshape(kernel.over(*batch[taken])[0], *matrix)

        def view(x):
            return x.reshape(matrix[::-1]).T if matrix else x[: kernel.size_out(0)]

        return StateFunction(inputs, self._starts(), [(kernel, taken, "result")], ("result", view), general)

    def _starts(self):
        """Values of arguments that are None."""
        zeros = np.zeros(self.v.size)
        return {
            "q": lambda: self.q,
            "v": lambda: self.v,
            "p": lambda: self.p,
            **dict.fromkeys(("a", "tau"), lambda: zeros),
        }

    def _batch_of(self, values, sizes):
        """The batch of named values; those that are None are taken from the start."""
        starts = self._starts()
        known = {"q": self.q.size, "v": self.v.size, "p": self.p.size, **sizes, "t": None}
        given = {name: starts[name]() if x is None and name in starts else x for name, x in values.items()}
        return Batch(**{name: (x, known[name]) for name, x in given.items()})

    def mass_matrix(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """M(q)."""
        return self._functions["mass_matrix"](t, q, p)

    def coriolis(self, q: Any = None, v: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """C(q, v) with Ṁ − 2 C skew-symmetric."""
        return self._functions["coriolis"](t, q, v, p)

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
        return self._functions["gravity"](t, q, p)

    def inverse_dynamics(self, q: Any = None, v: Any = None, a: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """Joint forces, in addition to the model's own, that produce accelerations a (recursive Newton–Euler, loops open)."""
        return self._functions["inverse_dynamics"](t, q, v, a, p)

    def forward_dynamics(
        self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, p: Any = None
    ) -> np.ndarray:
        """v̇ under the model's forces and additional joint forces tau, with the constraints satisfied."""
        return self._functions["forward_dynamics"](t, q, v, tau, p)

    def body_jacobian(self, name: str, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """J of one body: (ẋ, ω) = J v, in world and in body axes."""
        k = self._body_index(name)
        return self._functions["body_jacobian"](t, q, p)[..., 6 * k : 6 * k + 6, :]

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

    # frames and points of bodies

    def poses(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """H of all bodies' frames, world axes, in the order of the model: shape (…, body, 4, 4)."""
        flat = self._functions["poses"](t, q, p)
        return flat.reshape(*flat.shape[:-1], len(self.system.bodies), 4, 4).swapaxes(-1, -2)

    def point(self, name: str, point: Any = (0, 0, 0), q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """World position of a point of a body; `point` is given in the body's own axes, from the origin of its frame."""
        self._body_index(name)
        return self._functions["point", name](t, q, p, point)

    def point_jacobian(
        self, name: str, point: Any = (0, 0, 0), q: Any = None, p: Any = None, t: Any = 0.0
    ) -> np.ndarray:
        """J of a point of a body: its velocity is J v, in world axes; shape (…, 3, velocities)."""
        self._body_index(name)
        return self._functions["point_jacobian", name](t, q, p, point)

    def pose(self, frame: Any, q: Any = None, p: Any = None, t: Any = 0.0, point: Any = (0, 0, 0)) -> np.ndarray:
        """H of a frame in the world, 4 × 4: of a body, of a site or a port by its name, or of `body.frame(…)`.

        point   moves the frame's origin, in the frame's own axes; so in all functions of frames
        """
        return self._functions["pose", self._frame_key(frame), "world"](t, q, p, point)

    def velocity(
        self,
        frame: Any,
        q: Any = None,
        v: Any = None,
        p: Any = None,
        t: Any = 0.0,
        point: Any = (0, 0, 0),
        axes: str = "world",
    ) -> np.ndarray:
        """Velocity of a frame's origin and angular velocity of the frame, six numbers, in axes of the world or of the frame."""
        return self._functions["velocity", self._frame_key(frame), self._axes(axes)](t, q, v, p, point)

    def jacobian(
        self, frame: Any, q: Any = None, p: Any = None, t: Any = 0.0, point: Any = (0, 0, 0), axes: str = "world"
    ) -> np.ndarray:
        """J of a frame, shape (…, 6, velocities): its velocity and angular velocity are J v, in axes of the world or the frame."""
        return self._functions["jacobian", self._frame_key(frame), self._axes(axes)](t, q, p, point)

    def jacobian_rate(
        self,
        frame: Any,
        q: Any = None,
        v: Any = None,
        p: Any = None,
        t: Any = 0.0,
        point: Any = (0, 0, 0),
        axes: str = "world",
    ) -> np.ndarray:
        """J̇ of a frame: its acceleration and angular acceleration are J v̇ + J̇ v."""
        return self._functions["jacobian_rate", self._frame_key(frame), self._axes(axes)](t, q, v, p, point)

    def operational_inertia(
        self, frame: Any, q: Any = None, p: Any = None, t: Any = 0.0, point: Any = (0, 0, 0), axes: str = "world",
        rows: str = "all",
    ) -> np.ndarray:  # fmt: skip
        """Λ = (J M⁻¹ Jᵀ)⁻¹ of a frame, constraints open; `rows`: "all", "position" or "rotation" of the Jacobian's rows."""
        from .frame_motion import ROWS

        if not isinstance(rows, str) or rows not in ROWS:
            raise OptionError(f"operational_inertia: unknown rows {rows!r}. Known: {', '.join(ROWS)}.")
        flat = self._functions["operational_inertia", self._frame_key(frame), self._axes(axes), rows](t, q, p, point)
        regular = flat[-1] > SINGULAR_BELOW if flat.ndim == 1 else (flat[..., -1] > SINGULAR_BELOW).all()
        if not regular:
            raise OptionError(
                f"operational_inertia: the Jacobian of frame {frame!r} has dependent rows here, so that no inertia exists; "
                f"give fewer rows (rows={' or '.join(map(repr, list(ROWS)[1:]))}) or a state that is not singular"
            )
        n = 6 if rows == "all" else 3
        return flat[..., :-1].reshape(*flat.shape[:-1], n, n)

    def _frame_function(self, name, frame, *options):
        from .. import kernels
        from . import body_points, frame_motion

        if name in ("point", "point_jacobian"):
            graphs = {name: body_points.functions(self.formulation_object, self.model[frame])[name]}
            taken, matrix = "t q p point", (3, self.v.size) if name == "point_jacobian" else ()
        else:
            if not isinstance(frame, str):
                frame = self._frames[frame]
            graphs = {name: frame_motion.function(self.formulation_object, name, frame, *options)}
            taken = frame_motion.QUANTITIES[name]
            matrix = {"pose": (4, 4), "jacobian": (6, self.v.size), "jacobian_rate": (6, self.v.size)}.get(name, ())
        return self._function_of_kernel(kernels.build(graphs)[name], taken, taken, matrix)

    def _frame_key(self, frame):
        """A key for a frame: its name, or the identity of an object that is kept as long as this one."""
        if type(frame) is str:
            return frame
        self._frames.setdefault(id(frame), frame)
        return id(frame)

    @cached_property
    def _frames(self) -> dict[int, Any]:
        return {}

    @staticmethod
    def _axes(axes):
        if axes == "world" or axes == "frame":
            return axes
        raise OptionError(f"axes must be 'world' or 'frame', got {axes!r}")

    def _body_index(self, name):
        """The index of a body in the order of the model."""
        if not isinstance(name, str) or name not in self.system.bodies:
            raise OptionError(f"unknown body {name!r}. Known: {', '.join(self.system.bodies)}.")
        return self.system.bodies.index(name)

    # the whole mechanism

    def center_of_mass(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """Centre of mass of all bodies, in the world."""
        return self._functions["center_of_mass"](t, q, p)

    def center_of_mass_jacobian(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """J of the centre of mass: its velocity is J v; shape (…, 3, velocities)."""
        return self._functions["center_of_mass_jacobian"](t, q, p)

    def centroidal_momentum(self, q: Any = None, v: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """Momentum and angular momentum about the centre of mass of all bodies, six numbers in world axes."""
        return self._functions["centroidal_momentum"](t, q, v, p)

    def centroidal_matrix(self, q: Any = None, p: Any = None, t: Any = 0.0) -> np.ndarray:
        """A of the centroidal momentum A v; shape (…, 6, velocities)."""
        return self._functions["centroidal_matrix"](t, q, p)

    def regressor(self, q: Any = None, v: Any = None, a: Any = None, t: Any = 0.0, p: Any = None) -> np.ndarray:
        """Y with M a + C v + g = Y π for the bodies' `inertial_parameters` π; forces of the model other than gravity are not
        part of it."""
        return self._functions["regressor"](t, q, v, a, p)

    def inertial_parameters(self, p: Any = None) -> np.ndarray:
        """π of all bodies in the order of the model, ten numbers each: see `whole_body.PARAMETERS`."""
        from .whole_body import inertial_parameters

        values = dict(zip((s.name() for s in self.model.inputs), self._batch(p=p).rows["p"]))
        return inertial_parameters(self.model, values)

    def base_parameters(self, samples: int = 50) -> Any:
        """The combinations of inertial parameters that inverse dynamics depends on: see `whole_body.BaseParameters`.

        samples   number of random states at which the regressor is evaluated
        """
        from . import whole_body

        if not isinstance(samples, int) or isinstance(samples, bool) or not 1 <= samples <= 100_000:
            raise OptionError(f"base_parameters: samples must be a whole number from 1 to 100000, got {samples!r}")
        random = np.random.default_rng(0)
        n = self.v.size
        v, a, u = random.standard_normal((3, samples, n))
        q = self.retract(np.broadcast_to(self.q, (samples, self.q.size)), u)
        names = [f"{body}.{what}" for body in self.system.bodies for what in whole_body.PARAMETERS]
        return whole_body.base_parameters(names, self.regressor(q, v, a).reshape(samples * n, len(names)))

    # configurations

    def configuration(self, values: Any, q: Any = None) -> np.ndarray:
        """q with the coordinates of tree joints set by name; all others as in `q`, or as in the start.

        A value is the coordinates of the joint, or a 4 × 4 pose of its second body's frame relative to its first body's (in the
        world, for a joint with the ground). The coordinates of a free joint are a rotation vector and a position.
        """
        from .configurations import set_joints

        return set_joints(self.formulation_object, values, np.array(self._batch(q).rows["q"]))

    def retract(self, q: Any, u: Any) -> np.ndarray:
        """The configuration that is reached from q with the velocities u in unit time: q ⊕ u."""
        batch = Batch(q=(q, self.q.size), u=(u, self.v.size))
        return batch.reshape(self.kernels["retract"].over(*batch["q u"])[0])

    def difference(self, q: Any, target: Any) -> np.ndarray:
        """u with q ⊕ u = target: the difference of two configurations in the tangent of q, for spherical and free joints too."""
        return self._functions["difference"](q, target)

    def computed_torque(
        self, q: Any, v: Any, target: Any, target_rate: Any = None, target_acceleration: Any = None, *,
        stiffness: Any = 0.0, damping: Any = 0.0, t: Any = 0.0, p: Any = None,
    ) -> np.ndarray:  # fmt: skip
        """Joint forces for the accelerations a_d + D (v_d − v) + K (q_d ⊖ q): inverse dynamics with feedback.

        target, target_rate, target_acceleration   q_d, v_d, a_d; zero where not given
        stiffness, damping                         K [1/s²], D [1/s]: a number, or one for each velocity
        """
        n = self.v.size
        K, D = (np.asarray(finite_array(np.broadcast_to(x, n) if np.ndim(x) == 0 else x, name, n))
                for name, x in (("stiffness", stiffness), ("damping", damping)))  # fmt: skip
        zero = np.zeros(n)
        rate, a = (zero if x is None else finite_array(x, name, n)
                   for name, x in (("target_rate", target_rate), ("target_acceleration", target_acceleration)))  # fmt: skip
        now = self.v if v is None else finite_array(v, "v", n)
        wanted = a + D * (rate - now) + K * self.difference(self.q if q is None else q, target)
        return self.inverse_dynamics(q, v, wanted, t, p)


SINGULAR_BELOW = 1e-12  # smallest pivot of Λ⁻¹ / its diagonal element below which rows of a Jacobian are dependent
ARGUMENTS = {  # of the functions by name, in the order in which the methods pass them
    "mass_matrix": "t q p",
    "coriolis": "t q v p",
    "gravity": "t q p",
    "inverse_dynamics": "t q v a p",
    "forward_dynamics": "t q v tau p",
    "body_jacobian": "t q p",
    "poses": "t q p",
    "center_of_mass": "t q p",
    "center_of_mass_jacobian": "t q p",
    "centroidal_momentum": "t q v p",
    "centroidal_matrix": "t q p",
    "regressor": "t q v a p",
}
