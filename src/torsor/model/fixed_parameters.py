"""A model with numbers for its parameters: the same bodies, elements and names, and no parameters."""

from ..elements.placing import EYE, ZERO
from .include import Copying
from .model import Model


class Fixing(Copying):
    """One copy of a model, what stands for what in it."""

    def __init__(self, model, values):
        super().__init__(Model(model.name), "", model)
        self.things[id(model.ground)] = self.parent.ground
        self.parameters(values, f"model {model.name!r}")
        self.parent.gravity = self.to_parent_symbols(model.gravity)
        self.place_bodies(ZERO, EYE)
        self.elements()

    def name(self, name):
        return name

    def _to_component_ground(self, twin, name):
        return getattr(twin, name)
