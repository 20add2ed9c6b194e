"""How tests tell that a description is refused."""

import pytest

from torsor.errors import ModelError


def refused(make, *parts):
    """`make` raises a ModelError whose message has every part in it."""
    with pytest.raises(ModelError) as caught:
        make()
    for part in parts:
        assert part in str(caught.value), str(caught.value)
