"""When switchable constraints are engaged, as rows of the viewer's time line."""

from typing import Any


def engagement_rows(data: Any, scenery: dict) -> list[dict[str, Any]]:
    """One row for each constraint that events switch, with the spans of time in which it is engaged."""
    return []
