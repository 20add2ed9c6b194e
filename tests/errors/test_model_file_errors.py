"""What is wrong with a model file is said at once, each with file:line:column, path, what is allowed and the nearest name; hostile
files are refused quickly, and nothing in a file is ever executed."""

import time

import numpy as np
import pytest

import torsor as ts
from torsor.store.model_files.read_model import read_text
from torsor.store.model_files.save_model import model_text

HEAD = "torsor: 1\nmodel: m\n"
BODY = "bodies:\n  rod: {mass: 1, inertia: [1, 1, 1]}\n"


def problems(text):
    """The lines of the error with which a text is refused."""
    with pytest.raises(ts.ModelError) as error:
        read_text(text, "m.yaml")
    return str(error.value).splitlines()


def test_all_problems_are_reported_at_once_in_the_order_of_the_file():
    text = HEAD + "bodys: {}\n" + BODY.replace("mass: 1", "mass: -1") + (
        "  arm: {mass: 1, inertia: [1, 1, 1], at: [1 fathom, 0, 0]}\n"
        "  leg: {mass: 1, inertia: [1, 1, 1], colour: red}\n"
        "elements:\n"
        "  hinge: {type: revolut, first: ground, second: leg}\n"
        "  slide: {type: prismatic, first: ground, second: lag, axis: x}\n"
        "signals:\n"
        "  s: leg.positon[0] + sin(time\n"
        "  t: leg.velocity[7]\n"
    )  # fmt: skip
    found = problems(text)
    starts = [line.split(": ")[0] for line in found]
    assert starts == [f"m.yaml:{place}" for place in ("3:1", "5:3", "6:43", "7:38", "9:17", "10:51", "12:6", "13:6")]
    for line, words in zip(
        found,
        ["'bodies'", "mass must be positive", "fathom", "Known: mass", "'revolute'", "'leg'", "'position'", "[7]"],
    ):
        assert words in line, line


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "the file is empty"),
        ("- 1\n", "begins with `torsor: 1`"),
        ("model: m\n", "`torsor: 1` is missing"),
        ("torsor: 2\nmodel: m\n", "version of the format must be 1"),
        (HEAD + "bodies: [1, 2]\n", "a mapping"),
        (HEAD + "bodies: {a: {mass: 1}, a: {mass: 2}}\n", "given twice"),
        (HEAD + "bodies: {a: {mass: 1\n", "invalid YAML"),
        (HEAD + "gravity: [0, 0]\n", "gravity must be 3 numbers"),
        (HEAD + "gravity: [0, 0, 1e999]\n", "finite"),
        (HEAD + "parameters: {a: b, b: a}\n", "depends on itself: a → b → a"),
        (HEAD + "elements: {a: {type: gear, joint: a, other: a}}\n", "elements.a.joint: depends on itself: a → a"),
        (HEAD + "let: {a: b + 1, b: a}\nsignals: {s: a}\n", "depends on itself"),
        (HEAD + BODY + "signals: {s: rod}\n", "write which signal"),
        (HEAD + BODY + "signals: {s: rod.__class__}\n", "unknown signal"),
        (HEAD + BODY + "signals: {s: '__import__(1)'}\n", "unknown function"),
        (HEAD + BODY + "signals: {s: 'rod.point.__call__(1)'}\n", "unknown function"),
        (HEAD + BODY + "events: {e: {when: time > 1, do: explode}}\n", "unknown action 'explode'"),
        (HEAD + BODY + "events: {e: {when: time > 1, do: {release: rod}}}\n", "give joints"),
        (HEAD + "include: {a: {file: none.yaml}}\n", "no such file"),
        (HEAD + BODY + "expect: [{values: {rod.position: 1}}]\n", "3 components"),
    ],
)
def test_mistakes_are_explained(text, words, tmp_path):
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(ts.ModelError) as error:
        ts.read(tmp_path / "m.yaml")
    assert words in str(error.value) and "m.yaml" in str(error.value)


def test_cycles_of_inclusion_are_refused(tmp_path):
    for a, b in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{a}.yaml").write_text(f"torsor: 1\nmodel: {a}\ninclude: {{part: {{file: {b}.yaml}}}}\n")
    with pytest.raises(ts.ModelError, match="include each other in a circle: a.yaml → b.yaml → c.yaml → a.yaml"):
        ts.read(tmp_path / "a.yaml")


def hostile():
    """Files that are made to take long or to run something."""
    bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    bomb += "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 12))
    yield "bomb", HEAD + bomb
    yield "itself", HEAD + "bodies: &x {a: *x}\n"
    yield "deep", HEAD + "signals: {s: " + "[" * 5000 + "]" * 5000 + "}\n"
    yield "parentheses", HEAD + "signals: {s: '" + "(" * 5000 + "1" + ")" * 5000 + "'}\n"
    yield "minus", HEAD + "signals: {s: '" + "-" * 5000 + "time'}\n"
    yield "power", HEAD + "signals: {s: '" + "9**" * 3000 + "9'}\n"
    yield "digits", HEAD + "parameters: {p: " + "9" * 200_000 + "}\n"
    yield "exponent", HEAD + "parameters: {p: 1e999999999}\n"
    yield "index", HEAD + BODY + "signals: {s: 'rod.position[99999999999999999999]'}\n"
    yield "tag", HEAD + "bodies: !!python/object/apply:os.system ['touch /tmp/torsor_was_here']\n"
    chain = "".join(f"  p{k}: p{k + 1}\n" for k in range(3000))
    yield "chain", HEAD + "parameters:\n" + chain + "  p3000: 1\n"
    lets = "".join(f"  d{k}: d{k + 1} + 1\n" for k in range(2000))
    yield "definitions", HEAD + "let:\n" + lets + "  d2000: nothing\nsignals: {s: d0}\n"
    yield "zeros", HEAD + "\0\0\0"


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in hostile()])
def test_hostile_files_are_refused_quickly(text):
    begin = time.process_time()
    assert problems(text)
    assert time.process_time() - begin < 5


def mutate(text, random):
    """A text with some random changes."""
    for _ in range(random.integers(1, 6)):
        at, length = random.integers(len(text)), random.integers(1, 12)
        part = text[at : at + length]
        pieces = [
            "",
            part * 2,
            "[",
            "]",
            "{",
            "}",
            ": ",
            "- ",
            "&a ",
            "*a ",
            '"',
            "'",
            "1e400",
            "-",
            "\n",
            "  ",
            "null",
            "ground",
            "**",
            "!!int ",
        ]
        text = text[:at] + pieces[random.integers(len(pieces))] + text[at + length :]
    return text


def fuzz(seed, count):
    """Read mutations of model files: each is a model or a ModelError. Returns how many are refused."""
    random = np.random.default_rng(seed)
    texts = [model_text(ts.cases.load(name)) for name in ("four-bar", "booster", "pendulum")]
    refused = 0
    for _ in range(count):
        text = mutate(texts[random.integers(len(texts))], random)
        try:
            read_text(text)
        except ts.ModelError:
            refused += 1
    return refused


def test_damaged_files_are_refused_in_words():
    assert 20 < fuzz(1, 60) <= 60
