"""The JSON schema of model files accepts what torsor writes, and refuses unknown keys as the reader does."""

import json

import jsonschema
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.store.model_files.save_model import model_text
from torsor.store.model_files.yaml_nodes import parse, plain_data

CASES = (
    "pendulum",
    "four-bar",
    "car",
    "gripper",
    "valve-train",
    "governor",
    "quadruped",
    "train",
    "satellite",
    "winch",
)


@pytest.fixture(scope="module")
def validator():
    schema = ts.model_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_fits_the_schema(name, validator):
    found = plain_data(parse(model_text(ts.cases.load(name)), name))
    assert [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(found)] == []


@pytest.mark.parametrize("text, words", [
    ("bodys: {}", "bodys"), ("bodies: {a: {mas: 1}}", "mas"), ("elements: {a: {type: revolut}}", "revolut"),
    ("elements: {a: {type: revolute, axes: x}}", "axes"), ("elements: {a: {axis: x}}", "type"), ("hints: maybe", "maybe"),
    ("run: {untill: 1}", "untill"), ("torsor: 2", "1 was expected"), ("include: {a: {at: [0, 0, 0]}}", "file"),
])  # fmt: skip
def test_what_the_reader_refuses_does_not_fit(text, words, validator, tmp_path):
    whole = text if text.startswith("torsor") else f"torsor: 1\n{text}\n"
    errors = [e.message for e in validator.iter_errors(plain_data(parse(whole, "text")))]
    assert any(words in message for message in errors), errors
    (tmp_path / "model.yaml").write_text(whole)
    with pytest.raises(ts.ModelError):
        ts.read(tmp_path / "model.yaml")


def test_every_type_is_in_it_with_its_arguments(tmp_path, capsys):
    assert status_of(["schema", str(tmp_path / "torsor.json")]) == 0
    schema = json.loads((tmp_path / "torsor.json").read_text())
    element = schema["$defs"]["element"]
    known = {key for kind in ("joint", "constraint", "force", "rule") for key in ts.registered(kind)}
    assert known <= set(element["properties"]["type"]["enum"])
    revolute = next(x["then"] for x in element["allOf"] if x["if"]["properties"]["type"]["const"] == "revolute")
    assert revolute["properties"]["start"]["description"].startswith("joint coordinates at the start")
    assert "written" in capsys.readouterr().out
