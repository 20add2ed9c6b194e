"""What a force is. A new one is one class in one file; see docs/extend.md.

A force declares one or more of

    potential()     U, a scalar of poses and time: the generalised force is −∂U, and U counts as energy      [J]
    dissipation()   D, a scalar of velocities: the generalised force is −∂D/∂v                                [W]
    efforts()       pairs (velocity, effort): the generalised force is Σ (∂velocity/∂v)ᵀ effort, its power is
                    Σ velocity·effort; the velocity is a signal that is linear in the bodies' velocities       [W]
"""

from dataclasses import dataclass

from .. import quantity
from ..errors import ModelError


@dataclass(frozen=True, eq=False)
class Force:
    """Base of everything that pushes."""

    kind = "force"

    name: str

    def potential(self):
        return None

    def dissipation(self):
        return None

    def efforts(self):
        return []

    def located(self):
        """The element with its world-frame data turned into body-fixed data; called once, when it is added."""
        return self

    @property
    def owner(self):
        return f"{self.key} {self.name!r}"

    def needs_body(self, body):
        if not hasattr(body, "angular_velocity"):
            raise ModelError(f"{self.owner}: {quantity.show(body)} is not a body; give a body of the model")
        return body


def local_point(body, point, owner, what="point"):
    """A world point of the reference configuration, in body axes from the centre of mass; None: the centre of mass."""
    if point is None:
        return quantity.vector((0, 0, 0), what, owner)
    return body.start_rotation.T @ (quantity.vector(point, what, owner) - body.start_position)
