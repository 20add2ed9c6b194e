"""Arrays packed for the viewer: what it decodes equals what was packed, within the bound that the format promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from torsor.viewer.pack import pack, unpack


@given(arrays.arrays(float, arrays.array_shapes(min_dims=1, max_dims=3, max_side=6), elements=st.floats(-1e6, 1e6)))
@settings(max_examples=60, deadline=None)
def test_differences_of_16_bits_stay_within_half_a_step(values):
    record = pack(values, "d16")
    assert record["type"] == "d16"
    range_of_each = np.ptp(values, axis=tuple(range(values.ndim - 1)))
    error = np.abs(unpack(record) - values).max(axis=tuple(range(values.ndim - 1)))
    assert np.all(error <= (0.5 + 1e-6) * range_of_each / 65535 + 1e-9 * np.abs(values).max(initial=1e-300))


@pytest.mark.parametrize("kind, digits", [("f64", 0.0), ("f32", 2**-24), ("f16", 2**-11)])
def test_floating_point_numbers_are_rounded_once(kind, digits):
    values = np.random.default_rng(1).normal(size=(40, 3))
    assert np.all(np.abs(unpack(pack(values, kind)) - values) <= digits * np.abs(values))


def test_numbers_that_are_not_finite_stay_what_they_are():
    values = np.array([[1.0, np.nan], [np.inf, -2.0]])
    assert pack(values, "d16")["type"] == "f32"  # which differences cannot hold
    assert np.array_equal(unpack(pack(values, "d16")), values, equal_nan=True)


def test_whole_numbers_and_empty_arrays_are_exact():
    faces = np.arange(12, dtype=np.uint32).reshape(4, 3) * 1_000_000
    assert np.array_equal(unpack(pack(faces, "u32")), faces)
    assert unpack(pack(np.zeros((0, 7, 3)), "d16")).shape == (0, 7, 3)
