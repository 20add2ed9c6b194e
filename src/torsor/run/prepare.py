"""From a model to a system that is ready to run: derived, diagnosed, started and compiled, or taken from the cache."""

import hashlib
import json
import pathlib
from dataclasses import asdict, dataclass
from functools import cache

import casadi as ca
import numpy as np

from .. import formulations as _formulations  # noqa: F401  (they register themselves)
from .. import kernels, quantity
from ..errors import AssemblyError, ModelError
from ..formulations.scales import Scales, rounded
from ..registry import lookup
from .derived import derived
from .pace import paces
from .program import Approach, Rate, Side, lowered
from .waist import Layout, kernels_of


@dataclass
class System:
    """Everything a run needs, as plain data and kernels; no mechanics left in it."""

    sizes: dict  # q, v, parameters, turns, multipliers, outputs
    bodies: list
    joint_coordinates: list  # labels
    coordinate_units: list  # "rad" or "m" each
    connections: list  # names
    rows: list  # (label, description) of all declared rows
    keep: list
    dependent: list  # places of dependent coordinates, where a formulation or a projection splits them
    watches: float  # part of its conditioning down to which what was chosen is kept; 0: nothing has to be watched
    redundant: list
    shared: list  # names of constraints whose reactions are not unique
    freedom: int
    start_freedom: int
    partition: dict  # dependent coordinates and their measures, where a run asks for them
    linear: list  # 1 for a velocity that is a length per time, 0 for an angular one
    length: float
    scales: dict  # `formulations.scales.Scales`, as plain data
    mass: float  # of all bodies together, and the sum of their moments of inertia: what energies are measured against
    inertia: float
    layout: list  # (name, size) of the outputs
    signals: list
    t: float
    q: list
    v: list
    p: list
    changes: list
    fingerprint: str

    @property
    def state(self):
        """How a state is made of its parts."""
        return Layout(self.sizes["q"], self.sizes["v"], len(self.p))

    def output_name(self, place):
        """What an output is, in words."""
        starts = np.cumsum([0, *[size for _, size in self.layout]])
        part = int(np.searchsorted(starts, place, side="right")) - 1
        (name, size), place = self.layout[part], place - int(starts[part])
        words, per_body = name.replace("_", " "), size // max(len(self.bodies), 1)
        if name == "signals":
            return f"signal {self.signals[place]!r}"
        if name in ("coordinate", "rate", "coordinate_acceleration"):
            return f"{words} of {self.joint_coordinates[place]!r}"
        if name in ("reaction_force", "reaction_torque"):
            return f"{words} of {self.connections[place // 3]!r}"
        if name == "multiplier":
            return f"{words} of {self.rows[place][0]!r}"
        return f"{words} of {self.bodies[place // per_body]!r}" if size > 1 else words

    @property
    def unit(self):
        """Unit of length of the kernels [m]."""
        return rounded(self.length)


