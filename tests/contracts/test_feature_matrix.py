"""Every feature in every way of running equals the small serial run to 1e-12, or is refused in one line that names the culprit."""

import importlib.util
import warnings
from pathlib import Path

import pytest
from ways_and_features import FEATURES, NotApplicable, difference, run

import torsor as ts

spec = importlib.util.spec_from_file_location("features", Path(__file__).parents[2] / "docs" / "features.py")
features = importlib.util.module_from_spec(spec)
spec.loader.exec_module(features)

EXACT = 1e-12  # largest difference / (1 + largest value)
RANKS_ARE_THREADS = {"ranks": "threads"}  # ranks of this test are threads of one process


@pytest.fixture(autouse=True)
def processors(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)


@pytest.mark.parametrize("feature", features.CELLS)
@pytest.mark.parametrize("way", features.WAYS)
def test_a_feature_in_a_way_of_running(feature, way):
    cell = features.cell(feature, way)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.path == features.NONE:
            with pytest.raises(NotApplicable):
                run(feature, way)
        elif cell.path in (features.REFUSED, features.NOT_YET):
            with pytest.raises(ts.errors.TorsorError, match=cell.word) as refusal:
                run(feature, way)
            assert "\n" not in str(refusal.value)
        else:
            values, path, reason = run(feature, way)
            assert path == RANKS_ARE_THREADS.get(cell.path, cell.path) and cell.word in reason
            assert difference(feature, way, values) <= EXACT


def test_every_feature_has_a_row():
    assert list(features.CELLS) == list(FEATURES)


def test_the_table_in_the_docs_is_made_of_the_cells():
    assert features.PAGE.read_text() == features.page(), "run: python docs/features.py"
