"""The tables of the documentation are complete: what is registered is mentioned, and what is cited is in the bibliography."""

import inspect
import pathlib
import re

import pytest

import torsor as ts
from torsor import cases

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = {page.name: page.read_text() for page in (ROOT / "docs").glob("*.md")}
WHERE = {
    "joint": "describe.md", "constraint": "describe.md", "force": "describe.md", "integrator": "choose.md",
    "projection": "choose.md", "formulation": "choose.md", "action": "events.md", "rule": "events.md",
}  # fmt: skip


def ours(kind):
    """Registered classes of the package; other tests and pages may register their own."""
    return {key: cls for key, cls in ts.registered(kind).items() if cls.__module__.startswith("torsor.")}


@pytest.mark.parametrize("kind", WHERE)
def test_tables_name_what_is_registered(kind):
    """The page that explains a kind shows most of it, and the rows are there; docs/reference.md has all of it."""
    rows = [line for line in PAGES[WHERE[kind]].splitlines() if line.startswith("| `")]
    documented = {row.split("`")[1] for row in rows}
    assert len(set(ours(kind)) & documented) > 0.8 * len(ours(kind))


def test_orders_in_the_table_are_those_of_the_methods():
    rows = {line.split("`")[1]: line for line in PAGES["choose.md"].splitlines() if line.startswith("| `")}
    known = {key: method for key, method in ours("integrator").items() if key in rows}
    assert known
    for key, method in known.items():
        row = rows[key]
        order, evaluations = (cell.strip() for cell in row.split("|")[2:4])
        assert int(order.split("(")[0]) == method.order
        if hasattr(method, "b"):  # a tableau
            assert int(evaluations) == len(method.b)


def test_the_default_tolerance_is_the_one_that_is_documented():
    from torsor.run import output_times

    assert inspect.signature(ts.simulate).parameters["tolerance"].default is None
    stated = re.search(r"`tolerance=([\d.e-]+)`", PAGES["choose.md"]).group(1)
    assert float(stated) == output_times.TOLERANCE
    with_events = re.search(r"A model with events is run at ([\d.e-]+)", PAGES["choose.md"]).group(1)
    assert float(with_events) == output_times.EVENT_TOLERANCE
    assert f"tolerance is therefore {with_events} instead of {stated}" in PAGES["events.md"]


def test_every_case_has_a_section_in_the_gallery():
    titles = " ".join(line for line in PAGES["gallery.md"].splitlines() if line.startswith("## "))
    for name in cases.names():
        assert re.search(rf"\b{name}\b(?!-)", titles), name


def test_every_result_variable_and_attribute_is_documented():
    for case in ("pendulum", "booster"):
        data = ts.simulate(ts.cases.load(case), 0.1, outputs=1)
        for name in [*data.data_vars, *data.attrs, "coordinate_unit"]:
            assert f"`{name}`" in PAGES["results.md"], name


def test_every_example_with_events_is_listed():
    scripts = [path for path in (ROOT / "examples").glob("*.py") if "event_time" in path.read_text()]
    assert len(scripts) >= 8
    for path in scripts:
        assert f"`examples/{path.name}`" in PAGES["events.md"], path.name


def test_every_word_of_the_event_language_is_explained():
    words = (
        "when",
        "modes",
        "during",
        "accumulate",
        "falling",
        "rising",
        "crossing",
        "time",
        "count",
        "number",
        "snap",
    )
    for word in words:
        assert re.search(rf"\b{word}\b", PAGES["events.md"]), word
    for name in ("Contact", "Slot", "Limit", "Backlash", "OneSided", "Lock", "Weld", "Friction", "Clutch", "Breakable"):
        assert f"`ts.{name}" in PAGES["events.md"], name


def test_every_citation_is_in_the_bibliography():
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text(), re.M))
    texts = [*PAGES.values(), *(f.read_text() for f in (ROOT / "src").rglob("*.py"))]
    cited = {key for text in texts for key in re.findall(r"[\[;] ?([a-z]+(?:19|20)\d\d)(?=[\];,])", text)}
    assert cited <= known, cited - known
    assert known <= cited | {"terze2011"}  # the thesis's own source, for further reading


def test_every_picture_exists_and_is_small():
    for name, text in [*PAGES.items(), ("README.md", (ROOT / "README.md").read_text())]:
        for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            picture = (ROOT if name == "README.md" else ROOT / "docs") / path
            assert picture.is_file(), f"{name}: {path}"
            most = 700_000 if picture.suffix == ".gif" else 150_000  # bytes
            assert picture.stat().st_size < most, path


def test_links_between_pages_lead_somewhere():
    for name, text in [*PAGES.items(), ("README.md", (ROOT / "README.md").read_text())]:
        folder = ROOT if name == "README.md" else ROOT / "docs"
        for path, anchor in re.findall(r"(?<!!)\[[^\]]+\]\((?!http)([^)#]*)(?:#([\w-]+))?\)", text):
            target = folder / path if path else folder / name
            assert target.exists(), f"{name}: {path}"
            if anchor:
                titles = re.findall(r"^#+ (.+)$", target.read_text(), re.M)
                slugs = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]
                assert anchor in slugs, f"{name}: {path}#{anchor}"
