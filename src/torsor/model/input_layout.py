"""Layout of the vector p: parameters, memories, own states and turns, which kernels take besides the state."""

from typing import Any


class InputLayout:
    """Places in p = (parameters, memories, angles that are counted over full turns).

    count          number of parameters and memories of the model; states of the user are among the memories
    parameters     slice of the parameters
    memories       slice of the memories
    model_inputs   slice of both: what the model determines
    turns          slice of the counted angles, which depend on the formulation
    """

    def __init__(self, model: Any):
        inputs = model.inputs
        self._places = {symbol.element_hash(): k for k, symbol in enumerate(inputs)}
        self.count = len(inputs)
        self.parameters = slice(0, len(model.parameters))
        self.memories = slice(len(model.parameters), self.count)
        self.model_inputs = slice(0, self.count)
        self.turns = slice(self.count, None)

    def place(self, item: Any) -> int:
        """The place of a parameter, a memory or a state of the user; or of its symbol."""
        return self._places[getattr(item, "symbol", item).element_hash()]

    def turn_places(self, turns: list) -> dict[tuple[str, int], int]:
        """Places of the counted angles by name and coordinate of their joint.

        turns   joint and coordinate of each, in the order of the formulation
        """
        return {(joint.name, k): self.count + i for i, (joint, k) in enumerate(turns)}
