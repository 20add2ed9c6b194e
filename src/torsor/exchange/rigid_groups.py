"""Links that move as one: the bodies of the model.

Links without a joint between them, or with a fixed one, are composed. A link without mass cannot move by itself: what it
carries is hung on its parent by both joints at once, and where it carries nothing heavy it can only be held.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..elements import inertia
from ..errors import ModelError

WATER = 1000.0  # density of the sphere that stands for a body whose inertia is zero [kg/m³]


@dataclass(eq=False)
class Group:
    """Links that are rigidly connected; `lead` is the one next to the root, whose frame is the body's."""

    lead: Any
    parent: str | None
    motions: list
    links: list = field(default_factory=list)

    @property
    def mass(self):
        return sum(link.mass for link in self.links)

    @property
    def parts(self):
        """All parts, in the frame of the lead."""
        back = np.linalg.inv(self.lead.pose)
        return [part.in_frame(back @ link.pose) for link in self.links for part in link.parts]


def hold_what_has_no_mass(tree, strict):
    """A link that moves while neither it nor what it carries has mass: refused, or held in its zero position."""
    carried = {name: link.mass for name, link in tree.links.items()}
    for name in reversed(list(tree.links)):
        if tree.links[name].parent is not None:
            carried[tree.links[name].parent] += carried[name]
    for name, link in tree.links.items():
        if link.motions and not carried[name] > 0:
            joints = ", ".join(repr(m.name) for m in link.motions)
            what = f"link {name!r} moves (joint {joints}) and has no mass, and nothing that it carries has any"
            if strict:
                raise ModelError(
                    f"{link.where}: {what}; give it an inertial, or read the file with strict=False, which holds it in its "
                    "zero position"
                )
            tree.note("approximated", f"joint {joints}", f"held in its zero position: {what}", link.where)
            link.motions = []


def group(tree, merge_fixed):
    """The groups by the name of their lead, parents first. The root's group is held where its motions are empty."""
    groups: dict = {}
    home: dict = {}
    for name, link in tree.links.items():
        above = home.get(link.parent)
        held = above is not None and above.parent is None and not above.motions
        alone = not merge_fixed and link.mass > 0 and above is not None and (held or above.mass > 0)
        if above is None or link.motions or alone:
            parent = None if above is None else above.lead.name
            home[name] = groups[name] = Group(link, parent, list(link.motions), [link])
        else:
            home[name] = above
            above.links.append(link)
    return _without_massless(tree, groups)


def _without_massless(tree, groups):
    """Hang what a massless group carries on the group before it, joints one after the other."""
    for name, this in list(groups.items()):
        held = this.parent is None and not this.motions
        if held or this.mass > 0:
            continue
        children = [g for g in groups.values() if g.parent == name]
        if len(children) != 1 or (this.parent is None):
            carried = ", ".join(repr(g.lead.name) for g in children)
            hint = "; read it with base='fixed', or give it an inertial" if this.parent is None else ""
            raise ModelError(f"{this.lead.where}: link {name!r} moves and has no mass; it carries {carried}{hint}")
        child = children[0]
        child.parent, child.motions = this.parent, this.motions + child.motions
        del groups[name]
        message = f"has no mass and is left out; its joints and those of {child.lead.name!r} become one joint"
        for link in this.links:
            tree.note("approximated", f"link {link.name!r}", message, link.where)
    return groups


def total(parts, owner, tree, strict):
    """The inertia of a body composed of parts; an impossible one is refused or repaired."""
    mass = sum(p.mass for p in parts)
    center = sum(p.mass * p.center for p in parts) / mass
    tensor = np.zeros((3, 3))
    for p in parts:
        d = p.center - center
        tensor += p.tensor + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
    links = ", ".join(f"{p.link!r}" for p in parts)
    doubtful = [p for p in parts if p.mass > 0 and p.tensor.any() and _wrong(p.tensor, "")]
    wrong = _wrong(tensor, owner)
    where = (doubtful or parts)[0].where
    if wrong and strict:
        raise ModelError(
            f"{where}: {wrong} (made of {'links' if len(parts) > 1 else 'link'} {links}); correct it, or read the file with "
            "strict=False, which takes the next possible one"
        )
    if wrong:
        repaired = repair(mass, tensor)
        was, now = (np.linalg.eigvalsh(J).tolist() for J in (tensor, repaired))
        tensor = repaired
        tree.note("approximated", owner, f"impossible principal moments of inertia {was} became {now}", where)
    for part in doubtful if len(parts) > 1 else ():
        moments = np.linalg.eigvalsh(part.tensor).tolist()
        message = f"its own inertia is impossible (principal moments {moments}), that of {owner} as a whole is used"
        tree.note("questionable", f"link {part.link!r}", message, part.where)
    return inertia.Inertia(mass, (tensor + tensor.T) / 2, center)


def _wrong(tensor, owner):
    """What is wrong with an inertia, empty where nothing is."""
    try:
        inertia.check(tensor, owner, tensor.tolist())
    except ModelError as error:
        return str(error)
    return ""


def repair(mass, tensor):
    """A possible inertia next to an impossible one: the smaller moments are raised until the triangle inequality holds;
    for no inertia at all, that of a ball of water."""
    moments, axes = np.linalg.eigh((tensor + tensor.T) / 2)
    ball = 0.4 * mass * (0.75 * mass / (np.pi * WATER)) ** (2 / 3)
    if moments[2] <= 1e-9 * ball:
        return ball * np.eye(3)
    moments = np.maximum(moments, 1e-3 * moments[2])
    lacking = max(moments[2] - moments[0] - moments[1], 0.0)
    moments[:2] += lacking / 2
    return axes @ np.diag(moments) @ axes.T
