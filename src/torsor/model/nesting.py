"""A model is never part of itself, however many models lie between."""

from ..errors import ModelError


class Lineage:
    """What a model is to others: itself, and the models that were included in it, each with the path of its first instance.

    A copy of a model is another model, made of the same parts.
    """

    def __init__(self, parts=None):
        self.parts: dict[Lineage, str] = dict(parts or {})

    def __deepcopy__(self, memo):
        return Lineage(self.parts)

    def __reduce__(self):
        return Lineage, ()

    def refuse(self, name, model_name, other, other_name):
        """Refuse to include a model that this one is part of already."""
        if self is other:
            raise ModelError(f"instance {name!r}: a model cannot include itself")
        if self in other.parts:
            path = f"{name}.{other.parts[self]}"
            raise ModelError(
                f"instance {name!r}: model {other_name!r} contains {model_name!r}, which would become part of itself, as {path!r}"
            )

    def include(self, name, other):
        """Take note of a model that was included, and of what it consists of."""
        self.parts.setdefault(other, name)
        for part, path in other.parts.items():
            self.parts.setdefault(part, f"{name}.{path}")
