"""What can be typed after the name of a command, and what its help says."""

import typer

from .. import formulations as _formulations  # noqa: F401  registers them: the help lists their names
from ..registry import registered


def option(metavar, help, *names, parser=None):
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, parser=parser)


def number(metavar, help):
    return option(metavar, help, parser=_number)


def _number(text):
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


def _keys(kind):
    return ", ".join(registered(kind))


def _version(version: bool):
    if version:
        from .. import __version__

        print(f"torsor {__version__}")
        raise typer.Exit()


SOURCE = typer.Argument(
    metavar="CASE|FILE",
    help="A case (see `torsor cases`), a Python file that defines `model` or `build()`, a model file (FILE.yaml), a robot "
    "(FILE.urdf, MJCF: FILE.xml), or a saved component (FILE.tsc).",
)
SET = option("NAME=VALUE", "A parameter of the model, or an option of the case or of `build()`. Repeatable.", "--set")
UNTIL = number("SECONDS", "End time. Default: what the case or the file says.")
LATER = number("SECONDS", "A later end of the run, also of one that is complete. Default: as it was.")
START = option(
    "FILE.nc[@TIME]|NAME=VALUE",
    "Where it starts: a result at its last or another time, a saved state, or values of joints, bodies and states, as in hinge=0.3 "
    "or hinge.rate=1 (repeatable). Default: as the model says.",
    "--start",
)
OUTPUTS = option("N|T1,T2,...", "Number of equal output intervals (default 200), or times.")
RANKS = option(
    "N", "Run it on so many ranks of MPI, each a part of a large system (see docs/distributed.md).", "--ranks"
)
STEP = number("SECONDS", "Fixed step. Default: adaptive.")
METHOD = option(
    "NAME",
    f"{_keys('integrator')}; options as in generalized-alpha:rho=0.6. auto: radau5 where it is stiff. Default: "
    "rkmk54, adaptive.",
)
FORMULATION = option("NAME", f"auto (default: the cheapest), {_keys('formulation')}.")
PROJECTION = option("NAME", f"{_keys('projection')}; options as in baumgarte:alpha=20,beta=20. Default: least-squares.")
MAP = option("NAME", "exp (default) or cayley.")
REACTIONS = option("NAME", "Of redundant constraints: solved (default), or share, with the least norm.")
TOLERANCE = number("NUMBER", "Relative error per step of adaptive methods. Default: 1e-9; 1e-11 with events.")
OUT = option("FILE.nc", "Write the result as NetCDF; to FILE.csv, FILE.parquet or FILE.mat for other programs.")
CSV = option("FILE.csv", "Write the result as a flat table, one row per time.")
VARIED = option(
    "NAME=VALUES",
    "Values of a parameter: 1:10:50 (50 values from 1 to 10), 1:100:5:log (5 values with equal ratios) or 0.5,1,2; or one value. "
    "Repeatable.",
    "--set",
)
RUNS = option(
    "FILE.csv",
    "A table of runs: a line for each, a column for each parameter that varies, whose names are in the first line.",
    "--runs",
)
GRID = typer.Option("--grid", help="Every combination of the values; else the first of all, the second of all …")
REDUCE = option(
    "HOW", "Keep of each run: last, min, max or mean over its outputs. Repeatable. Default: all outputs.", "--reduce"
)
KEEP = option("VARIABLE", "Keep this variable of each run. Repeatable. Default: all.", "--keep")
STARTS = option(
    "NAME=VALUES|FILE.nc[@TIME]",
    "Where runs start: values of joints, bodies and states as with --set, as in hinge=0:1:10 (repeatable); or one start for all, "
    "as in `torsor run`.",
    "--start",
)
STORE = option("DIR", "Keep results in this folder as they come: the same command goes on after a kill.")
WORKERS = option("N", "Threads that carry out runs. Default: all processors.", "--threads")
CERTIFY = typer.Option("--certify", help="Measure the error of the result by a second, finer run.")
THREADS = option("N", "Threads that run a large model together. Default: 1.")
GRAPH = option("FILE.png", "Draw the graph of bodies and joints.", "--plot")
PLOT = option(
    "DIR",
    "Write energy.png, drift.png, coordinates.png, reactions.png, paths.png, snapshots.png; events.png and drives.png "
    "where there are any.",
)
HTML = option("FILE.html", "Write one HTML file that shows it, offline, in any browser.", "--html")
VIEW = typer.Option("--view", help="Show the result in the browser.")
SHOWN = typer.Argument(
    metavar="FILE.nc|DIR|CASE|FILE",
    help="A result; the folder of a run with --checkpoint, also while it runs; or a case, a Python file that defines `model` or "
    "`build()`, a robot (FILE.urdf, MJCF: FILE.xml), a component.",
)
COMPARE = option("FILE.nc", "A second result, shown as a ghost. Repeatable.", "--compare")
PORT = typer.Option(
    "--port", metavar="N", help="The port of the page on this machine. Default: a free one.", show_default=False
)
NO_BROWSER = typer.Option("--no-browser", help="Print the address and start no browser.")
CHECKPOINT = option("DIR", "Keep the run in this folder, so that `torsor resume DIR` can go on with it.")
EVERY = number("SECONDS", "Seconds on the clock between checkpoints. Default: 60.")
INTERVAL = number("SECONDS", "Simulated seconds between checkpoints.")
CHECKPOINTED = typer.Argument(metavar="DIR", help="The folder that `torsor run --checkpoint` was given.")
AGAIN = typer.Argument(
    metavar="CASE|FILE", help="What the run was started from. Not needed for a case.", show_default=False
)
RESULT = typer.Argument(metavar="FILE.nc", help="A result that `torsor run --out` or `torsor.save_result` wrote.")
FOLDER = typer.Argument(metavar="DIR", help="Where the pictures go.")
SAVED = typer.Argument(metavar="FILE.tsc", help="Where the component goes.")
COMPONENT = typer.Argument(metavar="FILE.tsc", help="A component that `torsor save` or `torsor.save_component` wrote.")
KEPT = option(
    "NAME", "A formulation whose compiled kernels go along. Default: auto and absolute. Repeatable.", "--formulation"
)
VERSION = typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
