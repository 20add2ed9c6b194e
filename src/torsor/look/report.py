"""Description of a model: bodies, joints, loops, degrees of freedom, as plain data and as text."""

import re
from collections.abc import Mapping
from html import escape

from ..elements import quantity
from ..errors import OptionError
from ..events import Clock
from ..events.controller import Controller
from ..model.model import Model
from .text_format import many, table, wrap_names


class Info(dict):
    """The description of a model as a dictionary; `print` shows it as text."""

    def __str__(self):
        return text(self)

    __repr__ = __str__

    def _repr_html_(self):
        return f"<pre>{escape(text(self))}</pre>"


def describe(
    model: Model,
    formulation: str = "auto",
    parameters: Mapping[str, float] | None = None,
    progress: bool | None = None,
) -> Info:
    """What a model consists of, its degrees of freedom, its loops and what is redundant in it. `formulation` and `parameters` are
    those of `simulate`; `progress`: whether a line shows what is going on.

    Prepares the model as a run does (assembly, diagnosis, kernels), so that what is reported is what would be run.

    >>> import torsor as ts
    >>> model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    >>> bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    >>> hinge = model.add(ts.Revolute("hinge", model.ground, bob, axis=(0, 1, 0), point=(0, 0, 0)))
    >>> ts.info(model)["degrees_of_freedom"]["generic"]
    1
    """
    from ..checks.integrability import integrability
    from ..model.topology import outline

    if not isinstance(model, Model):
        raise OptionError(f"info: give a torsor.Model, got {quantity.show(model)}")
    chosen, system, built = _prepare(model, formulation, parameters, progress)
    values = model.values(parameters)
    declared = [(c, len(c.equations().directions)) for c in model.constraints]
    rows = [
        {"constraint": label.rsplit("[", 1)[0], "direction": text.split(": ", 1)[1]} for label, text in system.declared
    ]
    return Info(
        model=model.name,
        **_describe_choice(chosen, system, built),
        gravity=quantity.numbers(model.gravity, values).ravel().tolist(),
        bodies=[_body(b, values) for b in model.bodies],
        joints=[_joint(c, count) for c, count in declared],
        forces=[{"name": f.name, "type": f.key} for f in model.forces],
        events=[_event(e, model) for e in model.events if not e.half and not isinstance(e.watch, Clock)],
        controllers=[_controller(rule) for rule in model.rules if isinstance(rule, Controller)],
        modes=[{"name": name, "modes": list(machine.names)} for name, machine in model.machines.items()],
        switched=[
            element.switching for element in {id(e): e for e in [*model.switched_elements, *model.armable]}.values()
        ],
        degrees_of_freedom={
            "gruebler": sum(3 if b.particle else 6 for b in model.bodies) - sum(n for c, n in declared if _acts(c)),
            "generic": system.freedom,
            "start": system.start_freedom,
        },
        loops=loops(model),
        topology=outline(model),
        constraint_rows=sum(count for _, count in declared),
        redundant=[rows[k] for k in system.left_out],
        velocity_level=[_verdict(v) for v in integrability(model, values)],
        not_unique=list(system.shared),
        parameters=values,
        instructions={name: kernel.instructions for name, kernel in built.items()},
        start_changes=list(system.changes),
        length=system.length,
    )


def _describe_choice(chosen, system, built):
    """What is chosen for a run, and why."""
    from ..run.auto_method import choose

    method, reason = choose(system, built)
    return {
        "formulation": chosen.formulation, "formulation_reason": chosen.reason, "method": method, "method_reason": reason,
    }  # fmt: skip


def _prepare(model, formulation, parameters, progress):
    """The system that a run would have; a line shows progress."""
    from ..prepare.auto_formulation import choose_and_prepare
    from .progress import Progress

    wait = Progress(0.0, 1.0, model.name, progress)
    wait.waiting("deriving and compiling the equations")
    try:
        return choose_and_prepare(model, formulation, parameters=parameters)
    finally:
        wait.close()


