"""Contract of every file format: it knows its own files, leaves others alone, and its options are keywords."""

import inspect

import pytest
from documented import documented

import torsor as ts
from torsor.exchange.format import Content

FORMATS = {**ts.registered("format"), **documented("format")}
FOREIGN = {
    "another root": b"<scene/>",
    "text": b"hello", "json": b'{"a": 1}', "binary": bytes(range(256)), "half": b"<robot", "number": b"1.5",
}  # fmt: skip


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("key", FORMATS)
def test_foreign_files_are_not_recognised(key, content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    assert FORMATS[key].recognises(Content(tmp_path / "file")) is False


@pytest.mark.parametrize("key", FORMATS)
def test_a_format_says_what_its_files_look_like_and_how_they_are_called(key):
    known = FORMATS[key]
    assert inspect.getdoc(known) and known.shows
    assert known.suffixes and all(x.startswith(".") and x == x.lower() for x in known.suffixes)


@pytest.mark.parametrize("key", FORMATS)
def test_options_are_keywords(key):
    _, *options = inspect.signature(FORMATS[key].read).parameters.values()
    assert all(option.kind is option.KEYWORD_ONLY and option.default is not option.empty for option in options)


def test_what_no_format_recognises_is_refused(tmp_path):
    for name, content in FOREIGN.items():
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(ts.ModelError, match="root element is <scene>; known are|not well-formed XML"):
            ts.read(tmp_path / "file")
        assert name
