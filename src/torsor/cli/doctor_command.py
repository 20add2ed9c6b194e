"""`torsor doctor`: whether this installation is complete, and what to do where it is not."""

import os
import platform
import shutil
import sys
from importlib import metadata, util

from . import BAD_INPUT, DONE

REQUIRED = ("numpy", "casadi", "llvmlite", "xarray", "netCDF4", "typer", "rich", "matplotlib", "threadpoolctl")
EXTRAS = {  # extra -> the modules it brings, and what needs them
    "mjcf": (("mujoco",), "reading MJCF files"),
    "mpi": (("mpi4py",), "several processes (MPI)"),
    "files": (("pyarrow", "scipy"), "results as Parquet and MAT files"),
    "dask": (("distributed",), "studies on clusters"),
    "view": (("trimesh",), "meshes other than STL in the viewer"),
    "cad": (("OCP",), "reading CAD assemblies"),
    "docs": (("sphinx", "furo", "myst_parser"), "the documentation site"),
}
WIDTH = 12


class Report:
    """Lines of the report, and how many of them say that something necessary is missing."""

    def __init__(self):
        self.wrong = 0

    def line(self, what, state, advice=""):
        print(f"{what:<{WIDTH}} {state}" + (f": {advice}" if advice else ""))

    def fault(self, what, state, advice):
        self.wrong += 1
        self.line(what, f"WRONG  {state}", advice)


def doctor():
    """Check this installation: versions, cache, compiled loops, extras, viewer, MPI; say what to do."""
    report = Report()
    for check in (check_packages, check_cache, check_run, check_extras, check_viewer, check_mpi):
        check(report)
    print("everything that is needed works" if report.wrong == 0 else f"{report.wrong} of the above must be mended")
    return DONE if report.wrong == 0 else BAD_INPUT


def version_of(name):
    """The version of an installed package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def check_packages(report):
    """Versions of Python, of torsor and of what it needs."""
    from .. import __version__

    report.line("torsor", f"{__version__} in {os.path.dirname(os.path.dirname(__file__))}")
    report.line(
        "python", f"{platform.python_version()} on {platform.platform(terse=True)}, {os.cpu_count()} processors"
    )
    for name in REQUIRED:
        found = version_of(name)
        if found is None:
            report.fault(name, "is not installed", f"pip install {name}")
        else:
            report.line(name, found)


def check_cache(report):
    """The folder of compiled models: whether it can be written, and its size."""
    from ..kernels import cache

    folder = cache.folder()
    if not cache.store("doctor", "probe", b"probe") or cache.load("doctor", "probe") != b"probe":
        advice = (
            "models are compiled again by every process; let TORSOR_CACHE name a folder that you alone can write to"
        )
        report.line("cache", f"{folder} is not used", advice)
        return
    files = [entry for entry in os.scandir(folder) if entry.is_file()]
    size = sum(entry.stat().st_size for entry in files)
    report.line("cache", f"{folder}, {len(files)} entries, {size / 2**20:.0f} MB of {cache.LIMIT / 2**20:.0f} MB")


def check_run(report):
    """A pendulum of 2 s, whose energy must hold."""
    from .. import cases, simulate

    try:
        error = simulate(cases.load("pendulum"), 2.0, outputs=2, progress=False).attrs["energy_balance_error"]
    except Exception as problem:  # whatever it is, it is what the report is for
        report.fault("run", f"{type(problem).__name__}: {problem}", "install torsor again, without its cache")
        return
    if error < 1e-5:
        report.line("run", f"a pendulum runs, energy error {error:.0e} J")
    else:
        report.fault("run", f"a pendulum loses {error:.2g} J", "install torsor again")


def check_extras(report):
    """Optional packages, by the extra that brings them."""
    for extra, (modules, use) in EXTRAS.items():
        missing = [name for name in modules if util.find_spec(name) is None]
        if missing:
            report.line(extra, f"not installed ({', '.join(missing)})", f"for {use}: pip install 'torsor[{extra}]'")
        else:
            report.line(extra, f"installed, for {use}")


def check_viewer(report):
    """The page of the viewer, or what its building lacks."""
    from ..errors import OptionError
    from ..viewer import viewer_page

    if viewer_page.PAGE.is_file():
        report.line("viewer", f"{viewer_page.PAGE.stat().st_size / 1e3:.0f} kB")
        return
    try:
        node, _ = viewer_page.node_and_npm()
    except OptionError as problem:
        report.line("viewer", "not built", str(problem))
        return
    report.line("viewer", f"is built when it is first used, by {node}")


def check_mpi(report):
    """True if MPI can start processes."""
    found = shutil.which("mpiexec", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]))
    if found is None:
        report.line("mpiexec", "not found", "only needed for `torsor run --ranks`: pip install 'torsor[mpi]'")
    else:
        report.line("mpiexec", found)
