"""The request of a study: model, options and reduction that all runs share, in a form that can be sent to workers."""

import hashlib
import math
import pickle
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..elements import quantity
from ..errors import OptionError, RunError
from ..look.recorded_signals import signals_to_record
from ..look.run_request import Options
from ..model import pickling
from ..run.many.held_inputs import PiecewiseConstantInputs

PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class StudyRequest:
    """Arguments of `simulate`, names of the parameters that vary, and the results that are kept of each run.

    times     output times
    names     of the parameters that vary
    options   how each run is computed
    starts    (name, shape) of coordinates, rates and states whose values at the start vary; shape () is a single number
    start     a start that is common to all runs
    inputs    names of the piecewise constant inputs, and the ends of their intervals
    keep      names of the variables that are kept; None for all
    runs      number of runs of the study
    """

    model: Any  # a Model, or a _PackedModel while it is sent
    until: float
    times: np.ndarray
    names: tuple
    signals: dict = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    starts: tuple = ()
    start: Any = None
    inputs: tuple = ((), ())
    keep: tuple | None = None
    reduce: Any = None
    runs: int = 1

    def task(self):
        """The validated task of a run with the parameters of the model."""
        return self.options.task(self.model, self.until, self.signals, start=self.start, exactly=True)

    def parameters(self, row):
        """Parameters of a run by name, from its row of values."""
        return dict(zip(self.names, row.tolist()))

    def start_of(self, row):
        """The requested start of a run; None for the start of the model."""
        if not self.starts:
            return self.start
        ends = len(self.names) + np.cumsum([math.prod(shape) for _, shape in self.starts])
        parts = np.split(row, [len(self.names), *ends])[1:]
        start = {name: x.reshape(shape).tolist() for (name, shape), x in zip(self.starts, parts)}
        for name, x in start.items():
            if not np.all(np.abs(x) <= quantity.LARGEST):
                raise RunError(f"start {name!r}: must be finite, got {quantity.show(x)}")
        return start

    def piecewise_inputs(self, values):
        """The piecewise constant inputs of some runs, from the values (run, interval) of each input; None if there are none."""
        names, interval_ends = self.inputs
        parameters = list(self.model.parameters)
        columns = np.array([parameters.index(name) for name in names], np.int64)
        return (
            PiecewiseConstantInputs(columns, np.array(interval_ends, float), np.stack(values).transpose(1, 2, 0))
            if names
            else None
        )

    def pack(self):
        """The request as bytes, for another process.

        Signals become signals of the model, component by component. Functions that the main program defines, as in a notebook, are
        written with their code if cloudpickle is installed: a worker has another main program, or none.
        """
        signals = self.model.signals | signals_to_record(self.model, self.signals)
        model = _PackedModel(type(self.model), pickling.pack_model(self.model, signals=signals))
        request = replace(self, model=model, signals={})
        content = None
        writers = _pickle_writers()
        for dump in writers:
            try:
                content = dump(request)
            except Exception as error:  # of a function that cannot be imported, or of anything that it refers to
                trouble = error
                continue
            if b"__main__" not in content:
                return content
        if content is not None:
            return content
        advice = (
            "functions must be defined in a module, or cloudpickle be installed"
            if len(writers) == 1
            else "functions must not refer to objects that exist in one process only, such as locks and open files"
        )
        raise OptionError(f"study: the model or a function cannot be sent to other processes ({trouble}); {advice}")


@dataclass(frozen=True)
class _PackedModel:
    """A model in the form in which it is sent to other processes."""

    cls: type
    parts: tuple


def unpack_request(content):
    """The request that `StudyRequest.pack` has written, in another process."""
    request = pickle.loads(content)
    return replace(request, model=pickling.unpack_model(request.model.cls, *request.model.parts))


def _pickle_writers():
    """Functions that write Python objects as bytes: pickle, then cloudpickle if it is installed."""
    plain = partial(pickle.dumps, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        import cloudpickle
    except ImportError:
        return [plain]
    return [plain, cloudpickle.dumps]


@cache
def version():
    """The version of torsor with a digest of its source. All workers of a study must have the same."""
    from .. import __version__

    source = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return f"{__version__} ({source.hexdigest()[:12]})"
