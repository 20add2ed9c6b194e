"""From a model to a system that is ready to run: its equations are derived, its constraints diagnosed, its start assembled and its
kernels compiled, or all of this is read from the cache."""

from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import formulations as _formulations  # noqa: F401  (they register themselves)
from .. import kernels
from ..elements import quantity
from ..errors import AssemblyError, ModelError
from ..formulations.algebra.scales import Scales
from ..registry import lookup
from . import large_systems
from .choice import SHARE, Choice, KernelOptions, close_two_sided, to_lists
from .derivation import derive
from .event_kernels import columns_of
from .event_lowering import lower_events
from .state_space import contact_kernels_of, kernels_of, layout_of
from .system import System
from .table_adapter import Blocks

MAX_SYSTEMS = 64  # prepared systems that a derivation keeps in memory
MULTITHREADED_BODIES = 20  # from this number of bodies on the linear algebra library would use several threads
SELDOM = ("outputs",)  # kernels that are called for results only, not in every step
ASSEMBLY_REPORTED = 1e-9  # displacement by the assembly / model size, or rad: above this the displacement is reported
PARTITION_LIMIT = 0.02  # conditioning / conditioning when chosen: below this dependent coordinates are chosen again
REDUNDANT_ROWS_LIMIT = 1e-7  # the same for the rows in use of a system with redundant rows


def run_kernels(derivation, key, f, choice):
    """Kernels of a run, including those of its events."""
    columns = None
    if changes_structure(derivation.model):
        program = lower_events(derivation.model, [row.label for row in f.rows])
        columns = partial(columns_of, program=program)

    functions = kernels_of(f, choice.map, choice.baumgarte, derivation.signals, columns, choice.needs)
    return kernels.build(functions, key=key, seldom=SELDOM)


def contact_kernels(derivation, key, f, choice):
    """The kernel of the effect of impulses at contacts and friction elements: see `Formulation.meeting`."""
    return kernels.build(contact_kernels_of(f), key=key)


def equation_kernels(derivation, key, f, choice):
    """Kernels of the equations of motion as separate functions of configuration and velocities, for `ts.compile`."""
    functions = {**f.functions(), **f.retractions(choice.map), "outputs": f.outputs(derivation.signals).function()}
    del functions["impulse"], functions["local"]
    return kernels.build(functions, key=key, seldom=SELDOM)


def prepare(
    model,
    formulation="absolute",
    options=KernelOptions(),
    signals=None,
    parameters=None,
    t=0.0,
    build=run_kernels,
):
    """Prepare a model: returns a `System` and its kernels.

    Equations are derived and compiled once per model, in this process or an earlier one. A new value of a parameter requires a
    new start only.

    t       time of the start [s]
    build   `run_kernels` or `equation_kernels`
    """
    if not model.bodies:
        raise ModelError(f"model {model.name!r} has no bodies")
    lookup("formulation", formulation)
    values = model.values(parameters)
    signals = dict(model.signals) | dict(signals or {})
    if not set(options.needs) - {SHARE} and options.metric == large_systems.METRIC:
        large = large_systems.load_or_prepare(model, formulation, options, t, signals, values)
        if large is not None and not (
            options.needs and large[0].redundant
        ):  # without redundant rows no loads are shared
            return large if build is run_kernels else (large[0], Blocks(*large))
    derivation = derive(model, formulation, signals)
    key = (repr(options), tuple(values.items()), t, build)
    if key not in derivation.systems:
        try:
            with (
                np.errstate(over="ignore", invalid="ignore"),  # values that are too large are refused with a message
                one_thread(len(model.bodies)),
            ):
                prepared = _prepare_start(derivation, options, values, t, build)
        except np.linalg.LinAlgError as error:
            raise AssemblyError(
                f"model {model.name!r}: no start can be computed: masses, lengths or velocities are too large, too small or too "
                f"different in size ({error})"
            ) from error
        while len(derivation.systems) >= MAX_SYSTEMS:
            derivation.systems.pop(next(iter(derivation.systems)), None)
        derivation.systems[key] = prepared
    return derivation.systems[key]


