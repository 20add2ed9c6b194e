"""The processes that MPI has started beside each other, as far as they can be known without MPI.

While MPI itself starts, or a rank waits for others to connect, a rank that has ended before would be waited for in vain: it raised
an error before it called `simulate`, or called `sys.exit`. On Linux it is noticed in two ways:

    its process is gone: fewer children of the launcher live than ranks were started on this computer
    its program is over, but MPI keeps the process: it has bound a local socket, whose name tells which rank of which job it is,
    and why it has ended
"""

import atexit
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

STARTED = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
)
HERE = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")  # how many ranks the launcher started on this computer
MARK = "TORSOR_RANK_PROCESS"  # in the environment of processes that a rank starts: they are no ranks
OVER = "its program is over"
LONGEST = 107  # bytes of the name of a local socket
SHORTAGE = 1.0  # seconds for which a process must be missing
LINUX = sys.platform.startswith("linux")


def started():
    """How many processes MPI has started beside each other here, as its environment says; 1 where it has not."""
    sizes = [os.environ.get(size, "") for rank, size in STARTED if rank in os.environ]
    return max([int(text) for text in sizes if text.isdigit()], default=1)


def rank_of_environment():
    """Which of these processes this is."""
    ranks = [os.environ[rank] for rank, _ in STARTED if os.environ.get(rank, "").isdigit()]
    return int(ranks[0]) if ranks else 0


def _launcher():
    """The process that started this rank: the nearest ancestor that is no rank itself; 0 where that is not known."""
    number = os.getppid()
    try:
        while any(f"\0{rank}=".encode() in b"\0" + Path(f"/proc/{number}/environ").read_bytes() for rank, _ in STARTED):
            number = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # a process of somebody else, as launchers of clusters are
        pass
    return number if LINUX and number > 1 else 0


class Job:
    """The ranks of this job on this computer.

    joined    whether this process has been connected to the others
    failure   the error that ends this program, in words; empty: none does
    """

    def __init__(self):
        self.rank, self.count, self.launcher = rank_of_environment(), started(), _launcher()
        self.joined, self.failure, self.missing_since = False, "", None

    def watch_exit(self):
        """Note what ends this program, and announce its end to ranks that wait for it."""
        before = sys.excepthook

        def note(kind, error, trace):
            self.failure = f"{kind.__name__}: {error}"
            before(kind, error, trace)

        sys.excepthook = note
        atexit.register(self._announce)

    def _announce(self):
        if self.launcher and not self.joined:
            said = " ".join((self.failure or OVER).split()).encode()
            left = socket.socket(socket.AF_UNIX)
            with suppress(OSError):  # then nobody is told
                left.bind((b"\0" + self._name(self.rank) + said)[:LONGEST])
            left.detach()  # open until the process ends

    def _name(self, rank):
        return f"torsor-rank-{self.launcher}-{rank} ".encode()

    def ended(self):
        """Which rank of this computer has ended before it was connected, in words; empty: none that is known."""
        try:
            sockets = Path("/proc/net/unix").read_bytes() if self.launcher else b""
        except OSError:
            sockets = b""
        for rank in range(self.count):
            _, found, rest = sockets.partition(b"@" + self._name(rank))
            if found and rank != self.rank:
                said, _, _ = rest.partition(b"\n")
                return f"{self._early(rank)}: {said.decode(errors='replace')}"
        return self._missing()

    @staticmethod
    def _early(ranks):
        return f"rank {ranks} has ended before it took part in the run"

    def _missing(self):
        """Whether a process of a rank is gone, in words."""
        local = next((int(os.environ[name]) for name in HERE if os.environ.get(name, "").isdigit()), 0)
        living = self._living()
        if living is None or len(living) >= local:
            self.missing_since = None
            return ""
        self.missing_since = self.missing_since or time.monotonic()
        if time.monotonic() - self.missing_since < SHORTAGE:
            return ""
        ranks = sorted(set(range(self.count)) - living) if local == self.count else []
        return f"{self._early(', '.join(map(str, ranks)) or '?')}: its process is gone"

    def _living(self):
        """The ranks of this computer whose processes live; None where that is not known."""
        found = set()
        try:
            numbers = Path(f"/proc/{self.launcher}/task/{self.launcher}/children").read_text().split()
            for number in numbers:
                if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    text = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
                    values = dict(line.split(b"=", 1) for line in text if b"=" in line)
                    found.add(next(int(values[rank.encode()]) for rank, _ in STARTED if rank.encode() in values))
        except (OSError, ValueError, StopIteration):  # a process that ends just now, or of somebody else
            return None
        return found


JOB: Job | None = None


def job():
    """The job that this process belongs to."""
    global JOB
    JOB = JOB or Job()
    return JOB


def watch_exit():
    """Called when torsor is imported by a process that MPI has started. Processes that a rank starts are no ranks."""
    if started() > 1 and MARK not in os.environ:
        os.environ[MARK] = str(os.getpid())
        job().watch_exit()
