"""Classes that the documentation shows: contracts hold for them as for those of the package."""

import ast
import pathlib
import re

from torsor import registry

PAGE = pathlib.Path(__file__).parent.parent.parent / "docs" / "extend.md"
DEFINING = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)


def documented(kind):
    """What docs/extend.md registers of a kind, by key; the registry stays as it was."""
    names = {"__name__": "docs"}
    try:
        for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M):
            tree = ast.parse(block)
            tree.body = [node for node in tree.body if isinstance(node, DEFINING)]
            exec(compile(tree, str(PAGE), "exec"), names)
        found = {key: cls for key, cls in registry._TABLE.get(kind, {}).items() if cls.__module__ == "docs"}
    finally:  # take back what the page registered, and nothing else
        for table in registry._TABLE.values():
            for key in [key for key, cls in table.items() if cls.__module__ == "docs"]:
                del table[key]
    assert found, f"docs/extend.md shows no {kind}"
    return found
