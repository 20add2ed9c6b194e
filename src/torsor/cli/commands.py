"""The commands: what is typed, turned into calls of the package."""

import os
import warnings
from typing import Annotated

import typer

from .. import run as _run  # noqa: F401  registers integrators and projections, whose names the help lists
from ..errors import OptionError, ResultError, RunError
from ..registry import registered
from . import BAD_INPUT, DONE, FAILED, INTERRUPTED, complain

app = typer.Typer(name="torsor", add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

Given = Annotated[str, typer.Argument(metavar="CASE|FILE", help="A case (see `torsor cases`), or a Python file that defines `model` or `build()`.")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model, or an option of the case or of `build()`. Repeatable.")]  # fmt: skip
Number = float | None


def option(*names, metavar, help):
    return typer.Option(*names, metavar=metavar, help=help, show_default=False)


def _keys(kind):
    return ", ".join(registered(kind))


def _version(asked: bool):
    if asked:
        from .. import __version__

        print(f"torsor {__version__}")
        raise typer.Exit()


@app.callback()
def everything(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False):
    """Multibody dynamics on Lie groups."""


@app.command()
def run(
    source: Given,
    until: Annotated[Number, option(metavar="SECONDS", help="End time. Default: what the case or the file says.")] = None,
    outputs: Annotated[str | None, option(metavar="N|T1,T2,...", help="Number of equal output intervals (default 200), or times.")] = None,
    step: Annotated[Number, option(metavar="SECONDS", help="Fixed step. Default: adaptive.")] = None,
    method: Annotated[str | None, option(metavar="NAME", help=f"{_keys('integrator')}. Default: rkmk54, adaptive.")] = None,
    formulation: Annotated[str | None, option(metavar="NAME", help="absolute (default).")] = None,
    projection: Annotated[str | None, option(metavar="NAME", help=f"{_keys('projection')}, with options as in baumgarte:alpha=20,beta=20. Default: least-squares.")] = None,  # fmt: skip
    map: Annotated[str | None, option(metavar="NAME", help="exp (default) or cayley.")] = None,
    tolerance: Annotated[Number, option(metavar="NUMBER", help="Relative error per step of adaptive methods. Default: 1e-8.")] = None,
    set: Settings = None,
    out: Annotated[str | None, option(metavar="FILE.nc", help="Write the result as NetCDF.")] = None,
    plot: Annotated[str | None, option(metavar="DIR", help="Write energy.png, drift.png, coordinates.png, reactions.png, paths.png.")] = None,  # fmt: skip
):
    """Simulate a case or a model file, and report how accurate the result is."""
    from ..look import dataset, report
    from ..simulate import simulate
    from .source import assignments, blamed, load

    given = {
        "until": until, "outputs": None if outputs is None else _outputs(outputs), "step": step, "method": method,
        "formulation": formulation, "projection": projection, "map": map, "tolerance": tolerance,
    }  # fmt: skip
    found = load(source, assignments(set))
    arguments = found.recommended | {k: v for k, v in given.items() if v is not None}
    if "until" not in arguments:
        raise OptionError(f"{source}: does not say how long to run: define `until` in it, or give --until SECONDS")
    if out is not None:  # a long run must not end with the discovery that its result cannot be kept
        dataset.refuse_unwritable(out)
    if plot is not None:
        _folder(plot)

    status, trouble = DONE, None
    with warnings.catch_warnings(), blamed(found.file):
        warnings.simplefilter("ignore")
        try:
            data = simulate(found.model, parameters=found.parameters, **arguments)
        except RunError as error:
            data, status, trouble = error.data, FAILED, str(error).replace(" kept in `data` of this error", " kept")
    if data.attrs["status"] == "interrupted":
        status, trouble = INTERRUPTED, f"interrupted at t = {data.attrs['time_reached']:.6g} s; what was computed is kept"

    print(report.summary(data))
    try:
        if out is not None:
            dataset.save(data, out)
            print(f"  written         {out}")
        if plot is not None:
            print(f"  drawn           {_draw(data, plot)}")
    except ResultError as error:
        if trouble is not None:
            complain(trouble)
        return complain(error, status or BAD_INPUT)
    return status if trouble is None else complain(trouble, status)


@app.command()
def cases():
    """List the cases: what they are, where they come from, how many bodies they have and how long they run."""
    from .. import cases as library
    from ..look.report import table

    rows = [("NAME", "WHAT IT IS", "SOURCE", "BODIES", "RUNS")]
    for name in library.names():
        case = registered("case")[name]
        options = ", ".join(f"{k}={v}" for k, v in library.options(name).items())
        title = case.title + (f" [{options}]" if options else "")
        rows.append((name, title, case.source, str(len(library.load(name).bodies)), f"{library.until(name):g} s"))
    print("\n".join(table(rows, indent="")))


@app.command()
def info(source: Given, set: Settings = None):
    """Describe a model: bodies, joints, degrees of freedom, loops, redundant constraints, kernels."""
    from ..look.report import describe
    from .source import assignments, blamed, load

    found = load(source, assignments(set))
    with blamed(found.file):
        print(describe(found.model, parameters=found.parameters))


@app.command()
def plot(
    result: Annotated[str, typer.Argument(metavar="FILE.nc", help="A result that `torsor run --out` or `torsor.save` wrote.")],
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where the pictures go.")],
):
    """Draw a stored result: energy, drift, coordinates, reactions, paths."""
    from ..look.dataset import load

    data = load(result)
    _folder(folder)
    print(_draw(data, folder))


def _outputs(text):
    """A number of intervals, or times separated by commas."""
    try:
        return int(text) if "," not in text and "." not in text else [float(t) for t in text.split(",")]
    except ValueError:
        raise OptionError(f"--outputs {text!r}: give a number of intervals, or times separated by commas") from None


def _folder(path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot write plots to {path!r}: {error.strerror}") from None
    if not os.access(path, os.W_OK):
        raise ResultError(f"cannot write plots to {path!r}: the folder is not writable")


def _draw(data, folder):
    """All plots that the result has data for, as PNG files; returns their names."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..look.plots import available, plot

    written = []
    for what in available(data):
        figure = plot(data, what)
        path = os.path.join(folder, f"{what}.png")
        try:
            figure.savefig(path, dpi=130)
        except OSError as error:
            raise ResultError(f"cannot write {path!r}: {error.strerror}") from None
        finally:
            plt.close(figure)
        written.append(path)
    return ", ".join(written) or "nothing: the result holds no output times"