@cache
def own_source():
    """Digest of the files with which the meaning of a stored System and of its kernels changes."""
    here = pathlib.Path(__file__).parent
    files = [here / name for name in ("prepare.py", "derived.py", "program.py", "pace.py", "structures.py", "waist.py")]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def key_of(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


KNOWN = 64  # starts that a model keeps in memory
SELDOM = ("outputs",)  # kernels that are called where results are wanted, and not in every step


def prepare(
    model, formulation="absolute", map="exp", baumgarte=False, metric="mass", signals=None, parameters=None, t=0.0
):
    """A system and its kernels. Equations are derived and compiled once per model, in this process or an earlier one; a new
    value of a parameter costs a start."""
    if not model.bodies:
        raise ModelError(f"model {model.name!r} has no bodies")
    lookup("formulation", formulation)
    values = model.values(parameters)
    told = derived(model, formulation, dict(model.signals) | dict(signals or {}))
    ask = (map, baumgarte, repr(metric), tuple(values.items()), t)
    if ask not in told.known:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what is too large is told
                found = _begun(told, [map, baumgarte, metric], values, t)
        except np.linalg.LinAlgError as error:
            raise AssemblyError(
                f"model {model.name!r}: no start can be computed: masses, lengths or velocities are too large, too small or too "
                f"different in size ({error})"
            ) from error
        while len(told.known) >= KNOWN:
            told.known.pop(next(iter(told.known)), None)
        told.known[ask] = found
    return told.known[ask]


def _begun(told, options, values, t):
    """A consistent start, what is redundant there, and the kernels that suit."""
    from ..formulations import diagnosis as diagnoses
    from ..formulations import start as starts
    from ..formulations.examiner import Examiner
    from ..formulations.impostors import assembled
    from ..formulations.partition import choose

    model, metric = told.model, options[2]
    f = told.face()
    absolute = f.absolute
    given = starts.given(absolute, t, values)
    scales, p = given.scales, given.p
    examiner = Examiner(absolute, scales)
    _finite(model, given.q, p)
    scales.rows = examiner.row_units(t, given.q, p)
    q, moved = assembled(absolute, examiner, t, given.q, p)
    found = diagnoses.diagnose(examiner, t, q, p)
    apart, row = examiner.disagreement(t, q, p)
    q = examiner.assemble(t, q, p, found.keep)[0] if row is not None else q
    v, changes = starts.consistent_velocities(absolute, examiner, t, q, p, found.keep)
    diagnoses.refuse_contradictions(examiner, found, t, q, v, p, absolute.rows)
    if row is not None:
        changes.insert(0, f"constraints disagree by up to {apart:.1e} of the model's size, most of all {row}")
    if moved > 1e-9:
        far = f"{moved * scales.length:.3g} m or {moved:.3g} rad"
        changes.insert(0, f"positions were assembled: something moved by up to {far}")
    shared = list(dict.fromkeys(absolute.rows[k].constraint.name for k in found.shared))  # in whatever coordinates
    if f is not absolute:
        q, v, p = f.adopt(t, q, v, p)
        examiner = Examiner(f, scales)
        found = diagnoses.diagnose(examiner, t, q, p)
    f.keep = found.keep
    f.measure(scales)
    partition = choose(f, examiner, t, q, p, metric) if isinstance(metric, list) else {}
    f.metric = (partition["positions"], partition["velocities"]) if partition else metric
    if f.watches:
        f.choose(examiner, t, q, p)
    chosen = [*f.metric, f.dependent] if partition else [f.dependent]
    key = kernel_key(told.mark, told.formulation, f.keep, chosen, options, scales)
    built = told.library(key, f, lambda equations: _built(told, equations, key, options))
    if f.turns:
        x = Layout(f.facts["q"], f.facts["v"], len(p)).joined(q, v, p)
        p[len(model.inputs) :] = built["turns"](np.array([t]), x, p)[0]
    system = System(
        sizes={
            "q": f.facts["q"],
            "v": f.facts["v"],
            "parameters": len(model.inputs),
            "turns": len(f.turns),
            "multipliers": len(f.keep),
        },
        bodies=[b.name for b in model.bodies],
        **told.facts,
        rows=[(row.label, str(row)) for row in f.rows],
        keep=found.keep,
        dependent=chosen,
        watches=watched(f, bool(partition), found.redundant),
        redundant=found.redundant,
        shared=shared,
        freedom=found.freedom,
        start_freedom=found.start_freedom,
        partition=partition,
        linear=f.facts["linear"],
        length=scales.length,
        scales=asdict(scales),
        mass=given.mass,
        inertia=given.inertia,
        t=t,
        q=q.tolist(),
        v=v.tolist(),
        p=p.tolist(),
        changes=changes,
        fingerprint=told.mark,
    )
    return system, built


def mechanics(model, system, formulation, map, parameters=None):
    """Kernels of the equations themselves, as functions of configuration and velocities, for those who call them one by one."""
    told = derived(model, formulation, dict(model.signals))
    options = [map, False, "mass"]
    f = told.face()
    f.measure(Scales(**system.scales))
    f.keep, f.dependent = system.keep, system.dependent[-1]
    key = kernel_key(told.mark, told.formulation, f.keep, system.dependent, ["mechanics", *options], f.scales)

    def make(equations):
        functions = {**equations.functions(), **equations.retractions(map)}
        functions["outputs"] = equations.outputs(told.signals).function()
        del functions["impulse"]
        return kernels.build(functions, key=key)

    return told.library(key, f, make)


def _built(told, f, key, options):
    """Kernels of the structure of the start."""
    model = told.model
    program = lowered(model, [row.label for row in f.rows]) if changes_structure(model) else None
    return build(f, told.signals, program, key, options)


def changes_structure(model):
    """Whether anything happens in a model besides motion."""
    return bool(model.events or model.switched)


def build(f, signals, program, key, options):
    """Kernels of a formulation whose rows and dependent velocities are chosen; with a program, those of its events too."""
    map, baumgarte, _ = options
    columns = None if program is None else (lambda f: _columns(f, program))
    return kernels.build(kernels_of(f, map, baumgarte, signals, columns), key=key, seldom=SELDOM)


def _columns(f, program):
    """What is watched (values, rates and paces of functions), and what events take numbers from."""
    from ..formulations.outputs import time_derivative

    rated = program.tables["events"]["rated"]
    rates = [time_derivative(f, phi) if has else ca.SX(0) for phi, has in zip(program.guards, rated)]
    guards = [*program.guards, *rates, *paces(f, program.guards, rated)]
    columns = {"guards": guards, "slots": [_slot(f, x) for x in program.slots]}
    return {name: ca.vertcat(*column, ca.SX(0, 1)) for name, column in columns.items()}


def _slot(f, slot):
    """An expression that events take a number from; the relative acceleration of a constraint is G v̇ − γ."""
    from ..formulations.lie_derivative import gradient
    from ..formulations.outputs import accelerations, time_derivative

    if isinstance(slot, Rate):
        return time_derivative(f, slot.signal)
    if not isinstance(slot, (Approach, Side)):
        return slot
    block = next(b for b in f.all_rows.blocks if b.constraint is slot.constraint)
    if isinstance(slot, Approach):
        return sum((G @ accelerations(body) for body, G in zip(block.bodies, block.G)), -block.gamma)
    phi = f.all_rows.substitution.of(slot.phi)
    watched = ca.horzcat(*[gradient(phi, body) for body in block.bodies])
    size = ca.sqrt(ca.sumsqr(watched) * sum(ca.sumsqr(G) for G in block.G))
    return ca.if_else(size > 0, ca.dot(watched, ca.horzcat(*block.G)) / size, 0)


def watched(f, partition, redundant):
    """How far the conditioning of what was chosen may fall: dependent coordinates are chosen anew soon, rows in use only where
    they really turn out of place, since every singular position is a dip, too."""
    return 0.0 if not f.keep else 0.02 if f.watches or partition else 1e-7 if redundant else 0.0


def kernel_key(mark, formulation, keep, dependent, options, scales):
    units = scales.row_units(scales.rows)
    return key_of("kernels", mark, formulation, keep, dependent, options, scales.unit, units, own_source())


def rechosen(told, system, options, keep, dependent, t, q, p):
    """Kernels with the rows and the dependent coordinates that are best here, and which these are."""
    from ..formulations.diagnosis import anew
    from ..formulations.examiner import Examiner
    from ..formulations.partition import choose

    f = told.face()
    scales = Scales(**system.scales)
    f.measure(scales)
    examiner = Examiner(f, scales)
    f.keep = anew(examiner, keep, t, q, p)
    f.dependent = dependent[-1] if f.keep == keep else []
    f.metric, chosen = options[2], []
    if system.partition:
        partition = choose(f, examiner, t, q, p, options[2])
        f.metric = chosen = (partition["positions"], partition["velocities"])
    f.choose(examiner, t, q, p)
    chosen = [*chosen, f.dependent]
    key = kernel_key(system.fingerprint, told.formulation, f.keep, chosen, options, scales)
    make = lambda equations: build(equations, told.signals, None, key, options)
    return told.library(key, f, make), f.keep, json.loads(json.dumps(chosen))


def rebuilt(told, system, options, keep, dependent):
    """Kernels of a choice that an earlier process made."""
    f, scales = told.face(), Scales(**system.scales)
    f.measure(scales)
    f.keep, f.metric = keep, (tuple(dependent[:-1]) if len(dependent) > 1 else options[2])
    f.dependent = dependent[-1]
    key = kernel_key(system.fingerprint, told.formulation, keep, dependent, options, scales)
    return told.library(key, f, lambda equations: build(equations, told.signals, None, key, options))


def _finite(model, q, p):
    """Refuse a start that is not made of numbers."""
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(p))):
        raise ModelError(f"model {model.name!r}: the start contains values that are not finite numbers")
    if np.abs(q).max(initial=0.0) > quantity.LARGEST:
        largest = f"{np.abs(q).max():.3g}, more than {quantity.LARGEST:g}"
        raise ModelError(f"model {model.name!r}: the start contains values that are too large: {largest}")
