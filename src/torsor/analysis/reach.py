"""How far a coordinate of a mechanism can move: from its start on, until a loop or a stop does not let it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..describe.model import Model
from ..errors import ModelError, OptionError
from ..kernels.deriving import deriving
from . import singular
from .assembly import assemble
from .drives import driven
from .following import SAME, Follower
from .given import formulation_given, model_given
from .kinematics import RANK
from .problem import Problem
from .targets import ANGLE, coordinate_of

FAR = 10.0  # sizes of a model, beyond which no end of a length is looked for
NEAR = 0.02  # rad, or the size of the model: how far a start is left that is a singular position
TURNS = 4  # of an angle that are followed where it does not come back to where it was
ENDLESS = "turns fully"


@dataclass(frozen=True)
class Range:
    """How far a coordinate can move, and what ends it there, in words; ±inf where nothing does.

    start   where it was followed from
    """

    coordinate: str
    lower: float
    upper: float
    lower_end: str
    upper_end: str
    start: float

    @property
    def turns(self) -> bool:
        """Whether it turns fully."""
        return self.upper_end == ENDLESS


@deriving
def range_of_motion(
    model: Model,
    coordinate: str,
    start: Any = None,
    parameters: Mapping[str, float] | None = None,
    formulation: str | None = None,
) -> Range:
    """How far a joint coordinate can move, followed from the start in both directions.

    start        configuration to begin with, as in `assemble`: another assembly of a loop may have another range
    parameters   values of parameters that differ from the model's
    formulation  "relative" or "absolute"; None: joint coordinates, where the model has them

    A coordinate ends at a dead point, where its loop does not let it go on, at a stop of `ts.Limit`, or not at all. Where the
    mechanism has further freedoms they move as little as possible, and the end is the first that is met on that way.
    """
    model_given(model, "range_of_motion")
    formulation = formulation_given(formulation)
    one = coordinate_of(model, coordinate, "range_of_motion")
    twin, first = _placed(model, coordinate, start, parameters, formulation)
    angle = one.units == (ANGLE,)
    far = 2 * np.pi if angle else FAR * twin.problem.length
    still = lambda x: (0 * x, twin.inputs(0 * x, x[:, None], *np.zeros((2, len(x), 1))))
    follower = Follower(twin, still)
    ends = []
    for way in (-far, far):
        at, free, q, turns = _followed(twin, follower, first, way, angle)
        reason = (ENDLESS if angle else "no end was found") if free else singular.ending(twin, follower, at, q, turns)
        ends.append((way / far * np.inf if free else float(at), reason))
    (lower, lower_end), (upper, upper_end) = ends
    if angle and (lower_end == ENDLESS or upper_end == ENDLESS) and "stop" not in lower_end + upper_end:
        lower, upper, lower_end, upper_end = -np.inf, np.inf, ENDLESS, ENDLESS
    return Range(coordinate, lower, upper, lower_end, upper_end, first)


def _followed(twin, follower, first, way, angle):
    """Where a coordinate comes in one direction, whether nothing ended it, and the configuration and counted angles there. An angle
    turns fully where the mechanism is as before after a turn; it may end in a later one."""
    dynamics, at = twin.problem.dynamics, first
    q, turns = dynamics.q, dynamics.p[twin.turns]
    here = dynamics.poses(q, dynamics.p)
    for _ in range(TURNS if angle else 1):
        goal = at + way
        at, q, turns = follower.go(q, turns, at, goal)
        if at != goal:
            return at, False, q, turns
        t, p = follower.at(at, turns)
        off = (dynamics.poses(q, p[0], t[0, 0]) - here) / np.array([1, 1, 1, twin.problem.length])
        if np.abs(off).max() < SAME:
            break
    return at, True, q, turns


def _placed(model, coordinate, start, parameters, formulation):
    """The twin in which the coordinate is driven, beside a singular position where it starts at one; and the coordinate there."""
    at = None
    if start is not None:
        at = assemble(model, {}, start=start, parameters=parameters, formulation=formulation).coordinates
    twin = driven(model, [coordinate], None, parameters, formulation, at)
    if _dependent(twin):
        at = _beside(model, parameters, formulation)
        twin = driven(model, [coordinate], None, parameters, formulation, at)
    if _dependent(twin):
        raise OptionError(
            f"model {model.name!r}: {coordinate!r} cannot move: the constraints and drives of the model determine it"
        )
    return twin, twin.problem.started()[coordinate]


def _dependent(twin):
    """Whether the other constraints hold the driven coordinate, at least where it starts."""
    problem, dynamics = twin.problem, twin.problem.dynamics
    _, G = problem.held(np.zeros(1), dynamics.q[None, :], dynamics.p)
    other = [k for k, row in enumerate(problem.rows) if problem.f.rows[row].label != twin.rows[-1]]
    ranks = [int((np.linalg.svd(x, compute_uv=False) > RANK).sum()) for x in (G[0], G[0][other])]
    return ranks[0] == ranks[1]


def _beside(model, parameters, formulation):
    """Coordinates of a configuration near the start."""
    problem = Problem(model, [], (), parameters, formulation)
    dynamics = problem.dynamics
    random = np.random.default_rng(1)
    for _ in range(10):
        q = dynamics._examiner.wander(0.0, dynamics.q, dynamics.p, random, NEAR)
        if q is not None:
            values = problem.coordinates(np.zeros(1), q[None, :], dynamics.p)[0]
            return dict(zip(dynamics.system.joint_coordinates, values.tolist()))
    raise ModelError(f"model {model.name!r}: nothing in it can move")
