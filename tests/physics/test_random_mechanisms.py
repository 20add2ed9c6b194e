"""Random mechanisms of all sizes: three formulations agree to what their certificates say, or a run says that it failed.

`bench/random_mechanisms.py` runs the same for thousands of them, with more bodies.
"""

import pytest
from mechanisms import judged

EACH = 3


@pytest.mark.parametrize("part", range(2, 12))
def test_formulations_agree_or_say_that_they_failed(part):
    verdicts = {k: judged([7, k], most=3) for k in range(EACH * part, EACH * (part + 1))}
    assert {k: f"{v.disagreement} {v.words}" for k, v in verdicts.items() if v.disagreement} == {}
    failed = {k: v.outcomes for k, v in verdicts.items() if all(v.outcomes.values())}
    assert len(failed) < EACH, failed
