"""Ranks: processes or threads that run one system together. How they communicate, and what happens when one is lost.

Each rank has its own kernels, records and time loop. There are three collective operations:

    exchange   kernels exchange numbers; each rank contributes its part of them (`formulations/schedules/schedule.py`)
    agree      time loops agree on the maximum of some numbers, so that all take the same decisions, and on the state of the trunk
    gathered   Python code gathers any objects, between slices of the loop

Compiled code calls the first two by address. An error there is kept as `trouble`: the numbers become NaN, which ends every loop,
and `check` raises the error in Python.
"""

from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext

import numpy as np

from .. import errors
from ..errors import OptionError, RunError, TorsorError


class RankLost(Exception):
    """Another rank has ended or does not respond. The text says which, and why.

    kind   name of the class of the error that ended it, if known
    """

    def __init__(self, text, kind=""):
        super().__init__(text)
        self.kind = kind

    def error(self):
        """The error to raise on this rank: of the same class if the other rank raised an error of torsor, else a RunError."""
        kind = getattr(errors, self.kind, RunError)
        of_torsor = isinstance(kind, type) and issubclass(kind, TorsorError)
        return kind(str(self)) if of_torsor else RunError(str(self))


def error_text(error):
    """Text of an error that ends a rank."""
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r})"
    return str(error) or type(error).__name__


class Ranks(ABC):
    """One of several ranks.

    exchange, agree   ctypes functions that compiled code calls
    trouble           error that occurred in compiled code, None: none
    shares            description of the share of each rank, once known
    """

    word = "rank"

    def __init__(self, rank, count, exchange, agree):
        self.rank = rank
        self.count = count
        self.exchange = exchange
        self.agree = agree
        self.trouble: BaseException | None = None
        self.shares: list[str] = []

    @abstractmethod
    def gather(self, thing):
        """Gather an object, which can be pickled, from every rank. Returns them in the order of the ranks."""

    @abstractmethod
    def notify_end(self, error):
        """Notify the other ranks that this one ends with an error."""

    def begin(self):
        """Begin a run; called before any check that may raise an error."""
        self.trouble = None

    def leave(self):
        """End a run that this rank has finished: wait for the other ranks."""
        self.check()
        self.gather(None)

    @contextmanager
    def together(self):
        """Context of one run. An error here is sent to the other ranks, an error of another rank is raised here. All ranks end it
        together."""
        try:
            self.begin()
            yield
            self.leave()
        except RankLost as lost:
            raise lost.error() from None
        except BaseException as error:
            self.notify_end(error)
            raise

    @contextmanager
    def waiting(self):
        """Context in which this rank waits for others or runs compiled code."""
        yield

    def to_first(self, thing):
        """Gather an object from every rank on rank 0; returns None on all others."""
        objects = self.gather(thing)
        return objects if self.rank == 0 else None

    def check(self):
        """Raise the error that occurred in compiled code, if any."""
        if self.trouble is not None:
            raise self.trouble

    def name_of(self, rank):
        """Name of a rank and its share."""
        return f"{self.word} {rank} ({self.shares[rank]})" if self.shares else f"{self.word} {rank}"

    def refuse_different(self, facts):
        """Raise an error on all ranks if the facts of one, which are texts by name, differ from those of rank 0."""
        every = self.gather(facts)
        for rank, other in enumerate(every):
            for name, value in every[0].items():
                if other[name] != value:
                    raise OptionError(
                        f"{self.word}s must be given the same: {name} is {other[name]} on {self.word} {rank} and {value} on "
                        f"{self.word} 0"
                    )

    def largest(self, *numbers):
        """The maximum of each number over all ranks; NaN if any is NaN."""
        return np.max(self.gather(numbers), axis=0)

    def all(self, condition):
        """True if a condition holds on all ranks."""
        return all(self.gather(bool(condition)))

    def any(self, condition):
        """True if a condition holds on any rank."""
        return any(self.gather(bool(condition)))


class SingleRank:
    """The only rank of a run without ranks."""

    rank = 0
    count = 1
    exchange = None
    waiting = nullcontext

    def gather(self, thing):
        return [thing]

    def largest(self, *numbers):
        return np.array(numbers)

    def all(self, condition):
        return condition

    def any(self, condition):
        return condition


SINGLE_RANK = SingleRank()


def ranks_of(option):
    """The ranks for the option `ranks` of `simulate`: True for those of MPI."""
    if isinstance(option, Ranks):
        return option
    if option is not True:
        raise OptionError(f"ranks must be True or False, got {option!r}")
    from .mpi import world  # imported here because it starts MPI

    return world()


def refuse_with_ranks(threads, checkpoint):
    """Raise an error for options of `simulate` that a run by ranks does not support."""
    if checkpoint is not None:
        raise OptionError("ranks: not together with a checkpoint")
    if threads != 1:
        raise OptionError("threads: not together with ranks; start as many ranks as there are processors")
