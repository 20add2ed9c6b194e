"""Lifelines: connections between ranks by which each notices at once when another one has ended, and why.

MPI itself may wait for ever for a process that was killed. A connection of the operating system does not: it is closed when its
process ends, however that happens. Every rank holds one to rank 0, and rank 0 passes on what it hears.

A rank whose run fails says so in a line of text, `RUN RANK KIND TEXT`; the number of the run keeps the next one apart from it. A
program that is over says "left". A connection that closes without a word was a process that was killed, or a computer that was
switched off.
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

PATIENCE = 60.0  # seconds in which all ranks have to connect
IDLE = 10  # seconds of silence after which a connection is probed
LOOK = 0.1  # seconds between two looks while others are waited for
GRACE = 3.0  # seconds in which this process may raise an error itself before it is ended
LEFT, LOST = "left", "lost"  # kinds of notices: the program of a rank is over; its process has ended without a word


class Notice(NamedTuple):
    """What one rank says of its end. kind: name of the class of the error, LEFT or LOST."""

    rank: int
    kind: str
    text: str


class Lifeline:
    """The connections of one rank: of rank 0 to all others, of all others to rank 0.

    share   hands an object of rank 0 to all ranks
    check   raises an error where a rank has ended before it is connected; called while others are waited for
    failed  notices of runs that failed, by the number of the run;   gone   the first notice of a rank that has ended for good
    left    ranks that have ended;   lost   whether one has ended without a word, so that MPI must not wait for it
    """

    def __init__(self, rank, count, share, check):
        self.rank, self.lost = rank, False
        self.left: set[int] = set()
        self.gone: Notice | None = None
        self.failed: dict[int, Notice] = {}
        self.unread: dict[int, bytes] = {}
        if rank == 0:
            listening = socket.create_server(("", 0), backlog=count)
            share((_address(), listening.getsockname()[1], key := secrets.token_bytes(16)))
            self.connections = self._accepted(listening, count, key, check)
        else:
            host, port, key = share(None)
            self.connections = {0: self._connected(host, port, key)}
        for connection in self.connections.values():
            _probed(connection)

    @staticmethod
    def _accepted(listening, count, key, check):
        """Connections of all other ranks, which show the key that only they have."""
        found: dict[int, socket.socket] = {}
        limit = time.monotonic() + PATIENCE
        with listening:
            listening.settimeout(LOOK)
            while len(found) < count - 1:
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    check()
                    if time.monotonic() > limit:
                        raise
                    continue
                connection.settimeout(PATIENCE)
                told = connection.recv(len(key) + 4, socket.MSG_WAITALL)
                if secrets.compare_digest(told[: len(key)], key):
                    found[int.from_bytes(told[len(key) :], "big")] = connection
                else:
                    connection.close()
        return found

    def _connected(self, host, port, key):
        connection = socket.create_connection((host, port), timeout=PATIENCE)
        connection.sendall(key + self.rank.to_bytes(4, "big"))
        return connection

    def listen(self, run):
        """The notice that ends a run on this rank; None while all is well."""
        if self.connections:
            for connection in select.select(list(self.connections.values()), [], [], 0)[0]:
                rank = next(k for k, c in self.connections.items() if c is connection)
                self._hear(rank, connection)
        return self.failed.get(run, self.gone)

    def _hear(self, rank, connection):
        try:
            told = connection.recv(65536)
        except OSError:
            told = b""
        *lines, self.unread[rank] = (self.unread.get(rank, b"") + told).split(b"\n")
        for line in lines:
            run, who, kind, text = line.decode(errors="replace").split(" ", 3)
            self._take(int(run), Notice(int(who), kind, text))
        if not told:
            del self.connections[rank]
            connection.close()
            if rank not in self.left:
                self._take(0, Notice(rank, LOST, ""))

    def _take(self, run, notice):
        """Keep the first notice of each kind; rank 0 passes it on."""
        if notice.kind in (LEFT, LOST):
            self.lost = self.lost or notice.kind == LOST
            self.left.add(notice.rank)
            self.gone = self.gone or notice
        else:
            self.failed.setdefault(run, notice)
        if self.rank == 0:
            self.tell(run, notice)

    def tell(self, run, notice):
        """Send a notice to all connections but that of the rank it is from."""
        text = " ".join(notice.text.split())
        line = f"{run} {notice.rank} {notice.kind} {text}\n".encode()
        for rank, connection in self.connections.items():
            if rank != notice.rank:
                with contextlib.suppress(OSError):
                    connection.sendall(line)


@contextmanager
def in_time(seconds, message, ended=lambda: ""):
    """End this process with a message where what is done in here takes longer, or where `ended` returns why it cannot succeed.

    While MPI waits for ranks to start, nothing else runs in this process, no thread and no handler of signals: one that never
    starts, because it lacks the package or has failed before, would keep it waiting. A process of its own therefore watches."""
    if not hasattr(os, "fork"):
        yield
        return
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the watcher has nothing to do with
        watcher = os.fork()
    if watcher == 0:
        os.close(theirs)
        limit, why = time.monotonic() + seconds, ""
        while not select.select([ours], [], [], LOOK)[0]:
            why = why or ended()
            late = time.monotonic() > limit
            if late or (why and not select.select([ours], [], [], GRACE)[0]):
                os.write(2, f"torsor: {why or message}\n".encode())
                os.kill(os.getppid(), signal.SIGKILL)
                break
        os._exit(0)
    os.close(ours)
    try:
        yield
    finally:
        os.close(theirs)
        os.waitpid(watcher, 0)


def _address():
    """Where other computers find this one."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _probed(connection):
    """Have silent connections probed, so that a computer that is switched off is noticed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", IDLE), ("TCP_KEEPINTVL", IDLE), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
