"""The graph of bodies and joints with places for its nodes, as the viewer draws it next to the scene."""

import json
from typing import Any

from ..look.topology_plot import layout

MOST_NODES = 200  # of a graph that can be read
GROUND = "ground"


def body_graph(scene: dict[str, Any], redundant: set[str]) -> dict[str, list]:
    """Nodes with places in layers below the ground, and edges; empty for a model with more than `MOST_NODES` bodies.

    redundant   names of constraints of which a part is redundant
    """
    names = [body["name"] for body in scene["bodies"]]
    if len(names) > MOST_NODES:
        return {"nodes": [], "edges": []}
    links = [j for j in scene["joints"] if j["first"] != j["second"]]
    places = layout(_tree(names, links), [GROUND])
    nodes = [{"name": GROUND, "x": places[GROUND][0], "y": places[GROUND][1], "ground": True}]
    nodes += [{"name": n, "x": places[n][0], "y": places[n][1], "ground": False} for n in names]
    edges = [
        {
            "name": j["name"], "first": j["first"] + 1, "second": j["second"] + 1, "loop": j["cut"],
            "redundant": j["name"] in redundant,
        }
        for j in links
    ]  # fmt: skip
    return {"nodes": nodes, "edges": edges}


def _tree(names, links):
    """Bodies with what they hang on, level by level from the ground; those that nothing holds are roots of their own."""
    near: dict[int, list[int]] = {}
    for j in links:
        if not j["cut"]:
            near.setdefault(j["first"], []).append(j["second"])
            near.setdefault(j["second"], []).append(j["first"])
    rows, depth = [], {-1: 0}
    for root in [-1, *range(len(names))]:
        if root != -1 and root in depth:
            continue
        if root != -1:
            depth[root] = 1
            rows.append({"body": names[root], "parent": None, "depth": 1})
        level = [root]
        while level:
            grown = []
            for here in level:
                for far in near.get(here, ()):
                    if far not in depth:
                        depth[far] = depth[here] + 1
                        parent = GROUND if here == -1 else names[here]
                        rows.append({"body": names[far], "parent": parent, "depth": depth[far]})
                        grown.append(far)
            level = grown
    return rows


def redundant_rows(attributes: dict[str, Any]) -> list[dict[str, str]]:
    """Redundant constraints of a result, each with its direction."""
    pairs = [str(text).partition(": ") for text in json.loads(attributes.get("redundant_constraints") or "[]")]
    return [{"constraint": name, "direction": direction} for name, _, direction in pairs]
