"""Which features work in which way of running, as data. Writes the table in docs/choose.md:   python docs/features.py

A cell is the path that results report (`attrs["path"]`) with a word of `path_reason`, or a refusal with a word of its message.
`tests/contracts/test_feature_matrix.py` runs a small instance of every cell and compares it with the small serial run.
"""

import pathlib
from typing import NamedTuple

PAGE = pathlib.Path(__file__).parent / "choose.md"
BEGIN, END = "<!-- features: begin -->", "<!-- features: end -->"


class Cell(NamedTuple):
    """One cell.

    path   way in which it runs; REFUSED: it does not, NONE: there is no such thing
    word   a word of the reason or of the message
    why    the reason in the table
    """

    path: str
    word: str = ""
    why: str = ""


REFUSED, NOT_YET, NONE = "refused", "not yet", "none"
WAYS = {  # the path of every feature without an entry below
    "small": Cell("straight"),
    "large": Cell("tables"),
    "threads": Cell("threads"),
    "ranks": Cell("ranks"),
    "study, threads": Cell("batch"),
    "study, processes": Cell("batch"),
    "study, Dask": Cell("batch"),
    "study, lanes": Cell("lanes"),
    "Simulation": Cell("straight"),
}
STUDIES = ("study, threads", "study, processes", "study, Dask")


def _studies(cell, lanes=None):
    return dict.fromkeys(STUDIES, cell) | {"study, lanes": lanes or cell}


def _apart(cell):
    return dict.fromkeys(("threads", "ranks"), cell)


ONE_BY_ONE = _studies(Cell("straight", "the model has events", "one run after the other"))
PROJECTED = {"study, lanes": Cell("batch", "project", "without lanes: they do not project")}
NO_TABLEAU = {"study, lanes": Cell("batch", "tableau", "without lanes: they need an explicit method with a tableau")}
NO_KERNEL = Cell(REFUSED, "method", "the method needs the Jacobian of the whole system")
JACOBIAN = Cell("straight", "derived from the whole model", "the method needs the Jacobian of the whole system")


def _metric(key):
    return {
        "large": Cell("straight", "metric", "its metric needs the Jacobian of the whole system"),
        **_apart(Cell(REFUSED, "projection", "its metric needs the Jacobian of the whole system")),
        **PROJECTED,
    }


CELLS: dict[str, dict[str, Cell]] = {
    "adaptive step": {"study, lanes": Cell("batch", "fixed step", "without lanes: each run has its own steps")},
    "implicit method": {"large": JACOBIAN, **_apart(NO_KERNEL), **NO_TABLEAU},
    "variational method": {"large": JACOBIAN, **_apart(NO_KERNEL), **NO_TABLEAU},
    'method="auto"': _studies(Cell("straight", "auto", "one run after the other: it is decided for each")),
    "events": ONE_BY_ONE,
    "contacts": ONE_BY_ONE,
    "friction": ONE_BY_ONE,
    "drives": PROJECTED,
    "inputs": {},
    "controllers in Python": ONE_BY_ONE,
    "compiled controllers": ONE_BY_ONE,
    "own states": {},
    "tables": {"study, lanes": Cell("batch", "lookup tables", "without lanes: they have no lookup tables")},
    "signals and records": {},
    "certify": {**_studies(Cell(NONE)), "Simulation": Cell(NONE)},
    "checkpoints and resume": {**_apart(Cell(NOT_YET, "checkpoint")), **_studies(Cell(NONE))},
    "parameters": {},
    "start=": {},
    "loops": PROJECTED,
    "projection post": _metric("post"),
    "projection partition": _metric("partition"),
    "projection weighted": _metric("weighted"),
    "projection none": PROJECTED,
    "projection baumgarte": PROJECTED,
    "moving grounds": {},
    "particles": {
        "large": Cell("straight", "absolute", "particles need absolute coordinates, which have no tables"),
        **_apart(Cell(REFUSED, "absolute", "particles need absolute coordinates, which have no tables")),
        **PROJECTED,
    },
    "velocity-level constraints": PROJECTED,
}


def cell(feature, way):
    """The declared cell."""
    return CELLS[feature].get(way, WAYS[way])


def count(state):
    """Number of cells in a state."""
    return sum(cell(feature, way).path == state for feature in CELLS for way in WAYS)


COLUMNS = {  # columns of the table, each with the way that it shows
    "small": "small", "large": "large", "threads, ranks": "threads", "study": "study, threads", "study in lanes": "study, lanes",
    "`ts.Simulation`": "Simulation",
}  # fmt: skip


def table():
    """The table as Markdown."""
    rows = [["feature", *COLUMNS], ["---"] * (1 + len(COLUMNS))]
    for feature in CELLS:
        rows.append([feature, *(_text(cell(feature, way), way) for way in COLUMNS.values())])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    works = len(CELLS) * len(WAYS) - sum(map(count, (REFUSED, NOT_YET, NONE)))
    lines += [
        "",
        f"{works} cells work, {count(REFUSED)} are refused for a reason, {count(NOT_YET)} are not yet possible.",
    ]
    return "\n".join(lines)


def _text(one, way):
    if one.path == NONE:
        return "–"
    if one.path in (REFUSED, NOT_YET):
        return f"{one.path}: {one.why}" if one.why else one.path
    if one == WAYS[way]:
        return "yes"
    if one.path == "straight" and way == "large":
        return f"as one graph: {one.why}" if one.why else "as one graph"
    return one.why or "yes"


def page():
    """docs/choose.md with the table."""
    text = PAGE.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:begin]}\n\n{table()}\n\n{text[end:]}"


if __name__ == "__main__":
    PAGE.write_text(page())
