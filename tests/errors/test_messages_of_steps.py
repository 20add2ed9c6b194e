"""Messages about steps that were not solved name finite times."""

from types import SimpleNamespace

import numpy as np
import pytest

from torsor.run.run_messages import last_attempt


@pytest.mark.parametrize(
    "longest, fixed, proposed, expected", [(0.01, 0.1, 0.0, 0.02), (np.inf, 0.1, 0.0, 0.1), (np.inf, 0.0, 0.3, 0.3)]
)
def test_the_step_that_was_tried_is_finite(longest, fixed, proposed, expected):
    state, plan = SimpleNamespace(longest=longest, step=proposed), SimpleNamespace(step=fixed)
    assert last_attempt(SimpleNamespace(state=state, plan=plan, until=5.0)) == expected
