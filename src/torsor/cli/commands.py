"""The commands: what is typed, turned into calls of the package."""

import signal
import warnings
from typing import Annotated

import typer

from ..errors import AccuracyWarning, OptionError, ResultError, RunError
from ..registry import registered
from . import (
    BAD_INPUT,
    DONE,
    FAILED,
    INTERRUPTED,
    TERMINATED,
    assemble_command,
    check_command,
    complain,
    component_commands,
    convert_command,
    doctor_command,
    export_command,
    kinematics_command,
    mates_command,
    new_model,
    schema_command,
    statics_commands,
    study_command,
    view_command,
)
from .command_options import (
    AGAIN,
    CERTIFY,
    CHECKPOINT,
    CHECKPOINTED,
    CSV,
    EVERY,
    FOLDER,
    FORMULATION,
    GRAPH,
    HTML,
    INTERVAL,
    LATER,
    MAP,
    METHOD,
    OUT,
    OUTPUTS,
    PLOT,
    PROJECTION,
    RANKS,
    REACTIONS,
    RESULT,
    SET,
    SOURCE,
    START,
    STEP,
    THREADS,
    TOLERANCE,
    UNTIL,
    VERSION,
    VIEW,
)
from .output_files import draw, folder_for, save_figure, validate_outputs

app = typer.Typer(
    name="torsor",
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
OVERVIEW = """torsor simulates mechanisms: bodies, joints, constraints, forces, contacts.

  torsor new swing.py                 write a small commented model that runs
  torsor run swing.py --plot out      simulate it, print a summary, draw plots
  torsor run swing.py --view          simulate it and play it in the browser
  torsor view swing.py                show it as it starts, again whenever the file is saved

  torsor cases                        mechanisms that come with the package
  torsor run three-link               run one of them
  torsor info four-bar                bodies, degrees of freedom, redundant constraints
  torsor run robot.urdf --until 2     URDF, MJCF and SDF files run, too
  torsor convert four-bar bar.yaml    write a model file (YAML); it runs, too
  torsor mates arm.step               a CAD assembly: report of its import, joints that its faces suggest
  torsor study, equilibrium, modes, kinematics, assemble, check, resume
  torsor doctor                       is this installation complete?

  torsor --help                       all commands; torsor run --help: all options of one"""


@app.callback()
def everything(context: typer.Context, version: Annotated[bool, VERSION] = False):
    """Multibody dynamics on Lie groups."""
    if context.invoked_subcommand is None:
        print(OVERVIEW)


@app.command()
def run(
    context: typer.Context,
    source: Annotated[str, SOURCE],
    until: Annotated[float | None, UNTIL] = None,
    outputs: Annotated[str | None, OUTPUTS] = None,
    step: Annotated[float | None, STEP] = None,
    method: Annotated[str | None, METHOD] = None,
    formulation: Annotated[str | None, FORMULATION] = None,
    projection: Annotated[str | None, PROJECTION] = None,
    map: Annotated[str | None, MAP] = None,
    tolerance: Annotated[float | None, TOLERANCE] = None,
    set: Annotated[list[str] | None, SET] = None,
    out: Annotated[str | None, OUT] = None,
    csv: Annotated[str | None, CSV] = None,
    plot: Annotated[str | None, PLOT] = None,
    certify: Annotated[bool, CERTIFY] = False,
    threads: Annotated[int | None, THREADS] = None,
    checkpoint: Annotated[str | None, CHECKPOINT] = None,
    checkpoint_every: Annotated[float | None, EVERY] = None,
    checkpoint_interval: Annotated[float | None, INTERVAL] = None,
    ranks: Annotated[int | None, RANKS] = None,
    start: Annotated[list[str] | None, START] = None,
    reactions: Annotated[str | None, REACTIONS] = None,
    html: Annotated[str | None, HTML] = None,
    view: Annotated[bool, VIEW] = False,
):
    """Simulate a case or a model file, and report how accurate the result is."""
    from .. import simulate
    from .model_source import assignments, load, outputs_of
    from .mpi_launch import of_ranks, run_on_ranks
    from .start_option import start_of

    if (status := run_on_ranks(context, ranks)) is not None:
        return status
    given = {
        "until": until, "outputs": None if outputs is None else outputs_of(outputs), "step": step, "method": method,
        "formulation": formulation, "projection": projection, "map": map, "tolerance": tolerance,
        "certify": certify or None, "threads": threads, "start": start_of(start),
        "reactions": reactions,
    }  # fmt: skip
    found = load(source, assignments(set))
    arguments = found.recommended | {k: v for k, v in given.items() if v is not None} | of_ranks(given)
    arguments["until"] = found.until(until)
    outs = validate_outputs(out, csv)
    if plot is not None:
        folder_for(plot)
    view_command.refuse_early(html, view)

    kept = _resumable_arguments(checkpoint, checkpoint_every, checkpoint_interval, found)
    found.print_notes()
    return _run_and_report(
        lambda: simulate(found.model, parameters=found.parameters, **arguments, **kept), found, checkpoint, outs, plot,
        (html, view),
    )  # fmt: skip


@app.command()
def resume(
    folder: Annotated[str, CHECKPOINTED],
    source: Annotated[str | None, AGAIN] = None,
    set: Annotated[list[str] | None, SET] = None,
    until: Annotated[float | None, LATER] = None,
    out: Annotated[str | None, OUT] = None,
    csv: Annotated[str | None, CSV] = None,
    plot: Annotated[str | None, PLOT] = None,
):
    """Go on with a run that was started with `torsor run CASE|FILE --checkpoint DIR`, also beyond its end."""
    from ..simulation import resume as go_on
    from ..store.checkpoint import Checkpoint
    from .model_source import assignments, resume_source

    place = Checkpoint(folder)
    place.read()
    outs = validate_outputs(out, csv)
    if plot is not None:
        folder_for(plot)
    found = resume_source(folder, place.source, source, assignments(set))
    found.print_notes()
    return _run_and_report(lambda: go_on(place, found.model, until=until), found, folder, outs, plot)


def _resumable_arguments(folder, every, interval, found):
    """Arguments of `simulate` that let a run be resumed."""
    if folder is None:
        if every is not None or interval is not None:
            raise OptionError("--checkpoint-every and --checkpoint-interval need --checkpoint DIR")
        return {}
    from ..store.checkpoint import Checkpoint

    arguments = {"checkpoint": Checkpoint(folder, found.facts())}
    if every is not None or interval is not None:  # where only one is given, it alone counts
        arguments |= {"checkpoint_every": every, "checkpoint_interval": interval}
    return arguments


def _run_and_report(run, found, folder, outs, plot, page=(None, False)):
    """Carry out a run, tell how it went, keep its result and show it. Returns the exit status.

    page   the HTML file, and whether the result is shown in the browser
    """
    from ..run.interrupt_signals import defer_signals
    from .model_source import command, explain_user_errors

    status, trouble = DONE, None  # trouble: what to say at the end, after the summary
    with warnings.catch_warnings(record=True) as warned, explain_user_errors(found.file):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", AccuracyWarning)
        try:
            data = run()
        except RunError as error:
            data, status, trouble = error.data, FAILED, str(error)
    if data is None:  # rank 0 has it, and prints it
        return status if trouble is None else complain(trouble, status)
    if status == DONE and "interrupted_by" in data.attrs:
        reached = data.attrs["time_reached"]
        status = TERMINATED if data.attrs["interrupted_by"] == "SIGTERM" else INTERRUPTED
        trouble = f"interrupted at t = {reached:.6g} s; what was computed is kept"
        if folder is not None and data.attrs["status"] == "interrupted":
            trouble += f". Go on with `{command(folder, found.facts())}`"
    with defer_signals() as note:  # what was computed is written first
        outcome = _report_result(data, folder, outs, plot, status, trouble, [str(one.message) for one in warned])
    if note.signal is not None and outcome == DONE:
        return complain("interrupted", TERMINATED if note.signal == signal.SIGTERM else INTERRUPTED)
    if any(page):
        view_command.show_result(data, page[0], page[1], found.given)
    return outcome


def _report_result(data, folder, outs, plot, status, trouble, warned):
    """Tell how a run went and keep its result. Returns the exit status."""
    from ..look.summary import summary
    from ..store import result_files
    from ..store.export_formats import format_of

    print(summary(data))
    for one in warned:
        complain(f"warning: {one}")
    try:
        for out in outs:
            if folder is None or format_of(out) is not None:
                result_files.save_result(data, out)
            else:  # a large result is not in memory, and need not get there
                result_files.copy_result(data.encoding["source"], out)
            print(f"  written         {out}")
        if plot is not None:
            print(f"  drawn           {draw(data, plot)}")
    except ResultError as error:
        if trouble is not None:
            complain(trouble)
        return complain(error, status or BAD_INPUT)
    return status if trouble is None else complain(trouble, status)


@app.command()
def cases():
    """List the cases: mechanisms that come with torsor, what each of them is, and what can be chosen in it."""
    import textwrap

    from .. import cases as library

    print("Mechanisms. `torsor run NAME` simulates one, `torsor info NAME` describes it.")
    print("Options are set as in `torsor run chain --set n=20`.\n")
    names = library.names()
    left = max(len(name) for name in names) + 2
    for name in names:
        options = ", ".join(f"{k}={v}" for k, v in library.options(name).items())
        count = len(library.load(name).bodies)
        facts = f"{count} {'body' if count == 1 else 'bodies'}, {library.until(name):g} s"
        said = [registered("case")[name].title, facts + (f"; options: {options}" if options else "")]
        lines = [line for text in said for line in textwrap.wrap(text, 80 - left)]
        print("\n".join(f"{name if k == 0 else '':{left}}{line}" for k, line in enumerate(lines)))


@app.command()
def info(
    source: Annotated[str, SOURCE],
    set: Annotated[list[str] | None, SET] = None,
    plot: Annotated[str | None, GRAPH] = None,
):
    """Describe a model: bodies, joints, degrees of freedom, topology, redundant constraints, kernels."""
    from ..look.report import describe
    from .model_source import assignments, explain_user_errors, load

    found = load(source, assignments(set))
    found.print_notes()
    with explain_user_errors(found.file):
        print(describe(found.model, parameters=found.parameters))
    if plot is not None:
        import matplotlib

        matplotlib.use("Agg")
        from ..look.topology_plot import plot_graph

        print(f"\ndrawn  {save_figure(plot_graph(found.model), plot)}")


for command in (
    check_command.check, component_commands.save, component_commands.trust, study_command.study,
    kinematics_command.kinematics, assemble_command.assemble,
    statics_commands.equilibrium, statics_commands.modes, view_command.view, new_model.new, doctor_command.doctor,
    convert_command.convert, export_command.export, mates_command.mates, schema_command.schema,
):  # fmt: skip
    app.command()(command)


@app.command()
def plot(result: Annotated[str, RESULT], folder: Annotated[str, FOLDER]):
    """Draw a stored result: energy, drift, coordinates, reactions, paths, events."""
    from ..store.result_files import load_result

    data = load_result(result)
    folder_for(folder)
    print(draw(data, folder))
