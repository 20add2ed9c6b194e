"""Where the bodies of a model are before it runs."""

import json
from copy import deepcopy
from typing import Any

from ..errors import TorsorError
from ..stepping import Simulation
from .body_graph import redundant_rows


def start_motion(model: Any, parameters: dict | None = None) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Poses of the bodies at the start of a run, and what is known of the model; None where it has no start: it is then shown as it
    was described, with the reason."""
    if not model.bodies:
        return None, {}
    try:
        sim = Simulation(deepcopy(model), parameters=parameters)  # the model itself can still be changed
        motion = sim.state.motion
    except TorsorError as error:
        return None, {"warning": str(error), "notes": [str(error)]}
    system = sim._prepared.system
    rows = json.dumps([system.declared[k][1] for k in system.left_out])
    redundant = redundant_rows({"redundant_constraints": rows})
    return motion, {"degrees_of_freedom": system.freedom, "redundant": redundant}
