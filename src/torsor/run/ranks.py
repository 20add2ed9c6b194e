"""Ranks: processes, or threads, that run one system together. What they tell each other, and what happens when one is lost.

Each rank has its own kernels, records and time loop. Three things are common to them:

    exchange   kernels tell each other numbers, each rank its part of them (`formulations/schedule.py`)
    agree      time loops agree on the largest of some numbers, so that they decide alike, and on the state of the trunk
    gathered   Python agrees on anything else, between slices of the loop

Compiled code calls the first two by address. Whatever goes wrong there is kept as `trouble`: numbers become NaN, at which every
loop comes to its end, and Python is told.
"""

from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext

import numpy as np

from .. import errors
from ..errors import OptionError, RunError, TorsorError


class Lost(Exception):
    """Another rank has ended, or said nothing for too long; the text says which, and why.

    kind   name of the class of the error that it ended with, where that is known
    """

    def __init__(self, text, kind=""):
        super().__init__(text)
        self.kind = kind

    def error(self):
        """As an error of this rank: of the same kind where the other rank has refused something."""
        kind = getattr(errors, self.kind, RunError)
        refusal = isinstance(kind, type) and issubclass(kind, TorsorError)
        return kind(str(self)) if refusal else RunError(str(self))


def said(error):
    """What ends a rank, in words."""
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r})"
    return str(error) or type(error).__name__


class Ranks(ABC):
    """One of several ranks.

    exchange, agree   functions of ctypes that compiled code calls
    """

    word = "rank"

    def __init__(self, rank, count, exchange, agree):
        self.rank, self.count, self.exchange, self.agree = rank, count, exchange, agree
        self.trouble: BaseException | None = None
        self.shares: list[str] = []  # what each rank has, in words, once that is known

    @abstractmethod
    def gathered(self, thing):
        """What every rank has given, in their order: any object that can be pickled."""

    @abstractmethod
    def ended(self, error):
        """Tell the others that this rank ends with an error."""

    def begin(self):
        """Begin a run; called before anything can be refused."""
        self.trouble = None

    def leave(self):
        """End a run that this rank has finished: wait for the others."""
        self.check()
        self.gathered(None)

    @contextmanager
    def together(self):
        """One run: what fails in here is told to the others, what failed elsewhere is an error here, too. All leave together."""
        try:
            self.begin()
            yield
            self.leave()
        except Lost as lost:
            raise lost.error() from None
        except BaseException as error:
            self.ended(error)
            raise

    @contextmanager
    def waiting(self):
        """While others are waited for, or compiled code runs."""
        yield

    def to_first(self, thing):
        """The same on rank 0; None on all others."""
        found = self.gathered(thing)
        return found if self.rank == 0 else None

    def check(self):
        """Raise what went wrong in compiled code."""
        if self.trouble is not None:
            raise self.trouble

    def named(self, rank):
        """A rank, and what it has."""
        return f"{self.word} {rank} ({self.shares[rank]})" if self.shares else f"{self.word} {rank}"

    def refuse_different(self, facts):
        """An error on all ranks where one has other facts, texts by name, than rank 0."""
        every = self.gathered(facts)
        for rank, other in enumerate(every):
            for name, value in every[0].items():
                if other[name] != value:
                    raise OptionError(
                        f"{self.word}s must be given the same: {name} is {other[name]} on {self.word} {rank} and {value} on "
                        f"{self.word} 0"
                    )

    def largest(self, *numbers):
        """The largest of each number over all ranks; not a number if any is not."""
        return np.max(self.gathered(numbers), axis=0)

    def all(self, fine):
        """Whether something is so on all ranks."""
        return all(self.gathered(bool(fine)))

    def any(self, found):
        """Whether something is so on any rank."""
        return any(self.gathered(bool(found)))


class Alone:
    """Where there are no other ranks."""

    rank, count, exchange, waiting = 0, 1, None, nullcontext

    def gathered(self, thing):
        return [thing]

    def largest(self, *numbers):
        return np.array(numbers)

    def all(self, fine):
        return fine

    def any(self, found):
        return found


ALONE = Alone()


def ranks_of(given):
    """The ranks that are meant by what `simulate` is given: True for those of MPI."""
    if isinstance(given, Ranks):
        return given
    if given is not True:
        raise OptionError(f"ranks must be True or False, got {given!r}")
    from .mpi import world  # late: MPI is started there

    return world()


def refuse_with_ranks(threads, certify, checkpoint):
    """Refuse options of `simulate` that a run by ranks does not have."""
    if certify or checkpoint is not None:
        raise OptionError("ranks: not together with certify or a checkpoint")
    if threads != 1:
        raise OptionError("threads: not together with ranks; give ranks as many processes as there are processors")
