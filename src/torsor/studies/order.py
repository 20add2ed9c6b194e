"""What is asked of every run of a study: as one thing that travels to whoever carries runs out."""

import hashlib
import math
import pickle
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..describe import pickling, quantity
from ..errors import OptionError, RunError
from ..look.recorded import recorded
from ..methods.projections import projection_of
from ..run.held import Held
from ..run.task import Task
from ..run.times import controlled

PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class Order:
    """Arguments of `simulate`, names of the parameters that vary, and what is kept of each run.

    options   further arguments of `simulate`: step, method, formulation, projection, tolerance, map
    pushed    names of the inputs that are held over intervals, and the ends of these
    starts    names of coordinates, rates and states whose values at the start vary, and the shape of each (): a single number
    start     a start that is common to all runs
    keep      names of the variables that are kept; None: all of them
    """

    model: Any  # a Model, packed while it travels
    until: float
    times: np.ndarray
    names: tuple
    signals: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    starts: tuple = ()
    start: Any = None
    pushed: tuple = ((), ())
    keep: tuple | None = None
    reduce: Any = None
    runs: int = 1  # of the study

    def task(self):
        """What is asked of a run with the parameters of the model, checked."""
        o, model = self.options, self.model
        chosen = projection_of(o["projection"])
        allowed = controlled(model, o["method"], o["step"], o["tolerance"], o["map"], chosen)
        length = None if o["step"] is None else float(o["step"])
        named = recorded(model, self.signals)
        manner = (length, o["method"], o["formulation"], chosen, allowed, o["map"])
        return Task(model, self.until, *manner, named, {}, start=self.start, reactions=o["reactions"], exactly=True)

    def parameters(self, row):
        """Those of a run, by name, from its row of values."""
        return dict(zip(self.names, row.tolist()))

    def start_of(self, row):
        """Where a run starts; None: where the model says."""
        if not self.starts:
            return self.start
        ends = len(self.names) + np.cumsum([math.prod(shape) for _, shape in self.starts])
        parts = np.split(row, [len(self.names), *ends])[1:]
        found = {name: x.reshape(shape).tolist() for (name, shape), x in zip(self.starts, parts)}
        for name, x in found.items():
            if not np.all(np.abs(x) <= quantity.LARGEST):
                raise RunError(f"start {name!r}: must be finite, got {quantity.show(x)}")
        return found

    def held(self, values):
        """Inputs of some runs, from the values of each (run, interval); None where there are none."""
        names, edges = self.pushed
        every = list(self.model.parameters)
        places = np.array([every.index(name) for name in names], np.int64)
        return Held(places, np.array(edges, float), np.stack(values).transpose(1, 2, 0)) if names else None

    def packed(self):
        """As bytes, for another process. Signals go along as signals of the model, by their components. What the main program
        defines, as a notebook does, is written out where that is possible: a worker has another main program, or none."""
        every = self.model.signals | recorded(self.model, self.signals)
        whole = replace(self, model=_Packed(type(self.model), pickling.packed(self.model, signals=every)), signals={})
        found, ways = None, _dumps()
        for dump in ways:
            try:
                found = dump(whole)
            except Exception as error:  # of a function that has no name elsewhere, or of anything that it refers to
                trouble = error
                continue
            if b"__main__" not in found:
                return found
        if found is not None:
            return found
        plain = "functions must be defined in a module, or cloudpickle be installed"
        why = (
            plain
            if len(ways) == 1
            else "functions may not refer to what no other process can have, as locks and open files"
        )
        raise OptionError(f"study: what is asked for cannot be sent to other processes ({trouble}); {why}")


@dataclass(frozen=True)
class _Packed:
    """A model on its way."""

    cls: type
    parts: tuple


def unpacked(content):
    """The order, in another process."""
    order = pickle.loads(content)
    return replace(order, model=pickling.unpacked(order.model.cls, *order.model.parts))


def _dumps():
    """Ways to write Python objects, the plain one first."""
    plain = partial(pickle.dumps, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        import cloudpickle
    except ImportError:
        return [plain]
    return [plain, cloudpickle.dumps]


@cache
def version():
    """The version of torsor here, with a digest of its source: those who work together must have the same."""
    from .. import __version__

    source = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return f"{__version__} ({source.hexdigest()[:12]})"
