"""Configuration of the documentation site:   ./dev docs   writes it to docs/_build/html, readable and searchable offline."""

import pathlib
import sys

import torsor

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from site_pages import keep_layout, list_elements, play_cases, write_llms_text, write_viewers  # noqa: E402  after the path of this folder is known

project = "torsor"
author = "The torsor developers"
version = release = torsor.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = [
    "misc.highlighting_failure",
    "myst.xref_missing",
]  # links to files of the repository, outside of the site
html_theme = "furo"
html_title = f"torsor {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["viewers.js"]
html_copy_source = False
html_show_search_summary = False  # it would load pages, which browsers refuse for files
html_theme_options = {"navigation_with_keys": True}
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def setup(app):
    app.add_config_value("gallery_viewers", "all", "html")
    app.connect("source-read", list_elements)
    app.connect("source-read", play_cases)
    app.connect("autodoc-process-docstring", keep_layout)
    app.connect("build-finished", write_llms_text)
    app.connect("build-finished", write_viewers)
