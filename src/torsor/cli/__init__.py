"""The command line. `main` turns every outcome into an exit status, and every mistake into one message."""

import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from ..errors import TorsorError

DONE, BAD_INPUT, FAILED, INTERRUPTED, TERMINATED = 0, 2, 3, 130, 143
WORDS = {  # what messages say to those who call from Python, and to those who type
    " kept in `data` of this error": " kept", " in `data` of this error": " kept", "; it is `nearest` of this error": "",
    "certify=True": "--certify", "grid=True": "--grid", "modes=True": "--modes", "least_squares=True": "--least-squares",
}  # fmt: skip


def main(arguments=None):
    """Run the command line and leave with its status: 0 done, 2 bad input, 3 integration failed, 130 interrupted, 143 ended by
    SIGTERM."""
    if _by_mpi():
        from .mpi_launch import join_launch, store_exit_status

        join_launch()
        store_exit_status(status := status_of(arguments))
        sys.exit(status)
    sys.exit(status_of(arguments))


def status_of(arguments=None):
    """The exit status of a command line."""
    from ..run.interrupt_signals import Terminated

    try:
        with ending():
            from .commands import app

            with redirect_stdout(Unread(sys.stdout)) as out, redirect_stderr(Unread(sys.stderr)):
                status = app(args=arguments, prog_name="torsor", standalone_mode=False)
                out.flush()
        if out.trouble is not None:
            return complain(f"cannot write to standard output: {out.trouble.strerror}")
        return status if isinstance(status, int) else DONE
    except TorsorError as error:
        return complain(error)
    except Terminated:
        return complain("ended by SIGTERM", TERMINATED)
    except (KeyboardInterrupt, EOFError):
        return complain("interrupted", INTERRUPTED)
    except Exception as error:
        if type(error).__name__ == "Abort":  # how the parser passes Ctrl-C on
            return complain("interrupted", INTERRUPTED)
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if not message or type(error).__name__ == "NoArgsIsHelpError":  # no command: the help was shown
            return DONE
        command = getattr(getattr(error, "ctx", None), "command_path", "torsor")
        return complain(f"{message.rstrip('.')}. See `{command} --help`.")


class Unread:
    """Standard output whose reader may go before the end, as `head` does, or is not there: a command then goes on in silence, and
    ends as ever. Where it is a file that takes no more, an error is printed at the end."""

    def __init__(self, stream):
        self.stream = open(os.devnull, "w") if stream is None else stream
        self.trouble: OSError | None = None

    def write(self, text):
        self._run_action(lambda: self.stream.write(text))
        return len(text)

    def flush(self):
        self._run_action(lambda: self.stream.flush())

    def _run_action(self, action):
        try:
            action()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.trouble = error
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.stream.fileno())
            os.close(nothing)
            self.stream.flush()

    def __getattr__(self, name):
        return getattr(self.stream, name)


@contextmanager
def ending():
    """SIGTERM ends a command as Ctrl-C does, cleaning up on the way; neither is lost, whatever it hits."""
    from ..run.interrupt_signals import Terminated, reraise_signals

    def terminate(number, frame):
        raise Terminated

    mine = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if mine else None
    try:
        with reraise_signals():
            yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, before)


def complain(message, status=BAD_INPUT):
    """One message on standard error, in words of the command line; of several ranks of MPI, rank 0 says it."""
    if _by_mpi():
        from .mpi_launch import silent

        if silent():
            return status
    text = str(message)
    for words, typed in WORDS.items():
        text = text.replace(words, typed)
    print(f"torsor: {text}", file=Unread(sys.stderr), flush=True)
    return status


def _by_mpi():
    """True if MPI has started this process."""
    return any(name in os.environ for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"))


@contextmanager
def print_warnings():
    """Warnings become messages on standard error, in words of the command line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for one in caught:
        complain(f"warning: {one.message}")
