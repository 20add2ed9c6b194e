"""Random calls of the public interface end well, or with an error that torsor means; `bench/fuzz.py` makes many more."""

import pytest
from fuzzing import batch


@pytest.mark.parametrize("seed", [1, 2])
def test_no_call_ends_with_a_raw_error_a_crash_or_a_hang(seed):
    ended, _ = batch(seed, 0, 140, limit=600.0)
    assert len(ended) == 140
    assert [f"{k}: {what}" for k, what in ended.items() if what.startswith("raw")] == []
