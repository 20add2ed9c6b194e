"""Files of the documentation site that are made from its pages."""

import pathlib
import re
import warnings

import torsor as ts
from torsor.cli.view_command import with_title
from torsor.viewer.html_file import write_page
from torsor.viewer.viewable import data_of

DOCS = pathlib.Path(__file__).parent
HEAD = """# torsor

> Multibody dynamics for Python: bodies, joints, constraints and forces in; motion, reactions and a measure of accuracy out.
> Start with `import torsor as ts`, `model = ts.Model("name", gravity=(0, 0, -9.81))`, `model.body`, `model.add`,
> `ts.simulate(model, until=10)`. SI units, radians, one world frame in the reference configuration.

## Pages

"""


def list_elements(app, page, source):
    """Insert all joints, constraints and forces into the page of functions and classes."""
    if page == "api":
        classes = [cls for kind in ("joint", "constraint", "force") for cls in ts.registered(kind).values()]
        names = sorted({cls.__name__ for cls in classes if cls.__module__.startswith("torsor.")})
        source[0] = source[0].replace("ELEMENTS", "\n".join(f".. autoclass:: torsor.{name}" for name in names))


def keep_layout(app, what, name, thing, options, lines):
    """Show the first paragraph of a docstring as text, the rest as it is laid out: equations and tables of arguments."""
    end = next((k for k, line in enumerate(lines) if not line.strip()), len(lines))
    head = [line.replace("*", r"\*").replace("_", r"\_") if "`" not in line else line for line in lines[:end]]
    rest = [f"   {line}" for line in lines[end:]]
    lines[:] = [line.replace("`", "``") for line in head] + (
        ["", "::", "", *rest, ""] if any(x.strip() for x in rest) else [""]
    )


def shown_cases(app):
    """Names of the cases that the gallery plays, as the configuration says: all, or some of them."""
    wanted = app.config.gallery_viewers
    return ts.cases.names() if wanted == "all" else wanted.split(",")


def play_cases(app, page, source):
    """Insert the viewers of its cases below each heading of the gallery, `## case, case: phenomenon`."""
    if page != "gallery" or app.builder.format != "html":
        return
    shown = shown_cases(app)

    def with_viewers(heading):
        named = [name for name in heading.group(1).split(", ") if name in shown]
        frames = [
            f'<iframe class="viewer" data-src="_static/viewer/{name}.html" title="{name}"></iframe>' for name in named
        ]
        return heading.group(0) + "".join(f"\n```{{raw}} html\n{frame}\n```\n" for frame in frames)

    source[0] = re.sub(r"^## ([\w, -]+):.*\n", with_viewers, source[0], flags=re.M)


def write_viewers(app, exception):
    """Simulate the cases of the gallery and write each as a page that plays it."""
    if exception is not None or app.builder.format != "html":
        return
    folder = pathlib.Path(app.outdir) / "_static" / "viewer"
    folder.mkdir(parents=True, exist_ok=True)
    for name in shown_cases(app):
        file = folder / f"{name}.html"
        if not file.exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ts.AccuracyWarning)
                data = data_of(ts.simulate(ts.cases.load(name), **ts.cases.recommended(name)), "save_html")
                write_page(with_title(data, name), file)


def pages():
    """Names of the pages in the order of the table of contents."""
    listed = re.findall(r"^(\w+)$", (DOCS / "index.md").read_text(), re.M)
    return [name for name in listed if (DOCS / f"{name}.md").exists()]


def summarise(name):
    """Title and first sentence of a page."""
    title, *blocks = (DOCS / f"{name}.md").read_text().split("\n\n")
    prose = [block for block in blocks if not block.startswith(("#", "```", "|", "!"))]
    paragraph = " ".join(next(iter(prose), "").split())
    sentence = re.split(r"(?<=[.:])\s", paragraph, maxsplit=1)[0]
    return title.lstrip("# "), sentence


def write_llms_text(app, exception):
    """Write llms.txt, the list of pages for language models, and llms-full.txt, the text of all pages."""
    if exception is not None or app.builder.format != "html":
        return
    folder = pathlib.Path(app.outdir)
    lines = [f"- [{title}]({name}.html): {sentence}" for name in pages() for title, sentence in [summarise(name)]]
    (folder / "llms.txt").write_text(HEAD + "\n".join(lines) + "\n")
    (folder / "llms-full.txt").write_text("\n\n".join((DOCS / f"{name}.md").read_text() for name in pages()))