def loops(model):
    """Number of independent loops: connections − bodies − 1 + connected parts, with all grounds as one node.

    Every joint is a connection. Elementary constraints between the same two bodies make one connection together, and
    none parallel to a joint: they compose a joint. What stops no motion (a free joint) connects nothing, nor does what
    does not act at the start (an open contact, a weld that is engaged later).
    """
    node = {id(ground): 0 for ground in model.grounds} | {id(body): k for k, body in enumerate(model.bodies, start=1)}
    joints, composed = [], set()
    for c in model.constraints:
        if c.connects_bodies and c.directions() and _acts(c):
            pair = tuple(sorted((node[id(c.first)], node[id(c.second)])))
            joints.append(pair) if c.has_coordinates else composed.add(pair)
    leader = list(range(len(model.bodies) + 1))  # of the part that a node belongs to

    def find(k):
        while leader[k] != k:
            leader[k] = k = leader[leader[k]]
        return k

    closing = 0
    for first, second in [*joints, *(composed - set(joints))]:
        a, b = find(first), find(second)
        closing += a == b
        leader[a] = b
    return closing


def _acts(element):
    return element.acts is not False


def _event(event, model):
    w = event.watch
    change = "crosses 0" if w.both else "falls through 0"
    modes = {(id(m.memory), k): f"{m.name}: {mode}" for m in model.machines.values() for k, mode in enumerate(m.names)}
    during = [modes[id(memory), int(value)] for memory, value in event.during if (id(memory), int(value)) in modes]
    return {
        "name": event.name,
        "when": f"{_short(w.phi)} {('< 0' if w.strict else '<= 0') if w.state else change}",
        "actions": [_action(action) for action in event.actions],
        "during": during,
        "source": getattr(event.source, "name", None),
    }


def _short(expression, width=40):
    """An expression, or where it is long the signals that it is a function of."""
    import casadi as ca

    text = str(expression)
    names = dict.fromkeys(re.sub(r"_\d+$", "", s.name()) for s in ca.symvar(expression))
    return text if len(text) <= width and "@" not in text else f"f({', '.join(names)})"


def _controller(c):
    law = f"function of {many(len(c.signals), 'input', 'inputs')}" if c.answers else "expressions"
    return {"name": c.name, "period": c.period, "phase": c.phase, "delay": c.delay, "outputs": list(c.held), "law": law}


def _action(action):
    names = [action.result_name] if action.result_name else [_target(target) for target in action.targets]
    return " ".join([action.key, ", ".join(names), *(["off"] if getattr(action, "on", True) is False else [])]).strip()


def _target(target):
    if hasattr(target, "machine"):
        return f"{target.machine.name}: {target.name}"
    return getattr(target, "name", None) if not hasattr(target, "is_symbolic") else str(target)


def _body(body, values):
    return {"name": body.name, "mass": quantity.numbers(body.mass, values).item(), "particle": body.particle}


def _joint(c, rows):
    if c.connects_bodies:
        between = [c.first.name, c.second.name]
    elif c.driven_coordinate:
        between = [c.driven_coordinate[0].name]
    else:
        between = [b.name for b in getattr(c, "bodies", ())] or ([c.body.name] if hasattr(c, "body") else [])
    dof = c.dof if c.has_coordinates else None
    return {"name": c.name, "type": c.key, "between": between, "rows": rows, "dof": dof}


def _verdict(v):
    if v.alone:
        meaning = "integrable (holonomic)"
    elif v.integrable:
        meaning = "integrable (holonomic) together with " + ", ".join(name for name in v.together if name != v.name)
    else:
        meaning = "nonholonomic"
    return {"constraint": v.name, "rows": v.rows, "integrable": v.integrable, "meaning": meaning}


