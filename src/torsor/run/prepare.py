"""From a model to a system that is ready to run: derived, diagnosed, started and compiled, or taken from the cache."""

from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import formulations as _formulations  # noqa: F401  (they register themselves)
from .. import kernels
from ..describe import quantity
from ..errors import AssemblyError, ModelError
from ..formulations.scales import Scales
from ..registry import lookup
from . import large
from .blocks import Blocks
from .choice import SHARE, Choice, thawed
from .columns import columns_of
from .derived import derived
from .program import lowered
from .system import System
from .waist import contact_kernels_of, kernels_of, layout_of

KNOWN = 64  # starts that a model keeps in memory
MANY = 20  # bodies from which matrices are so large that several threads would work on them
SELDOM = ("outputs",)  # kernels that are called where results are wanted, and not in every step


def run_kernels(told, key, f, choice):
    """Kernels of a run, with those of its events where there are any."""
    columns = None
    if changes_structure(told.model):
        program = lowered(told.model, [row.label for row in f.rows])
        columns = lambda f: columns_of(f, program)
    functions = kernels_of(f, choice.map, choice.baumgarte, told.signals, columns, choice.needs)
    return kernels.build(functions, key=key, seldom=SELDOM)


def contact_kernels(told, key, f, choice):
    """The kernel of what forces at contacts and friction do: see `Formulation.meeting`."""
    return kernels.build(contact_kernels_of(f), key=key)


def mechanics(told, key, f, choice):
    """Kernels of the equations themselves, as functions of configuration and velocities, for those who call them one by one."""
    functions = {**f.functions(), **f.retractions(choice.map), "outputs": f.outputs(told.signals).function()}
    del functions["impulse"], functions["local"]
    return kernels.build(functions, key=key, seldom=SELDOM)


def prepare(
    model,
    formulation="absolute",
    map="exp",
    baumgarte=False,
    metric="mass",
    signals=None,
    parameters=None,
    t=0.0,
    needs=(),
    build=run_kernels,
):
    """A system and its kernels. Equations are derived and compiled once per model, in this process or an earlier one; a new
    value of a parameter costs a start."""
    if not model.bodies:
        raise ModelError(f"model {model.name!r} has no bodies")
    lookup("formulation", formulation)
    values = model.values(parameters)
    if not set(needs) - {SHARE} and metric == large.METRIC:
        found = large.ready(model, formulation, map, baumgarte, t, dict(model.signals) | dict(signals or {}), values)
        if found is not None and not (needs and found[0].redundant):  # without redundant rows there is nothing to share
            return found if build is run_kernels else (found[0], Blocks(*found))
    told = derived(model, formulation, dict(model.signals) | dict(signals or {}))
    ask = (map, baumgarte, repr(metric), tuple(values.items()), t, needs, build)
    if ask not in told.known:
        try:
            with (
                np.errstate(over="ignore", invalid="ignore"),
                one_thread(len(model.bodies)),
            ):  # what is too large is told
                found = _ready(told, [map, baumgarte, metric, needs], values, t, build)
        except np.linalg.LinAlgError as error:
            raise AssemblyError(
                f"model {model.name!r}: no start can be computed: masses, lengths or velocities are too large, too small or too "
                f"different in size ({error})"
            ) from error
        while len(told.known) >= KNOWN:
            told.known.pop(next(iter(told.known)), None)
        told.known[ask] = found
    return told.known[ask]


@contextmanager
def one_thread(bodies):
    """Linear algebra by one thread, where there are enough bodies that several would take part: on a machine that is busy they
    wait for each other, and a start takes many times as long."""
    if bodies < MANY:
        yield
        return
    from threadpoolctl import threadpool_limits  # late: most models need none

    with threadpool_limits(1, user_api="blas"):
        yield


class Start(NamedTuple):
    """A consistent start in absolute coordinates, and what was found there."""

    given: Any
    q: np.ndarray
    v: np.ndarray
    found: Any  # what is redundant
    changes: list  # that were made to what was given, in words


