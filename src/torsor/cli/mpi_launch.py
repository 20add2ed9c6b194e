"""`torsor run --ranks N`: the same command on so many ranks, which MPI starts on this computer.

What ranks print would pass through MPI's own starter, which ends when a rank is killed, and rank 0 would have nobody to tell.
It is therefore given this process's own output, and a folder to leave its exit status in.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..errors import OptionError
from ..parallel.mpi import INSTALL, world
from ..parallel.mpi_processes import process_count, rank_of_environment
from ..run.interrupt_signals import Terminated
from . import FAILED, complain

FOLDER, STREAMS = "TORSOR_RANKS_FOLDER", "TORSOR_RANKS_STREAMS"
LOOK = 0.05  # seconds between two looks at what is left
PATIENCE = 10.0  # seconds in which all ranks end after rank 0


def run_on_ranks(context, count):
    """The exit status of a command that is run by ranks which are started here; None where it is to be run in this process."""
    if count is not None and count < 1:
        raise OptionError(f"--ranks must be a positive number, got {count}")
    if count in (None, 1) or process_count() > 1:
        return None
    return launch(count, [context.info_name, *_command_line(context)])


def _command_line(context):
    """The arguments and options of a command as they were typed, but for `--ranks`."""
    found = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name)
        if parameter.name == "ranks" or value is None or value is False:
            continue
        several = value if isinstance(value, (list, tuple)) else [value]
        name = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
        found += name if value is True else [text for one in several for text in (*name, str(one))]
    return found


def of_ranks(given):
    """Further arguments of `simulate` on a rank."""
    return {"ranks": True, "formulation": given["formulation"] or "hierarchical"} if process_count() > 1 else {}


def launch(count, arguments):
    """Run a command on so many ranks. Returns the exit status of rank 0."""
    starter = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if starter is None:
        raise OptionError(f"--ranks {count}: there is no mpiexec: {INSTALL}")
    command = [starter, "-n", str(count), sys.executable, "-m", "torsor", *arguments]
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="torsor") as folder, open(os.path.join(folder, "said"), "w+b") as said:
        running = _start_launcher(command, os.environ | {FOLDER: folder}, said)
        status = _wait_for_status(running, Path(folder))
        if status is None:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            return complain(f"the ranks have ended without a result:\n{chr(10).join(lines[-20:])}", FAILED)
    return status


def _start_launcher(command, environment, said):
    """The process that starts the ranks; what it says itself is kept apart, where rank 0 can be given our own output."""
    if os.name == "nt":
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment)
    streams = [os.dup(1), os.dup(2)]
    environment |= {STREAMS: ",".join(map(str, streams))}
    own: dict = {"pass_fds": streams, "start_new_session": True}
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, **own)
    finally:
        for stream in streams:
            os.close(stream)


def _wait_for_status(running, folder):
    """The exit status that rank 0 leaves, None if it leaves none; signals are handed on to the ranks, a second one ends them."""
    status, signals_sent = folder / "status", 0
    while not status.exists() and (running.poll() is None or _alive(folder / "0")):
        try:
            time.sleep(LOOK)
        except KeyboardInterrupt as error:
            number = signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT
            _relay_signals(running, folder, number if signals_sent == 0 else signal.SIGKILL)
            signals_sent += 1
    try:
        running.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _relay_signals(running, folder, signal.SIGKILL)
    return int(status.read_text()) if status.exists() else None


def _alive(file):
    """True if the process lives that has left its number in a file."""
    try:
        number = int(file.read_text())
        os.kill(number, 0)
    except (OSError, ValueError):
        return False
    try:  # one that has ended may not have been buried yet
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self").exists()


def _relay_signals(running, folder, number):
    files = [file for file in folder.iterdir() if file.name.isdigit() and _alive(file)]
    for file in files:
        os.kill(int(file.read_text()), number)
    if not files or number == signal.SIGKILL:
        running.kill()


def join_launch():
    """A rank leaves the process group that started it. One of `launched` says who it is, and rank 0 prints for the user."""
    if process_count() == 1:
        return
    _apart()
    if FOLDER not in os.environ:
        return
    rank = rank_of_environment()
    Path(os.environ[FOLDER], str(rank)).write_text(str(os.getpid()))
    if rank == 0 and STREAMS in os.environ:
        for stream, target in zip(os.environ[STREAMS].split(","), (1, 2)):
            os.dup2(int(stream), target)


def _apart():
    """What starts ranks kills all of them when one ends, and what was computed has to be kept first. The rank is therefore a child
    of the process that was started, in a session of its own; that process only hands on signals, and the exit status."""
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        os.setsid()
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # by which MPICH says that a process has ended
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(status if status >= 0 else 128 - status)


def silent():
    """True if rank 0 speaks for this process: it hears of everything."""
    return rank_of_environment() > 0 and process_count() > 1 and world.cache_info().currsize > 0


def store_exit_status(status):
    """Rank 0 leaves its exit status."""
    if FOLDER in os.environ and rank_of_environment() == 0 and process_count() > 1:
        path = Path(os.environ[FOLDER], "status")
        path.with_suffix(".new").write_text(str(status))
        path.with_suffix(".new").replace(path)
