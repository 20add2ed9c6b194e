"""Handling of Ctrl-C (SIGINT) and SIGTERM during a run.

    defer_signals            stores signals while a run goes on; the run stops at the end of a slice, where its state is consistent
    raise_signals_at_once    inside `defer_signals`, while equations are derived: a signal raises an exception at once
    reraise_signals          while CasADi or Numba work, which may swallow the exception of a signal or replace it by another one

Python delivers signals to the main thread only. In other threads these functions do nothing.
"""

import _thread
import signal
import threading
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)
RERAISE_AFTER = 0.25  # seconds after which an exception that was swallowed is raised again


class Terminated(KeyboardInterrupt):
    """SIGTERM, as an exception."""


class SignalNote:
    """A received signal, or None.

    abrupt   whether a signal raises KeyboardInterrupt at once
    """

    signal = None
    abrupt = False


_notes: list[SignalNote] = []  # of the runs that go on in the main thread, the innermost last


@contextmanager
def defer_signals(keeps=True):
    """Store Ctrl-C and SIGTERM instead of ending the process. A second Ctrl-C raises KeyboardInterrupt.

    keeps   whether the results of the run are stored; False: SIGTERM ends the process unless the user has a handler for it
    """
    note, before = SignalNote(), {}

    def handler(number, frame):
        second = note.signal is not None and number == signal.SIGINT
        note.signal = number
        if second or note.abrupt:
            raise KeyboardInterrupt

    if _in_main_thread():
        handled = [number for number in SIGNALS if keeps or callable(signal.getsignal(number))]
        before = {number: signal.signal(number, handler) for number in handled}
        _notes.append(note)
    try:
        yield note
    finally:
        if _in_main_thread():
            _notes.remove(note)
        _restore(before)


def stop_requested():
    """True if the innermost run of the main thread has received a signal."""
    return _innermost().signal is not None


@contextmanager
def raise_signals_at_once():
    """Raise KeyboardInterrupt at once for a signal that `defer_signals` would only store."""
    note = _innermost()
    note.abrupt = True
    try:
        if note.signal is not None:
            raise KeyboardInterrupt
        yield
    finally:
        note.abrupt = False


@contextmanager
def reraise_signals():
    """Make sure that the exception of a signal handler leaves this block.

    If it is swallowed, it is raised again every `RERAISE_AFTER` seconds. If it is replaced by another exception, the original
    one is raised instead.
    """
    if not _in_main_thread():
        yield
        return
    raised: list = []
    left, before, repeaters = threading.Event(), {}, []

    def wrap(number, original):
        def handler(_, frame):
            if raised and left.is_set():  # the exception has left the block already
                return
            try:
                original(number, frame)
            except BaseException as error:
                if not raised:
                    repeaters.append(threading.Thread(target=repeat, args=(number,), daemon=True))
                    repeaters[0].start()
                raised.append(error)
                raise

        return handler

    def repeat(number):
        while not left.wait(RERAISE_AFTER):
            _thread.interrupt_main(number)

    for number in SIGNALS:
        original = signal.getsignal(number)
        if callable(original):
            before[number] = signal.signal(number, wrap(number, original))
    try:
        yield
    except BaseException as error:
        left.set()
        if raised and error is not raised[0]:
            raise raised[0] from None
        raise
    finally:
        left.set()
        for thread in repeaters:  # before the original handlers are active again
            thread.join()
        _restore(before)
    if raised:
        raise raised[0]


def _innermost():
    return _notes[-1] if _notes and _in_main_thread() else SignalNote()


def _in_main_thread():
    return threading.current_thread() is threading.main_thread()


def _restore(handlers):
    for number, original in handlers.items():
        signal.signal(number, signal.SIG_DFL if original is None else original)