def _consistent(model, absolute, values, t, likely):
    """A start that satisfies the constraints; refused where there is none. likely: rows that will probably be in use."""
    from ..start import diagnosis
    from ..start.examiner import Examiner
    from ..start.given import closed, lost
    from ..start.given import given as told
    from ..start.impostors import assembled
    from ..start.velocities import consistent_velocities

    given = told(absolute, t, values)
    scales = given.scales
    examiner = Examiner(absolute, scales)
    _finite(model, given.q, given.p)
    scales.rows = examiner.row_units(t, given.q, shut(model, given.p))
    given = closed(absolute, examiner, t, given)
    p = given.p
    q, moved = assembled(absolute, examiner, t, given.q, p)
    found = diagnosis.diagnose(examiner, t, q, p, likely=likely)
    apart, row = examiner.disagreement(t, q, p)
    q = examiner.assemble(t, q, p, found.keep)[0] if row is not None else q
    v, changes = consistent_velocities(absolute, examiner, t, q, p, found.keep)
    diagnosis.refuse_contradictions(examiner, found, t, q, v, p, absolute.rows)
    if row is not None:
        changes.insert(0, f"constraints disagree by up to {apart:.1e} of the model's size, most of all {row}")
    changes[:0] = lost(absolute, examiner, t, q, p)
    if moved > 1e-9:
        far = f"{moved * scales.length:.3g} m or {moved:.3g} rad"
        changes.insert(0, f"positions were assembled: something moved by up to {far}")
    return Start(given, q, v, found, changes)


def _ready(told, options, values, t, build):
    """A system at a consistent start, and the kernels that suit."""
    begin = lambda: _begun(told, options, values, t, build)
    system = told.start([*options, build.__name__], (values, t), begin)
    return system, told.library(system.choice, build)


def _begun(told, options, values, t, build):
    """A system at the start that the model tells."""
    face, likely = told.face(), told.likely
    start = _consistent(told.model, face.absolute, values, t, likely.get("absolute"))
    system = described(told, options, t, build, start, likely.get("own"), face)
    told.likely = {"absolute": start.found.keep, "own": system.keep}
    return system


def described(told, options, t, build, start, likely=None, face=None):
    """A system at a consistent start in absolute coordinates, and what is redundant there.

    likely   rows that will probably be in use, in the coordinates of the formulation
    face     the numeric face with which the start was found; None: a new one
    """
    from ..start.diagnosis import diagnose
    from ..start.examiner import Examiner

    model, f = told.model, told.face() if face is None else face
    absolute = f.absolute
    given, q, v, found, changes = start
    scales, p = given.scales, given.p
    examiner = Examiner(f, scales)
    if f is not absolute:
        q, v, p = f.adopt(t, q, v, p)
        found = diagnose(examiner, t, q, p, likely=likely, mobility=found.freedom)
    f.keep = found.keep
    f.measure(scales)
    choice, partition = best_choice(f, examiner, t, q, p, options)
    layout = layout_of(model, f.facts["q"], f.facts["v"], len(p))
    if f.turns:
        place = layout.joined(q, v, p) if build is run_kernels else q
        p[len(model.inputs) :] = told.library(choice, build)["turns"](np.array([t]), place, p)[0]
    return System(
        sizes={
            "q": f.facts["q"],
            "v": f.facts["v"],
            "parameters": len(model.inputs),
            "turns": len(f.turns),
            "multipliers": len(f.keep),
        },
        bodies=[b.name for b in model.bodies],
        coordinates=f.facts["names"],
        states=[(state.name, place) for state, place in zip(model.states, layout.states)],
        **told.facts,
        rows=[(row.label, str(row)) for row in f.rows],
        declared=[(row.label, str(row)) for row in absolute.rows],
        choice=choice,
        watches=watched(f, bool(partition), found.redundant),
        redundant=found.redundant,
        **_shared_loads(told, absolute, start, t),
        freedom=found.freedom,
        start_freedom=found.start_freedom,
        partition=partition,
        linear=f.facts["linear"],
        length=scales.length,
        scales=dict(vars(scales)),
        mass=given.mass,
        inertia=given.inertia,
        t=t,
        q=q.tolist(),
        v=v.tolist(),
        p=p.tolist(),
        changes=changes,
        fingerprint=told.mark,
    )


