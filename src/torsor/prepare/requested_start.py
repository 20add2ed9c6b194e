"""A system at a requested start, assembled so that it satisfies the constraints, in the coordinates of its formulation."""

import sys
import warnings
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..errors import AssemblyError, OptionError
from ..events import Clock
from ..formulations.fingerprint import time_dependent_expressions
from ..formulations.tables import tree_schedule
from ..lie import pose_stacks
from ..start.request import StartNames
from . import large_systems
from .event_lowering import in_constraints
from .prepare import Start, describe_system, numeric_formulation_of, run_kernels
from .velocity_block import state_of

# difference from the requested start / model size, or in rad; for speeds: / largest speed
START_DIFFERENCE_WARNED = 1e-3  # above this there is a warning
START_DIFFERENCE_REPORTED = 1e-9  # above this it is reported in the result
LISTED_CHANGES = 8  # changes that a warning lists


class Starts:
    """Starts of a prepared system: that of the model, or a requested one.

    own       the system at the start of the model
    built     its kernels
    options   `KernelOptions`
    """

    def __init__(self, task, system, built, options):
        self.task = task
        self.own = system
        self.built = built
        self.options = options
        self.model = task.model

    @cached_property
    def names(self):
        return StartNames(self.model, self.own)

    @cached_property
    def _derivation(self):
        return self.task.derivation()

    @cached_property
    def _assembly(self):
        """The numeric formulation, and the solver for requested starts in absolute coordinates."""
        from ..start import requested
        from ..start.constraints import Examiner
        from ..start.joint_placement import Motion

        numeric = numeric_formulation_of(self._derivation, self.own, self.own.choice.released)
        outputs = self._outputs(self.own, self.built)
        bodies = self.own.bodies
        R = outputs["rotation"].reshape(-1, 3, 3).swapaxes(1, 2)
        x, v, w = (outputs[name].reshape(-1, 3) for name in ("position", "velocity", "angular_velocity"))
        poses = dict(zip(bodies, pose_stacks.stack_poses(R, x)))
        p = np.concatenate([self.own.p[self.model.input_layout.model_inputs], np.zeros(len(numeric.absolute.turns))])
        motion = Motion(poses, dict(zip(bodies, zip(v, w))), outputs["coordinate"], outputs["rate"], p)
        examiner = Examiner(numeric.absolute, numeric.absolute.scales)
        keep = [k for k in examiner.places if k not in self.own.left_out]
        diagnosis = {self.own.t: {"likely": keep, "mobility": self.own.freedom}}
        solver = requested.RequestedStarts(numeric.absolute, examiner, self.own.joint_coordinates, motion, diagnosis)
        return numeric, solver

    def _outputs(self, system, built):
        """Outputs at the start of a system, by name."""
        t = np.array([system.t])
        p = np.array(system.p)
        x = state_of(built, system.state, system.t, system.q, system.v, p)
        xdot, lam = built["rate"](t, x, p, built["factor"](t, x, p)[0], np.zeros(4))
        return system.outputs.split(built["outputs"](t, x, p, xdot, lam)[0])

    def at(self, start, t=None):
        """The system at a requested start, and its kernels. Its `changes` list the differences from the request; large ones cause a
        warning.

        t   time of the start [s]; None: 0
        """
        request = self.names.parse({} if start is None else start)
        if t is None:
            t = 0.0
            self._warn_about_time(request.time)
        if (direct := self._without_assembly(request, float(t))) is not None:
            return direct, self.built
        if (plain := self._plain_system) is not None:
            return self._through_tables(plain, request, float(t)), self.built
        numeric, solver = self._assembly
        q, v, p, diagnosis, completed = solver.start(float(t), request)
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise AssemblyError(f"model {self.model.name!r}: start: it contains values that are not finite numbers")
        if self.own.watches:
            system, built = self._with_new_choice(float(t), q, v, p, diagnosis)
        else:
            system, built = self._with_same_kernels(numeric, float(t), q, v, p)
        worst, missing, changes = self._differences(request, system, built)
        if worst > START_DIFFERENCE_WARNED:
            more = f" and {len(changes) - LISTED_CHANGES} more" if len(changes) > LISTED_CHANGES else ""
            listed = "; ".join(changes[:LISTED_CHANGES])
            message = f"model {self.model.name!r}: the requested start does not satisfy the constraints: {listed}{more}"
            if self.task.exactly and (request.named or missing > START_DIFFERENCE_WARNED):
                raise AssemblyError(message)
            warnings.warn(message, stacklevel=_user_stacklevel())
        return replace(system, changes=changes + completed), built

    def _warn_about_time(self, when):
        """Warn if a start was recorded at another time than 0 and the model depends on time."""
        if when and (
            time_dependent_expressions(self.model) or any(_depends_on_time(event) for event in self.model.events)
        ):
            warnings.warn(
                f"model {self.model.name!r}: the start was at t = {when:.6g} s, and the run begins at t = 0, although forces, "
                "imposed motions or events of the model depend on time. To continue at that time, use sim.reset(start, "
                f"time={when:.6g}) of a Simulation, or torsor.resume(folder, model, until=…) of a run with a checkpoint",
                stacklevel=_user_stacklevel(),
            )

    def _without_assembly(self, request, t):
        """The system at a start that needs no assembly; else None.

        This is so if only states are requested, or if configuration and velocities are the coordinates and rates of joints without
        constraints, and no constraint or ground depends on the time or the requested states.
        """
        own = self.own
        q, v, p = (np.array(x) for x in (own.q, own.v, own.p))
        moves = own.keep or any(ground.moves for ground in self.model.grounds)
        if (t != own.t and moves) or any(name in request.states for name in self._states_in_constraints):
            return None
        state_places = dict(own.states)
        p[[state_places[name] for name in request.states]] = list(request.states.values())
        if not request.moves:
            return replace(own, t=t, p=p.tolist())
        if request.bodies or not self._joints_are_state:
            return None
        places = {label: k for k, label in enumerate(own.coordinates)}
        for target, values in ((q, request.coordinates), (v, request.rates)):
            target[[places[label] for label in values]] = list(values.values())
        return replace(own, t=t, q=q.tolist(), v=v.tolist(), p=p.tolist(), changes=[])

    @cached_property
    def _states_in_constraints(self):
        """Names of the states that constraints depend on."""
        symbols = in_constraints(self.model) if self.model.states else ()
        return [state.name for state in self.model.states if state.symbol.element_hash() in symbols]

    @cached_property
    def _joints_are_state(self):
        """True if configuration and velocities are the coordinates and rates of joints, in any order, and there are no constraints.
        Tested at another state than the start."""
        own = self.own
        if own.keep or own.sizes["turns"] or len(own.q) != len(own.v):
            return False
        if sorted(own.coordinates) != sorted(own.joint_coordinates):
            return False
        q, v = np.array(own.q) + 0.1, np.array(own.v) - 0.2
        outputs = self._outputs(replace(own, q=q.tolist(), v=v.tolist()), self.built)
        order = [self._places[label] for label in own.coordinates]
        limit = START_DIFFERENCE_REPORTED
        return all(
            np.allclose(outputs[name][order], x, rtol=limit, atol=limit) for name, x in (("coordinate", q), ("rate", v))
        )

    @cached_property
    def _places(self):
        """Places of the joint coordinates in results, by label."""
        return {label: k for k, label in enumerate(self.own.joint_coordinates)}

    @cached_property
    def _plain_system(self):
        """The `PlainSystem` of a model that runs through tables of shared code; else None."""
        signals = dict(self.model.signals) | self.task.signals
        if (
            not tree_schedule.is_large(tree_schedule.size_of_model(self.model))
            or self.options.metric != large_systems.METRIC
            or self.options.needs
        ):
            return None
        model, signals = large_systems.fix_parameters(self.model, signals, self.task.values())
        return large_systems.system_of(model, self.task.formulation, signals)

    def _through_tables(self, plain, request, t):
        """The system of a large tree or forest at a start that is requested for joints and free bodies."""
        from ..start import large_start

        own = self.own
        owner = f"model {self.model.name!r}: start: {len(self.model.bodies)} bodies run through tables of shared code"
        if own.keep:
            raise OptionError(
                f"{owner}, which support only the start of the model if it has loops; formulation='absolute' supports any start"
            )
        outputs = self._outputs(own, self.built)
        on_joints = {b.name for b, joint in zip(plain.tree.bodies, plain.tree.joints) if joint.name in self.model}
        refused = [body for body, _ in request.bodies if body in on_joints]
        if refused and not request.whole:
            raise OptionError(
                f"{owner}, which take coordinates and rates of joints, and positions and velocities of free bodies; "
                f"{refused[0]!r} hangs on a joint"
            )
        coordinates = outputs["coordinate"].copy()
        rates = outputs["rate"].copy()
        for target, values in ((coordinates, request.coordinates), (rates, request.rates)):
            target[[self._places[label] for label in values]] = list(values.values())
        places: dict[str, list[int]] = {}
        for label, place in self._places.items():
            places.setdefault(label.rpartition("[")[0] or label, []).append(place)
        named = {label.rpartition("[")[0] or label for label in [*request.coordinates, *request.rates]}
        joints = {name: (coordinates[places[name]], rates[places[name]]) for name in named}
        q, v = large_start.requested_link_state(plain.tree, np.array(own.q), np.array(own.v), joints, request.bodies)
        p, state_places = np.array(own.p), dict(own.states)
        p[[state_places[name] for name in request.states]] = list(request.states.values())
        return replace(own, t=t, q=q.tolist(), v=v.tolist(), p=p.tolist(), changes=[])

    def _with_same_kernels(self, numeric, t, q, v, p):
        """The system at a start and its kernels, if they do not depend on a choice: they are the same for every start."""
        q, v, p = numeric.adopt(t, q, v, p)
        if numeric.turns:
            x = self.own.state.join_blocks(q, v, p)
            p[self.model.input_layout.turns] = self.built["turns"](np.array([t]), x, p)[0]
        return replace(self.own, t=t, q=q.tolist(), v=v.tolist(), p=p.tolist()), self.built

    def _with_new_choice(self, t, q, v, p, diagnosis):
        """The system at a start and its kernels, with rows and dependent coordinates chosen at this start."""
        from ..start.model_start import GivenStart

        scales = self._assembly[1].examiner.scales
        start = Start(GivenStart(q, p, scales, self.own.mass, self.own.inertia), q, v, diagnosis, [])
        system = describe_system(self._derivation, self.options, t, run_kernels, start, self.own.keep)
        return system, self._derivation.library(system.choice, run_kernels)

    def _differences(self, request, system, built):
        """Differences between a system and the requested start: the largest, the norm of those of coordinates, and texts."""
        outputs = self._outputs(system, built)
        length = system.length
        units = [length if unit == "m" else 1.0 for unit in system.coordinate_units]
        speeds = [outputs["rate"] / units, outputs["velocity"] / length, outputs["angular_velocity"]]
        fastest = max(*(np.abs(x).max(initial=0.0) for x in speeds), system.scales["rate"], 1e-300)
        worst, missing, changes = self._joint_differences(request, outputs, units, fastest)
        for (body, quantity), value in request.bodies.items():
            k = system.bodies.index(body)
            size = value.size
            actual = outputs[quantity][k * size : (k + 1) * size]
            unit = {"position": length, "velocity": length * fastest, "angular_velocity": fastest}.get(quantity, 1.0)
            difference = np.abs(actual - value.ravel(order="F")).max() / unit
            worst = max(worst, difference)
            if difference > START_DIFFERENCE_REPORTED:
                changes.append(f"{body}.{quantity}: changed by up to {difference * unit:.3g}")
        return worst, missing, changes

    def _joint_differences(self, request, outputs, units, fastest):
        """The same for the requested coordinates and rates of joints. Rotation vectors in `outputs` are replaced by equivalent ones
        that are nearer to the request."""
        from ..start.model_start import unreachable_message

        worst = 0.0
        missing = 0.0
        changes: list[str] = []
        requested = {} if request.whole else {self._places[label]: x for label, x in request.coordinates.items()}
        continuation = self._assembly[1].holding
        for at, other, _ in continuation.shorter_rotation_vectors(
            outputs["coordinate"], [*requested], [*requested.values()]
        ):
            outputs["coordinate"][at] = other
        if request.whole:
            return worst, missing, changes
        for name, values, scale in (("coordinate", request.coordinates, 1.0), ("rate", request.rates, fastest)):
            places = [self._places[label] for label in values]
            signed = [(outputs[name][place] - x) / units[place] for place, x in zip(places, values.values())]
            differences = np.abs(signed) / scale
            worst = max(worst, differences.max(initial=0.0))
            if name == "coordinate" and differences.max(initial=0.0) > START_DIFFERENCE_REPORTED:
                missing = float(np.linalg.norm(signed))
                changes.append(unreachable_message(missing))
            for (label, value), place, difference in zip(values.items(), places, differences):
                if difference > START_DIFFERENCE_REPORTED:
                    suffix = ".rate" if name == "rate" else ""
                    changes.append(f"{label}{suffix}: {value:.6g} became {outputs[name][place]:.6g}")
        return worst, missing, changes


def _depends_on_time(event):
    """True if an event is that of a clock, or its condition contains time."""
    return isinstance(event.watch, Clock) or bool(ca.depends_on(ca.SX(event.watch.phi), time))


def _user_stacklevel():
    """`stacklevel` of a warning that points to the code of the user: the first caller outside torsor."""
    frame = sys._getframe(1)
    count = 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("torsor", "contextlib"):
        frame = frame.f_back
        count += 1
    return count
