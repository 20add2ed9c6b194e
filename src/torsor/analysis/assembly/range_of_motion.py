"""`torsor.range_of_motion`: the interval in which a joint coordinate can move."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError, OptionError
from ...kernels.derivation_lock import deriving
from ...model.model import Model
from ..arguments import formulation_name, require_model
from ..kinematics import singular_points
from ..kinematics.drives import drive_model
from ..kinematics.path_continuation import PathFollower
from ..kinematics.path_tolerances import RANK_SINGULAR_VALUE, SAME_ASSEMBLY
from .assembly import assemble
from .assembly_problem import Problem
from .assembly_targets import ANGLE, coordinate_of

LENGTH_SEARCH_LIMIT = 10.0  # travel of a length coordinate that is searched, in sizes of the model
SINGULAR_START_DISTANCE = 0.02  # rad, or the size of the model: displacement from a start that is a singular position
TURNS_FOLLOWED = 4  # turns of an angle that are searched while the mechanism does not return to its start
TURNS_FULLY = "turns fully"


@dataclass(frozen=True)
class Range:
    """The interval in which a coordinate can move, and in words what limits it; ±inf where nothing does.

    start   value of the coordinate at which the search began
    """

    coordinate: str
    lower: float
    upper: float
    lower_end: str
    upper_end: str
    start: float

    @property
    def turns(self) -> bool:
        """True if the coordinate turns fully."""
        return self.upper_end == TURNS_FULLY


@deriving
def range_of_motion(
    model: Model,
    coordinate: str,
    start: Any = None,
    parameters: Mapping[str, float] | None = None,
    formulation: str = "auto",
) -> Range:
    """Find the interval in which a joint coordinate can move, by path continuation from the start in both directions.

    start        configuration at which the search begins, as in `assemble`: another assembly of a loop may have another range
    parameters   values of parameters that differ from the model's
    formulation  "relative" or "absolute"; "auto": joint coordinates, where the model has them

    A coordinate is limited by a dead point of its loop, by a stop of `ts.Limit`, or not at all. Further degrees of freedom of the
    mechanism move as little as possible; the result is the first limit on that path.
    """
    require_model(model, "range_of_motion")
    formulation = formulation_name(formulation)
    target = coordinate_of(model, coordinate, "range_of_motion")
    driven, begin = _driven_start(model, coordinate, start, parameters, formulation)
    angle = target.units == (ANGLE,)
    far = 2 * np.pi if angle else LENGTH_SEARCH_LIMIT * driven.problem.length

    def inputs(x):
        return 0 * x, driven.inputs(0 * x, x[:, None], *np.zeros((2, len(x), 1)))

    follower = PathFollower(driven, inputs)
    ends = []
    for travel in (-far, far):
        at, endless, q, turns = _follow(driven, follower, begin, travel, angle)
        if endless:
            ends.append((travel / far * np.inf, TURNS_FULLY if angle else "no end was found"))
        else:
            ends.append((float(at), singular_points.end_reason(driven, follower, at, q, turns)))
    (lower, lower_end), (upper, upper_end) = ends
    if angle and (lower_end == TURNS_FULLY or upper_end == TURNS_FULLY) and "stop" not in lower_end + upper_end:
        lower, upper, lower_end, upper_end = -np.inf, np.inf, TURNS_FULLY, TURNS_FULLY
    return Range(coordinate, lower, upper, lower_end, upper_end, begin)


def _follow(driven, follower, begin, travel, angle):
    """Follow a coordinate in one direction.

    Returns its last value, True if nothing limits it, and the configuration and counted angles there. An angle turns fully if the
    mechanism returns to its start after a turn; otherwise it may be limited in a later turn.
    """
    dynamics, at = driven.problem.dynamics, begin
    q, turns = dynamics.q, dynamics.p[driven.turns]
    start_poses = dynamics.poses(q, dynamics.p)
    for _ in range(TURNS_FOLLOWED if angle else 1):
        goal = at + travel
        at, q, turns = follower.advance(q, turns, at, goal)
        if at != goal:
            return at, False, q, turns
        t, p = follower.inputs_at(at, turns)
        off = (dynamics.poses(q, p[0], t[0, 0]) - start_poses) / np.array([1, 1, 1, driven.problem.length])
        if np.abs(off).max() < SAME_ASSEMBLY:
            break
    return at, True, q, turns


def _driven_start(model, coordinate, start, parameters, formulation):
    """The model with the coordinate driven, and its start value. A singular start is left by a small displacement."""
    at = None
    if start is not None:
        at = assemble(model, {}, start=start, parameters=parameters, formulation=formulation).coordinates
    driven = drive_model(model, [coordinate], None, parameters, formulation, at)
    if _is_determined(driven):
        at = _coordinates_near_start(model, parameters, formulation)
        driven = drive_model(model, [coordinate], None, parameters, formulation, at)
    if _is_determined(driven):
        raise OptionError(
            f"model {model.name!r}: {coordinate!r} cannot move: the constraints and drives of the model determine it"
        )
    return driven, driven.problem.start_coordinates()[coordinate]


def _is_determined(driven):
    """True if the other constraints determine the driven coordinate at the start."""
    problem, dynamics = driven.problem, driven.problem.dynamics
    _, G = problem.constraint_rows(np.zeros(1), dynamics.q[None, :], dynamics.p)
    other = [k for k, row in enumerate(problem.rows) if problem.f.rows[row].label != driven.rows[-1]]
    ranks = [int((np.linalg.svd(x, compute_uv=False) > RANK_SINGULAR_VALUE).sum()) for x in (G[0], G[0][other])]
    return ranks[0] == ranks[1]


def _coordinates_near_start(model, parameters, formulation):
    """Joint coordinates of a random configuration near the start of the model."""
    problem = Problem(model, [], (), parameters, formulation)
    dynamics = problem.dynamics
    random = np.random.default_rng(1)
    for _ in range(10):
        q = dynamics._examiner.sample_nearby(0.0, dynamics.q, dynamics.p, random, SINGULAR_START_DISTANCE)
        if q is not None:
            values = problem.coordinates(np.zeros(1), q[None, :], dynamics.p)[0]
            return dict(zip(dynamics.system.joint_coordinates, values.tolist()))
    raise ModelError(f"model {model.name!r}: the mechanism cannot move: its constraints leave no freedom")
