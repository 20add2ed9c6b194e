"""Where the bodies of a model are before it runs."""

import json
from copy import deepcopy
from typing import Any

import numpy as np

from ..errors import TorsorError
from ..lie import pose_stacks
from .body_graph import redundant_rows


def start_poses(
    model: Any, parameters: dict | None = None
) -> tuple[tuple[np.ndarray, np.ndarray] | None, dict[str, Any]]:
    """Positions and quaternions at the start of a run, and what is known of the model; None where it has no start: it is then
    shown as it was described, with the reason."""
    from ..stepping import Simulation

    if not model.bodies:
        return None, {}
    try:
        sim = Simulation(deepcopy(model), parameters=parameters)  # the model itself can still be changed
        motion = sim.state.motion
        system = sim._prepared.system
        info = {
            "degrees_of_freedom": system.freedom,
            "redundant": redundant_rows(
                {"redundant_constraints": json.dumps([system.declared[k][1] for k in system.left_out])}
            ),
        }
    except TorsorError as error:
        return None, {"warning": str(error), "notes": [str(error)]}
    return (motion["position"], pose_stacks.quaternions(motion["rotation"])), info
