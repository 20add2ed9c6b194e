"""Lifelines: connections between ranks by which each notices at once when another one has ended, and why.

MPI itself may wait for ever for a process that was killed. A connection of the operating system does not: it is closed when its
process ends, however that happens. Every rank holds one to rank 0, and rank 0 passes on what it hears.

A rank that ends in an orderly way says so in a line of text; a connection that closes without a word was a process that was
killed, or a computer that was switched off.
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

PATIENCE = 60.0  # seconds in which all ranks have to connect
IDLE = 10  # seconds of silence after which a connection is probed


class Lifeline:
    """The connections of one rank: of rank 0 to all others, of all others to rank 0.

    share   a function that hands an object of rank 0 to all ranks
    """

    def __init__(self, rank, count, share):
        self.rank, self.ended = rank, None
        self.heard: dict[int, bytes] = {}
        if rank == 0:
            listening = socket.create_server(("", 0), backlog=count)
            share((_address(), listening.getsockname()[1], key := secrets.token_bytes(16)))
            self.connections = self._accepted(listening, count, key)
        else:
            host, port, key = share(None)
            self.connections = {0: self._connected(host, port, key)}
        for connection in self.connections.values():
            _probed(connection)

    @staticmethod
    def _accepted(listening, count, key):
        """Connections of all other ranks, which show the key that only they have."""
        found: dict[int, socket.socket] = {}
        limit = time.monotonic() + PATIENCE
        with listening:
            while len(found) < count - 1:
                listening.settimeout(max(limit - time.monotonic(), 0.01))
                connection, _ = listening.accept()
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

    def listen(self):
        """(rank, text) of the first rank that has ended, None while all live; the text is None where it said nothing."""
        if self.ended is None and self.connections:
            for connection in select.select(list(self.connections.values()), [], [], 0)[0]:
                rank = next(k for k, c in self.connections.items() if c is connection)
                self._hear(rank, connection)
        return self.ended

    def _hear(self, rank, connection):
        try:
            told = connection.recv(65536)
        except OSError:
            told = b""
        line, end, _ = (self.heard.get(rank, b"") + told).partition(b"\n")
        self.heard[rank] = line
        if end:
            who, _, text = line.decode(errors="replace").partition(" ")
            self._end(int(who), text or None)
        elif not told:
            self._end(rank, None)

    def _end(self, rank, text):
        if self.ended is None:
            self.ended = rank, text
            self.tell(rank, text or "")

    def tell(self, rank, text):
        """Say that a rank has ended, and why."""
        line = f"{rank} {' '.join(str(text).split())}\n".encode()
        for connection in self.connections.values():
            with contextlib.suppress(OSError):
                connection.sendall(line)


@contextmanager
def in_time(seconds, message):
    """End this process with a message where what is done in here takes longer.

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
        if not select.select([ours], [], [], seconds)[0]:
            os.write(2, f"torsor: {message}\n".encode())
            os.kill(os.getppid(), signal.SIGKILL)
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