@contextmanager
def one_thread(bodies):
    """Restrict the linear algebra library to one thread if the model is so large that several would take part. On a busy
    machine they wait for each other, and a start takes many times as long."""
    if bodies < MULTITHREADED_BODIES:
        yield
        return
    from threadpoolctl import threadpool_limits  # imported here because most models do not need it

    with threadpool_limits(1, user_api="blas"):
        yield


class Start(NamedTuple):
    """A consistent start in absolute coordinates."""

    model_start: Any  # the start that the model specifies: `start.model_start.Given`
    q: np.ndarray
    v: np.ndarray
    diagnosis: Any  # redundant constraints: `start.diagnosis.Diagnosis`
    changes: list  # differences from the start that the model specifies, as texts


def _consistent_start(model, absolute, values, t, likely):
    """The start of a model, assembled so that it satisfies the constraints. Raises an error if there is none.

    likely   rows that will probably be in use
    """
    from ..start import model_start
    from ..start.constraints import Examiner
    from ..start.diagnosis import diagnose, refuse_contradictions
    from ..start.impostors import assemble_without_impostors
    from ..start.velocities import consistent_velocities

    start = model_start.given_start(absolute, t, values)
    scales = start.scales
    examiner = Examiner(absolute, scales)
    _refuse_unusable_numbers(model, start.q, start.p)
    scales.rows = examiner.row_units(t, start.q, close_two_sided(model, start.p))
    start = model_start.close_loops(absolute, examiner, t, start)
    p = start.p
    q, displacement = assemble_without_impostors(absolute, examiner, t, start.q, p)
    diagnosis = diagnose(examiner, t, q, p, likely=likely)
    residual, row = examiner.disagreement(t, q, p)
    q = examiner.assemble(t, q, p, diagnosis.keep)[0] if row is not None else q
    v, changes = consistent_velocities(absolute, examiner, t, q, p, diagnosis.keep)
    refuse_contradictions(examiner, diagnosis, t, q, v, p, absolute.rows)
    if row is not None:
        changes.insert(0, f"constraints disagree by up to {residual:.1e} of the model's size, most of all {row}")
    changes[:0] = model_start.describe_changed_coordinates(absolute, examiner, t, q, p)
    if displacement > ASSEMBLY_REPORTED:
        distance = f"{displacement * scales.length:.3g} m or {displacement:.3g} rad"
        changes.insert(0, f"positions were assembled: a body or joint moved by up to {distance}")
    return Start(start, q, v, diagnosis, changes)


def _prepare_start(derivation, options, values, t, build):
    """A system at a consistent start, computed or from the cache, and its kernels."""

    def compute():
        return _compute_start(derivation, options, values, t, build)

    system = derivation.start((options, build.__name__), (values, t), compute)
    return system, derivation.library(system.choice, build)


def _compute_start(derivation, options, values, t, build):
    """A system at the start that the model specifies."""
    numeric = derivation.numeric()
    likely = derivation.likely
    start = _consistent_start(derivation.model, numeric.absolute, values, t, likely.get("absolute"))
    system = describe_system(derivation, options, t, build, start, likely.get("own"), numeric)
    derivation.likely = {"absolute": start.diagnosis.keep, "own": system.keep}
    return system


def describe_system(derivation, options, t, build, start, likely=None, numeric=None):
    """The `System` at a consistent start, in the coordinates of its formulation.

    start     `Start`, in absolute coordinates
    likely    rows that will probably be in use, in the coordinates of the formulation
    numeric   the numeric formulation with which the start was computed; None: a new one
    """
    from ..start.constraints import Examiner
    from ..start.diagnosis import diagnose

    model = derivation.model
    f = derivation.numeric() if numeric is None else numeric
    absolute = f.absolute
    given, q, v, diagnosis, changes = start
    scales = given.scales
    p = given.p
    examiner = Examiner(f, scales)
    if f is not absolute:
        q, v, p = f.adopt(t, q, v, p)
        diagnosis = diagnose(examiner, t, q, p, likely=likely, mobility=diagnosis.freedom)
    f.keep = diagnosis.keep
    f.measure(scales)
    choice, partition = best_choice(f, examiner, t, q, p, options)
    layout = layout_of(model, f.facts["q"], f.facts["v"], len(p))
    if f.turns:
        configuration = layout.join_blocks(q, v, p) if build is run_kernels else q
        p[model.input_layout.turns] = derivation.library(choice, build)["turns"](np.array([t]), configuration, p)[0]
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
        **derivation.facts,
        rows=[(row.label, str(row)) for row in f.rows],
        declared=[(row.label, str(row)) for row in absolute.rows],
        choice=choice,
        watches=conditioning_limit(f, bool(partition), diagnosis.redundant),
        redundant=diagnosis.redundant,
        **_shared_loads(derivation, absolute, start, t),
        freedom=diagnosis.freedom,
        start_freedom=diagnosis.start_freedom,
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
        fingerprint=derivation.mark,
    )


