"""Ctrl-C (SIGINT) and SIGTERM: when they count, and that none is lost.

    noted         while a run goes on, signals are taken note of, and the run stops where its state is whole
    abrupt        in there, while equations are derived for the run, a signal ends that at once
    never_lost    while CasADi or Numba work: they may swallow the exception of a signal, or turn it into another one

Signals reach the main thread only; in other threads all of this does nothing.
"""

import _thread
import signal
import threading
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 0.25  # seconds after which an exception that has not got out is raised again


class Terminated(KeyboardInterrupt):
    """SIGTERM, as an exception."""


class Note:
    """The signal that asked a run to end, if any. abrupt: whether one is raised at once."""

    signal = None
    abrupt = False


_notes: list[Note] = []  # of the runs that go on in the main thread, the innermost last


@contextmanager
def noted(keeps=True):
    """Take note of Ctrl-C and of SIGTERM instead of dying from them; of a second Ctrl-C as usual.

    keeps   whether there is a place where the run is kept; False: SIGTERM ends the process as it would without torsor,
            unless somebody handles it
    """
    note, before = Note(), {}

    def handler(number, frame):
        again = note.signal is not None and number == signal.SIGINT
        note.signal = number
        if again or note.abrupt:
            raise KeyboardInterrupt

    if _main():
        taken = [number for number in SIGNALS if keeps or callable(signal.getsignal(number))]
        before = {number: signal.signal(number, handler) for number in taken}
        _notes.append(note)
    try:
        yield note
    finally:
        if _main():
            _notes.remove(note)
        _restore(before)


def asked():
    """Whether a signal asked the run that goes on here to end."""
    return _innermost().signal is not None


@contextmanager
def abrupt():
    """In here a signal is raised at once as KeyboardInterrupt, where `noted` would only take note of it."""
    note = _innermost()
    note.abrupt = True
    try:
        if note.signal is not None:
            raise KeyboardInterrupt
        yield
    finally:
        note.abrupt = False


@contextmanager
def never_lost():
    """What the handler of a signal raises in here gets out, and soon: it is raised again while it does not, and in the place
    of any other exception that it was turned into."""
    if not _main():
        yield
        return
    raised: list = []
    out, before, repeated = threading.Event(), {}, []

    def heard(number, old):
        def handler(_, frame):
            if raised and out.is_set():  # it is on its way
                return
            try:
                old(number, frame)
            except BaseException as error:
                if not raised:
                    repeated.append(threading.Thread(target=again, args=(number,), daemon=True))
                    repeated[0].start()
                raised.append(error)
                raise

        return handler

    def again(number):
        while not out.wait(PATIENCE):
            _thread.interrupt_main(number)

    for number in SIGNALS:
        old = signal.getsignal(number)
        if callable(old):
            before[number] = signal.signal(number, heard(number, old))
    try:
        yield
    except BaseException as error:
        out.set()
        if raised and error is not raised[0]:
            raise raised[0] from None
        raise
    finally:
        out.set()
        for thread in repeated:  # before the handlers of others hear of it
            thread.join()
        _restore(before)
    if raised:
        raise raised[0]


def _innermost():
    return _notes[-1] if _notes and _main() else Note()


def _main():
    return threading.current_thread() is threading.main_thread()


def _restore(handlers):
    for number, old in handlers.items():
        signal.signal(number, signal.SIG_DFL if old is None else old)