def text(info):
    """The description of a model for a person."""
    freedom, bodies = info["degrees_of_freedom"], many(len(info["bodies"]), "body", "bodies")
    joints = many(len(info["joints"]), "joint or constraint", "joints and constraints")
    lines = [f"{info['model']}: {bodies}, {joints}"]
    lines += ["", "bodies"] + table(
        [(b["name"], f"{b['mass']:.6g} kg", "particle" if b["particle"] else "") for b in info["bodies"]]
    )
    if info["joints"]:
        rows = [
            (
                j["name"], j["type"], " - ".join(j["between"]),
                "" if j["dof"] is None else f"{j['dof']} free", f"{j['rows']} constrained",
            )
            for j in info["joints"]
        ]  # fmt: skip
        lines += ["", "joints and constraints"] + table(rows)
    if info["forces"]:
        lines += ["", "forces"] + table([(f["name"], f["type"]) for f in info["forces"]])
    if info["parameters"]:
        lines += ["", "parameters"] + table([(name, f"{value:.9g}") for name, value in info["parameters"].items()])
    lines += _changes(info)
    lines += ["", "degrees of freedom"]
    lines += table([
        ("generic", str(freedom["generic"])),
        ("at the start", str(freedom["start"])),
        ("by counting (Grübler)", str(freedom["gruebler"])),
        ("independent loops", str(info["loops"])),
        ("constraint equations", f"{info['constraint_rows']}, of which {len(info['redundant'])} redundant"),
    ])  # fmt: skip
    lines += ["", "topology", *_topology(info["topology"])]
    if info["velocity_level"]:
        levels = [(v["constraint"], many(v["rows"], "row", "rows"), v["meaning"]) for v in info["velocity_level"]]
        lines += ["", "velocity-level constraints"] + table(levels)
    if info["redundant"]:
        lines += ["", "redundant constraints, left out"]
        lines += [f"  {r['constraint']}: {r['direction']}" for r in info["redundant"]]
    if info["not_unique"]:
        lines += ["", "reactions that are not unique", *wrap_names(info["not_unique"])]
    if info["start_changes"]:
        lines += ["", "changed at the start", *[f"  {change}" for change in info["start_changes"]]]
    lines += ["", "formulation", *wrap_names([f"{info['formulation']}: {info['formulation_reason']}"])]
    lines += [
        "",
        "method, as auto chooses it for a long run",
        *wrap_names([f"{info['method']}: {info['method_reason']}"]),
    ]
    lines += ["", "kernels, operations"] + table([(name, f"{n:,}") for name, n in info["instructions"].items()])
    return "\n".join(lines)


def _pace(c):
    since, late = f" from {c['phase']:g} s on", f", {c['delay']:g} s late"
    return f"every {c['period']:g} s{since if c['phase'] else ''}{late if c['delay'] else ''}"


def _changes(info, shown=40, width=100):
    lines = []
    if info["controllers"]:
        rows = [(c["name"], _pace(c), c["law"], ", ".join(c["outputs"])) for c in info["controllers"][:shown]]
        lines += ["", "controllers", *table(rows)]
    if info["events"]:
        short = lambda text: text if len(text) <= width else text[: width - 2] + " …"
        rows = [
            (
                e["name"], f"of {e['source']}" if e["source"] else short(e["when"]), "; ".join(e["actions"]),
                f"during {', '.join(e['during'])}" if e["during"] else "",
            )
            for e in info["events"][:shown]
        ]  # fmt: skip
        lines += ["", "events"] + table(rows)
        lines += [f"  and {len(info['events']) - shown} more events"] if len(info["events"]) > shown else []
    if info["modes"]:
        lines += ["", "modes"] + table([(m["name"], ", ".join(m["modes"])) for m in info["modes"]])
    if info["switched"]:
        switches = [(e["name"], e["type"], f"{e['start']} at the start") for e in info["switched"]]
        lines += ["", "switched by events"] + table(switches)
    return lines


def _topology(graph, shown=40):
    """The spanning tree, the loops, and what hangs on nothing."""
    tree, parts = graph["tree"], graph["trees"]
    lines = table([
        (f"{'  ' * (b['depth'] - 1)}{b['body']}", "free" if b["joint"] is None else f"by {b['joint']}",
         "" if b["joint"] is None else f"on {b['parent']}" + (" (reversed)" if b["reversed"] else ""))
        for b in tree[:shown]
    ])  # fmt: skip
    lines += [f"  and {len(tree) - shown} more bodies"] if len(tree) > shown else []
    for loop in graph["loops"][:shown]:
        lines += wrap_names([f"loop: {loop[0]}", *loop[1:-1], f"{loop[-1]} (cut)"])
    lines += [f"  and {len(graph['loops']) - shown} more loops"] if len(graph["loops"]) > shown else []
    if len(parts) > 1:
        lines.append(f"  {len(parts)} separate parts")
    floating = [part["bodies"][0] for part in parts if not part["grounds"] and part["bodies"][0] not in graph["unheld"]]
    for what, names in (("floating, no ground holds the part of", floating), ("held by nothing", graph["unheld"])):
        lines += wrap_names([f"{what}: {names[0]}", *names[1:]]) if names else []
    return lines
