"""What a backend is: it turns CasADi functions into images (bytes), and images into addresses.

Rules for a new backend: what compile(functions, seldom) returns depends on these, the backend's options and its target
only; an image can be stored in a file and linked by another process on the same machine; a kernel has the signature

    void kernel(double* in_0, …, double* in_{n-1}, double* out_0, …, double* out_{m-1}, double* work)

where each array holds the structural nonzeros of one argument, column by column. No array may overlap another one.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class Size(NamedTuple):
    """How long a kernel's work array must be, and how many arithmetic operations the kernel has; of a schedule, what its
    classes need, and the operations of each by pass and kind."""

    work: int
    instructions: Any


@dataclass(frozen=True)
class Backend(ABC):
    """A way to turn graphs into native code."""

    kind = "backend"

    @property
    def schedules(self):
        """True if it has code for schedules; else it is given their graphs."""
        return False

    @property
    def searches(self):
        """True if it has code for the search of tables, by places; else graphs have the numbers of tables."""
        return False

    @abstractmethod
    def compile(self, functions, seldom=()):
        """The images of a list of CasADi functions of scalars, and the size of each kernel; seldom: places of those that are
        called so rarely that compiling them quickly is worth more than their speed."""

    @abstractmethod
    def link(self, images, count):
        """The addresses of the `count` kernels in these images, and an object that must outlive them."""

    def link_schedules(self, images, count, tables, looked_up=()):
        """The same, and for the kernels at some places, which are schedules, the addresses at which each looks for those of other
        things. tables: names of these things by place, "table", "constants" and, where there are exchanges, "exchange";
        looked_up: addresses of the tables of numbers that kernels search (`lookup/interval_search.py`), by their places."""
        return *self.link(images, count), {}

    @abstractmethod
    def target(self):
        """Text naming everything outside the graph that the images depend on: the machine and the library versions."""

    def options(self):
        """The options that this backend was made with, as plain data."""
        return asdict(self)
