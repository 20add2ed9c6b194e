"""Random mechanisms of all sizes: three formulations agree to what their certificates say, or a run says that it failed; and what
must not change their motion does not (`variants.py`).

`bench/random_mechanisms.py` runs the same for thousands of them, with more bodies.
"""

import pytest
from agreement import judged, quickly_compiled, reason
from variants import VARIANTS, judge_variant

MODELS, EACH = 40, 5
REFUSED = {}  # what is known to be refused or doubted: by number of the model why, by formulation


@pytest.mark.parametrize("first", range(0, MODELS, EACH))
def test_formulations_agree_or_say_that_they_failed(first):
    for k in range(first, first + EACH):
        with quickly_compiled():
            verdict = judged([7, k], most=3)
        assert verdict.disagreement == "", f"{k}: {verdict.words}"
        refused = {name: reason(text) for name, text in verdict.outcomes.items() if text}
        assert refused == REFUSED.get(k, {}), f"{k}: {verdict.words}, {verdict.outcomes}"


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_mechanisms_move_alike(name):
    for k in range(4):
        with quickly_compiled():
            verdict = judge_variant([8, k], name, most=3)
        assert verdict.disagreement == "", f"{k}: {verdict.words}"
        assert not any(verdict.outcomes.values()), f"{k}: {verdict.words}, {verdict.outcomes}"