def _shared_loads(told, absolute, start, t):
    """What is redundant at a start, and which reactions are not unique, in whatever coordinates."""
    from ..start.examiner import Examiner
    from ..start.uniqueness import undetermined

    found, given = start.found, start.given
    examiner, names = Examiner(absolute, given.scales), told.facts["connections"]
    return {
        "left_out": list(found.redundant),
        "shared": list(dict.fromkeys(absolute.rows[k].constraint.name for k in found.shared)),
        "undetermined": undetermined(examiner, absolute, found, t, start.q, given.p, names),
    }


def shut(model, p):
    """p, or rows of it, with everything that has two sides closed on its first, since it has no rows while it is open."""
    places = {id(memory): k for k, memory in enumerate([*model.parameters.values(), *model.memories])}
    p = np.array(p)
    for c in model.constraints:
        for k, side in enumerate(getattr(c, "sides", ())):
            p[..., places[id(side)]] = float(k == 0)
    return p


def changes_structure(model):
    """Whether anything happens in a model besides motion."""
    return bool(model.events or model.switched)


def watched(f, partition, redundant):
    """How far the conditioning of what was chosen may fall: dependent coordinates are chosen anew soon, rows in use only where
    they really turn out of place, since every singular position is a dip, too."""
    return 0.0 if not f.keep else 0.02 if f.watches or partition else 1e-7 if redundant else 0.0


def face_of(told, system, released=()):
    """The numeric face of a formulation, with some of the elements that events switch not acting."""
    f = told.face()
    f.release([told.model.switched[k] for k in released])
    f.measure(Scales(**system.scales))
    return f


def best_choice(f, examiner, t, q, p, wanted, before=()):
    """The dependent coordinates that are best at a configuration with the rows in use, where there are any to choose; and the
    partition that a projection asks for.

    wanted   map, whether the constraints are stabilised, the metric of projections, and kernels that a method needs
    before   the velocities that depended on others so far
    """
    from ..start.dependent import choose

    map, baumgarte, metric, needs = wanted
    f.metric, f.dependent, partition = metric, list(before), {}
    if isinstance(metric, list):
        partition = choose(f, examiner, t, q, p, metric)
        f.metric = (partition["positions"], partition["velocities"]) if f.keep else "mass"
    if f.watches:
        f.choose(examiner, t, q, p)
    return Choice.of(f, map, baumgarte, needs), partition


def chosen_anew(told, system, choice, wanted, t, q, p):
    """The choice with the rows and the dependent coordinates that are best here."""
    from ..start.diagnosis import anew
    from ..start.examiner import Examiner

    f = face_of(told, system, choice.released)
    examiner = Examiner(f, f.scales)
    with one_thread(len(told.model.bodies)):
        f.keep = anew(examiner, list(choice.keep), t, q, p)
        before = thawed(choice.dependent) if f.keep == list(choice.keep) else ()
        return best_choice(f, examiner, t, q, p, wanted, before)[0]


def _finite(model, q, p):
    """Refuse a start that is not made of numbers."""
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(p))):
        raise ModelError(f"model {model.name!r}: the start contains values that are not finite numbers")
    if np.abs(q).max(initial=0.0) > quantity.LARGEST:
        largest = f"{np.abs(q).max():.3g}, more than {quantity.LARGEST:g}"
        raise ModelError(f"model {model.name!r}: the start contains values that are too large: {largest}")
