"""TCP connections between ranks, by which each detects at once that another one has ended, and why.

MPI itself may wait forever for a process that was killed. A TCP connection does not: the operating system closes it when its
process ends in any way. Every rank has one connection, to rank 0, and rank 0 forwards the notices it receives.

A rank whose run fails sends a line of text, `RUN RANK KIND TEXT`. The number of the run separates it from the next run. A program
that is over sends the kind "left". A connection that closes without a notice belongs to a process that was killed, or to a computer
that was switched off.
"""

import contextlib
import os
import secrets
import select
import signal
import socket
import time
import warnings
from contextlib import contextmanager
from typing import NamedTuple

CONNECT_TIMEOUT = 60.0  # time within which all ranks must connect [s]
KEEPALIVE_TIME = 10  # idle time after which the operating system probes a connection [s]
POLL_INTERVAL = 0.1  # time between two checks while waiting for other ranks [s]
KILL_DELAY = 3.0  # time in which this process may raise an error itself before it is killed [s]
LEFT = "left"  # kind of a notice: the program of a rank is over
LOST = "lost"  # kind of a notice: its process has ended without a notice


class Notice(NamedTuple):
    """Message about the end of a rank or of its run.

    kind   name of the class of the error, LEFT or LOST
    """

    rank: int
    kind: str
    text: str


class RankConnections:
    """The connections of one rank: from rank 0 to all others, from all others to rank 0.

    broadcast   function that returns the object of rank 0 on all ranks
    check       function that raises an error if a rank has ended before it is connected; called while waiting for others
    failed      notices of runs that failed, by the number of the run
    gone        the first notice of a rank whose program or process has ended
    left        ranks that have ended
    lost        True if one has ended without a notice; then MPI must not wait for it
    """

    def __init__(self, rank, count, broadcast, check):
        self.rank = rank
        self.lost = False
        self.left: set[int] = set()
        self.gone: Notice | None = None
        self.failed: dict[int, Notice] = {}
        self.unread: dict[int, bytes] = {}
        if rank == 0:
            listening = socket.create_server(("", 0), backlog=count)
            key = secrets.token_bytes(16)
            broadcast((_address(), listening.getsockname()[1], key))
            self.connections = self._accept(listening, count, key, check)
        else:
            host, port, key = broadcast(None)
            self.connections = {0: self._connect(host, port, key)}
        for connection in self.connections.values():
            _enable_keepalive(connection)

    @staticmethod
    def _accept(listening, count, key, check):
        """Accept the connections of all other ranks, which identify themselves with the key. Returns them by rank."""
        connections: dict[int, socket.socket] = {}
        limit = time.monotonic() + CONNECT_TIMEOUT
        with listening:
            listening.settimeout(POLL_INTERVAL)
            while len(connections) < count - 1:
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    check()
                    if time.monotonic() > limit:
                        raise
                    continue
                connection.settimeout(CONNECT_TIMEOUT)
                received = connection.recv(len(key) + 4, socket.MSG_WAITALL)
                if secrets.compare_digest(received[: len(key)], key):
                    connections[int.from_bytes(received[len(key) :], "big")] = connection
                else:
                    connection.close()
        return connections

    def _connect(self, host, port, key):
        """Connect to rank 0."""
        connection = socket.create_connection((host, port), timeout=CONNECT_TIMEOUT)
        connection.sendall(key + self.rank.to_bytes(4, "big"))
        return connection

    def listen(self, run):
        """Read all connections. Returns the notice that ends a run on this rank, or None."""
        if self.connections:
            for connection in select.select(list(self.connections.values()), [], [], 0)[0]:
                rank = next(k for k, c in self.connections.items() if c is connection)
                self._receive(rank, connection)
        return self.failed.get(run, self.gone)

    def _receive(self, rank, connection):
        """Read the notices of one connection, and its end."""
        try:
            received = connection.recv(65536)
        except OSError:
            received = b""
        *lines, self.unread[rank] = (self.unread.get(rank, b"") + received).split(b"\n")
        for line in lines:
            run, who, kind, text = line.decode(errors="replace").split(" ", 3)
            self._keep(int(run), Notice(int(who), kind, text))
        if not received:
            del self.connections[rank]
            connection.close()
            if rank not in self.left:
                self._keep(0, Notice(rank, LOST, ""))

    def _keep(self, run, notice):
        """Keep the first notice of each kind; rank 0 also forwards it."""
        if notice.kind in (LEFT, LOST):
            self.lost = self.lost or notice.kind == LOST
            self.left.add(notice.rank)
            self.gone = self.gone or notice
        else:
            self.failed.setdefault(run, notice)
        if self.rank == 0:
            self.send(run, notice)

    def send(self, run, notice):
        """Send a notice to all connections except that of the rank it is about."""
        text = " ".join(notice.text.split())
        line = f"{run} {notice.rank} {notice.kind} {text}\n".encode()
        for rank, connection in self.connections.items():
            if rank != notice.rank:
                with contextlib.suppress(OSError):
                    connection.sendall(line)


@contextmanager
def time_limit(seconds, message, failure):
    """Context that kills this process with a message if it takes longer than a number of seconds, or if `failure()` returns a text
    that says why it cannot succeed.

    While MPI waits for ranks to start, no thread and no signal handler of this process runs. A rank that never starts, because the
    package is not installed there or it has failed before, would keep it waiting. Therefore a separate process watches the time.
    """
    if not hasattr(os, "fork"):
        yield
        return
    watcher_end, own_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads, which the watcher does not use
        watcher = os.fork()
    if watcher == 0:
        os.close(own_end)
        limit = time.monotonic() + seconds
        reason = ""
        while not select.select([watcher_end], [], [], POLL_INTERVAL)[0]:
            reason = reason or failure()
            late = time.monotonic() > limit
            if late or (reason and not select.select([watcher_end], [], [], KILL_DELAY)[0]):
                os.write(2, f"torsor: {reason or message}\n".encode())
                os.kill(os.getppid(), signal.SIGKILL)
                break
        os._exit(0)
    os.close(watcher_end)
    try:
        yield
    finally:
        os.close(own_end)
        os.waitpid(watcher, 0)


def _address():
    """Network address of this computer."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _enable_keepalive(connection):
    """Let the operating system probe idle connections, to detect a computer that was switched off."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", KEEPALIVE_TIME), ("TCP_KEEPINTVL", KEEPALIVE_TIME), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
