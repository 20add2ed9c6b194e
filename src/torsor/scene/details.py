"""What elements say of their drawings beyond a word, as plain numbers: bodies by number, expressions evaluated."""

from typing import Any

import numpy as np

from ..elements import quantity
from .made_shapes import turn_to

FLOOR_AXIS = (0.0, 0.0, 1.0)


class Evaluator:
    """Turns details into plain data.

    values    evaluates expressions
    numbers   of bodies, by their identity; everything else with a pose is a ground, −1
    grounds   poses of the grounds, by their identity
    """

    def __init__(self, values: Any, numbers: dict, grounds: dict):
        self.values, self.numbers, self.grounds = values, numbers, grounds

    def body(self, body: Any) -> int:
        return self.numbers.get(id(body), -1)

    def place(self, body: Any, frame: Any) -> np.ndarray:
        """A frame (4, 4) of a body in its axes, or of a ground in world axes; of a point with the axes of the body."""
        found = self.values(frame)
        H = found if found.shape == (4, 4) else point_frame(found.reshape(3))
        ground = self.grounds.get(id(body))
        return H if ground is None else _pose_matrix(*ground) @ H

    def along(self, element: Any) -> np.ndarray:
        """A rotation that turns z to the direction that an element is drawn along."""
        direction = element.drawn_along()
        return np.eye(3) if direction is None else turn_to(self.direction(direction, element.owner))

    def direction(self, given: Any, owner: str) -> np.ndarray:
        """A direction: a name of an axis, an expression of parameters, or three numbers."""
        plain = isinstance(given, (tuple, list, np.ndarray)) and all(isinstance(x, (int, float)) for x in given)
        return np.asarray(given if plain else self.values(quantity.unit(given, "axis", owner)), float).reshape(3)

    def details(self, element: Any) -> dict[str, Any]:
        """What an element says of its drawing, see `drawn_details`."""
        return self._plain(element.drawn_details(), element.owner)

    def _plain(self, given, owner):
        if isinstance(given, dict):
            return self._record(given, owner)
        if hasattr(given, "reference") and hasattr(given, "shape"):
            return self.body(given)
        if isinstance(given, (list, tuple)) and not all(isinstance(x, (int, float)) for x in given):
            return [self._plain(x, owner) for x in given]
        if given is None or isinstance(given, (bool, str)):
            return given
        found = self.values(given)
        return float(found.reshape(-1)[0]) if found.size == 1 else found

    def _record(self, given, owner):
        """A dictionary; what belongs to a ground gets places in world axes."""
        found = {key: x for key, x in given.items() if key not in ("along", "frames", "frame", "p", "normal")}
        found = {key: self._plain(x, owner) for key, x in found.items()}
        body = given.get("body")
        if "along" in given:
            found["along"] = FLOOR_AXIS if given["along"] is None else self.direction(given["along"], owner)
        if "frames" in given:
            found["frames"] = [self.place(b, frame) for b, frame in zip(given["ends"], given["frames"])]
        if "frame" in given:
            found["frame"] = self.place(body, given["frame"])
        if "p" in given:
            found["p"] = self.place(body, given["p"])[:3, 3]
        if "normal" in given:
            ground = self.grounds.get(id(body))
            normal = self.values(given["normal"]).reshape(3)
            found["normal"] = normal if ground is None else ground[1] @ normal
        return found


def point_frame(p: np.ndarray) -> np.ndarray:
    return _pose_matrix(p, np.eye(3))


def _pose_matrix(p, R):
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = R, p
    return H
