"""Elements of a large system by numbers: the ends of links, constraints and forces, and what occurs in results."""

from typing import NamedTuple

import numpy as np

NO_BODY = np.iinfo(np.int32).min  # the number of a missing second end


class OutputElements(NamedTuple):
    """Elements of a system that occur in its results, in their order; constraints: those that have a reaction."""

    bodies: list
    joints: list
    constraints: list


class Ends(NamedTuple):
    """Numbers of the bodies and grounds to which links, constraints and forces are attached (`PlainSystem.ends`).

    grounds        grounds in use
    roots          links that are attached to a ground
    root_grounds   number of the ground of each of these links
    constraints    numbers of both ends of every constraint
    forces         numbers of both ends of every force
    """

    grounds: list
    roots: np.ndarray
    root_grounds: np.ndarray
    constraints: np.ndarray
    forces: np.ndarray
