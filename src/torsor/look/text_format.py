"""Numbers, tables and lists as text that a person can read."""

import textwrap


def seconds(value):
    """A duration with a unit that suits it."""
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def table(rows, indent="  "):
    """Rows of text as aligned columns."""
    columns = max((len(row) for row in rows), default=0)
    width = [max(len(row[k]) for row in rows if k < len(row)) for k in range(columns)]
    return [(indent + "  ".join(cell.ljust(width[k]) for k, cell in enumerate(row))).rstrip() for row in rows]


def many(n, one, several):
    """A number of things, in words."""
    return f"{n} {one if n == 1 else several}"


def list_items(label, items, one, several, shown=8):
    """A count, the first items below it, and how many more there are."""
    if not items:
        return []
    more = [("", f"  and {len(items) - shown} more")] if len(items) > shown else []
    return [(label, many(len(items), one, several)), *[("", f"  {item}") for item in items[:shown]], *more]


def wrap_names(names, indent="  ", width=100):
    """Names in lines of a width."""
    indents = {"initial_indent": indent, "subsequent_indent": indent}
    return textwrap.wrap(", ".join(names), width, break_on_hyphens=False, **indents)