def _shared_loads(derivation, absolute, start, t):
    """Redundant rows at a start and reactions that are not unique, found in absolute coordinates for every formulation."""
    from ..start.constraints import Examiner
    from ..start.reaction_uniqueness import undetermined_reactions

    diagnosis = start.diagnosis
    examiner = Examiner(absolute, start.model_start.scales)
    names = derivation.facts["connections"]
    return {
        "left_out": list(diagnosis.redundant),
        "shared": list(dict.fromkeys(absolute.rows[k].constraint.name for k in diagnosis.shared)),
        "undetermined": undetermined_reactions(examiner, absolute, diagnosis, t, start.q, start.model_start.p, names),
    }


def changes_structure(model):
    """True if a model has events or elements that events switch."""
    return bool(model.events or model.switched_elements)


def conditioning_limit(f, partition, redundant):
    """Relative conditioning below which dependent coordinates or rows in use are chosen again; 0: never.

    Dependent coordinates are chosen again early. Rows in use are chosen again only if they become nearly dependent, because the
    conditioning also drops near every singular position.
    """
    if not f.keep:
        return 0.0
    if f.watches or partition:
        return PARTITION_LIMIT
    return REDUNDANT_ROWS_LIMIT if redundant else 0.0


def numeric_formulation_of(derivation, system, released=()):
    """The numeric formulation of a system, with some of the elements that events switch released."""
    f = derivation.numeric()
    f.release([derivation.model.switched_elements[k] for k in released])
    f.measure(Scales(**system.scales))
    return f


def best_choice(f, examiner, t, q, p, options, before=()):
    """The choice with the best dependent coordinates at a configuration for the rows in use, and the partition that the
    projection uses, if any.

    options   `KernelOptions`
    before    the dependent velocities so far
    """
    from ..start.dependent_coordinates import choose

    metric = options.metric
    f.metric = metric
    f.dependent = list(before)
    partition = {}
    if isinstance(metric, list):
        partition = choose(f, examiner, t, q, p, metric)
        f.metric = (partition["positions"], partition["velocities"]) if f.keep else "mass"
    if f.watches:
        f.choose(examiner, t, q, p)
    return Choice.from_formulation(f, options), partition


def choose_again(derivation, system, choice, options, t, q, p):
    """The choice with the best rows and dependent coordinates at this configuration."""
    from ..start.constraints import Examiner
    from ..start.diagnosis import choose_independent_rows

    f = numeric_formulation_of(derivation, system, choice.released)
    examiner = Examiner(f, f.scales)
    with one_thread(len(derivation.model.bodies)):
        f.keep = choose_independent_rows(examiner, list(choice.keep), t, q, p)
        before = to_lists(choice.dependent) if f.keep == list(choice.keep) else ()
        return best_choice(f, examiner, t, q, p, options, before)[0]


def _refuse_unusable_numbers(model, q, p):
    """Raise an error if the start contains numbers that are not finite or too large."""
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(p))):
        raise ModelError(f"model {model.name!r}: the start contains values that are not finite numbers")
    if np.abs(q).max(initial=0.0) > quantity.LARGEST:
        largest = f"{np.abs(q).max():.3g}, more than {quantity.LARGEST:g}"
        raise ModelError(f"model {model.name!r}: the start contains values that are too large: {largest}")
