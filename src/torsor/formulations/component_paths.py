"""Where bodies and constraints belong in the hierarchy of components, and in which order components are eliminated.

A component is what was included under one name, so that its path is a name without its last part. Where the user gives an order
e₁, e₂, …, eₙ of the components and bodies of a model (`model.eliminate`), each of these in turn is joined with all before it:

    g₂ = {e₁, e₂},     g₃ = {g₂, e₃},     …,     gₙ = {gₙ₋₁, eₙ}                                             (1)

A group gₖ is a component like any other: its constraints are those between its parts, and it is reduced to its border before the
next one is joined. In paths it is a further part, so that such an order needs no other equations. An element that is an order
itself is a group of its own. [vlasenko2006], sec. 2.6
"""

from ..model.elimination_request import refuse_missing


class ComponentPaths:
    """Paths of bodies and constraints of a model, with the groups of (1)."""

    def __init__(self, model):
        refuse_missing(model)
        self.orders = {level: groups(order) for level, order in model.eliminations.items()}

    def of_body(self, body):
        """The component, or the group, that a body belongs to."""
        path = path_of(body)
        if not self.orders:
            return path
        found, level = [], ""
        for name in [*path.split(".")] if path else []:
            found += [*self.orders.get(level, {}).get(name, ()), name]
            level = f"{level}.{name}" if level else name
        found += self.orders.get(level, {}).get(body.name.rpartition(".")[2], ())
        return ".".join(found)

    def of_constraint(self, constraint, bodies):
        """The innermost component or group in which a constraint of these bodies holds; never inside components of the one that it
        was added to."""
        own, paths = path_of(constraint), [self.of_body(body) for body in bodies]
        if not self.orders or not paths:
            return common([own, *paths])
        depth, found = own.count(".") + bool(own), []
        for name in common(paths).split("."):
            depth -= not is_group(name)
            if depth < 0:
                break
            found.append(name)
        return ".".join(found)


def groups(order, tag=""):
    """The groups of (1) that each name of an order is in, the outermost first."""
    found: dict[str, tuple] = {}
    for k, element in enumerate(order, 1):
        around = tuple(f"({tag}{j})" for j in range(len(order), max(k, 2) - 1, -1))
        inside = {element: ()} if isinstance(element, str) else groups(element, f"{tag}{k}/")
        found |= {name: around + more for name, more in inside.items()}
    return found


def is_group(name):
    """True for a part of a path that is a group of (1)."""
    return name.startswith("(")


def path_of(thing):
    """Where a thing was included: its name without the last part."""
    return thing.name.rpartition(".")[0]


def common(paths):
    """The innermost component that all paths are in."""
    parts = [path.split(".") if path else [] for path in paths]
    shared = []
    for level in zip(*parts):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return ".".join(shared)
