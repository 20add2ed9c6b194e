"""The processes that the MPI launcher has started, as far as they can be detected without MPI.

While MPI itself starts, or a rank waits for others to connect, a rank may already have ended: it raised an error before it called
`simulate`, or called `sys.exit`. The others would wait for it forever. On Linux it is detected in two ways:

    its process is gone: the launcher has fewer living children than ranks were started on this computer
    its program is over, but MPI keeps the process: it has bound a local socket, whose name contains the job, the rank and the
    reason for its end
"""

import atexit
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

RANK_AND_SIZE_VARIABLES = (  # environment variables of MPI launchers
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
)
LOCAL_SIZE_VARIABLES = (
    "MPI_LOCALNRANKS",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
)  # number of ranks that the launcher started on this computer
RANK_MARK = "TORSOR_RANK_PROCESS"  # environment variable; processes that a rank starts inherit it and are no ranks
PROGRAM_OVER = "its program is over"
SOCKET_NAME_BYTES = 107  # longest name of a local socket
MISSING_TIME = 1.0  # time for which a process must be missing until its rank counts as ended [s]
LINUX = sys.platform.startswith("linux")


def process_count():
    """Number of processes that the MPI launcher has started, from the environment; 1 without MPI."""
    sizes = [os.environ.get(size, "") for rank, size in RANK_AND_SIZE_VARIABLES if rank in os.environ]
    return max([int(text) for text in sizes if text.isdigit()], default=1)


def rank_of_environment():
    """Rank of this process, from the environment; 0 without MPI."""
    ranks = [os.environ[rank] for rank, _ in RANK_AND_SIZE_VARIABLES if os.environ.get(rank, "").isdigit()]
    return int(ranks[0]) if ranks else 0


def _launcher():
    """Process number of the launcher: the nearest ancestor that is no rank itself; 0 if unknown."""
    number = os.getppid()
    try:
        while any(
            f"\0{rank}=".encode() in b"\0" + Path(f"/proc/{number}/environ").read_bytes()
            for rank, _ in RANK_AND_SIZE_VARIABLES
        ):
            number = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # a process of another user, as launchers of clusters are
        pass
    return number if LINUX and number > 1 else 0


class Job:
    """The ranks of this job on this computer.

    joined          True once this process is connected to the other ranks
    failure         text of the error that ends this program; empty: none
    missing_since   time since when a process is missing; None: none is
    """

    def __init__(self):
        self.rank = rank_of_environment()
        self.count = process_count()
        self.launcher = _launcher()
        self.joined = False
        self.failure = ""
        self.missing_since: float | None = None

    def watch_exit(self):
        """Record the error that ends this program, and announce its end to ranks that wait for it."""
        before = sys.excepthook

        def record(kind, error, trace):
            self.failure = f"{kind.__name__}: {error}"
            before(kind, error, trace)

        sys.excepthook = record
        atexit.register(self._announce)

    def _announce(self):
        """Bind a local socket whose name says that this rank has ended, and why."""
        if self.launcher and not self.joined:
            reason = " ".join((self.failure or PROGRAM_OVER).split()).encode()
            announcement = socket.socket(socket.AF_UNIX)
            with suppress(OSError):  # without the socket the end is not announced
                announcement.bind((b"\0" + self._socket_name(self.rank) + reason)[:SOCKET_NAME_BYTES])
            announcement.detach()  # it stays open until the process ends

    def _socket_name(self, rank):
        return f"torsor-rank-{self.launcher}-{rank} ".encode()

    def early_end(self):
        """Text that names a rank of this computer that has ended before it was connected; empty if none is known."""
        try:
            sockets = Path("/proc/net/unix").read_bytes() if self.launcher else b""
        except OSError:
            sockets = b""
        for rank in range(self.count):
            _, found, rest = sockets.partition(b"@" + self._socket_name(rank))
            if found and rank != self.rank:
                reason, _, _ = rest.partition(b"\n")
                return f"{self._ended_early(rank)}: {reason.decode(errors='replace')}"
        return self._missing_process()

    @staticmethod
    def _ended_early(ranks):
        return f"rank {ranks} has ended before it took part in the run"

    def _missing_process(self):
        """Text that names the ranks whose processes are gone; empty if there are none."""
        local = next((int(os.environ[name]) for name in LOCAL_SIZE_VARIABLES if os.environ.get(name, "").isdigit()), 0)
        living = self._living_ranks()
        if living is None or len(living) >= local:
            self.missing_since = None
            return ""
        self.missing_since = self.missing_since or time.monotonic()
        if time.monotonic() - self.missing_since < MISSING_TIME:
            return ""
        ranks = sorted(set(range(self.count)) - living) if local == self.count else []
        return f"{self._ended_early(', '.join(map(str, ranks)) or '?')}: its process is gone"

    def _living_ranks(self):
        """Ranks of this computer whose processes live; None if unknown."""
        ranks = set()
        try:
            numbers = Path(f"/proc/{self.launcher}/task/{self.launcher}/children").read_text().split()
            for number in numbers:
                if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    text = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
                    values = dict(line.split(b"=", 1) for line in text if b"=" in line)
                    ranks.add(
                        next(
                            int(values[rank.encode()]) for rank, _ in RANK_AND_SIZE_VARIABLES if rank.encode() in values
                        )
                    )
        except (OSError, ValueError, StopIteration):  # a process that is ending, or of another user
            return None
        return ranks


JOB: Job | None = None


def job():
    """The job that this process belongs to."""
    global JOB
    JOB = JOB or Job()
    return JOB


def watch_exit():
    """Watch the end of this process if it is a rank of MPI; called when torsor is imported. Processes that a rank starts are no
    ranks."""
    if process_count() > 1 and RANK_MARK not in os.environ:
        os.environ[RANK_MARK] = str(os.getpid())
        job().watch_exit()
