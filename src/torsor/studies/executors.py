"""Who carries out the runs of a study: threads here, or whatever takes jobs and gives futures.

None, a number              threads of this process; kernels release Python's lock
concurrent.futures          ThreadPoolExecutor, ProcessPoolExecutor, mpi4py.futures.MPIPoolExecutor, loky …
dask.distributed.Client     its workers
ray                         the module itself, after `ray.init()`
"""

import os
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..describe import quantity
from ..errors import OptionError

MOST = 10_000  # threads
DEEP = 2  # portions in flight per worker, so that none waits


@dataclass
class Workers:
    """submit   gives a future of a job with its arguments;   count   of those who work at the same time
    here     whether they share the memory of this process;   close   called at the end, with whether to wait for them
    cost     seconds that a portion takes of this process: to send it, and to get it back
    """

    submit: Callable
    count: int
    here: bool
    close: Callable = lambda wait: None

    @property
    def cost(self):
        return 1e-4 if self.here else 5e-3


def workers(executor: Any) -> Workers:
    """Those that an argument `executor` means; refused where it is none, or cannot work."""
    try:
        return _meant(executor)
    except OptionError:
        raise
    except Exception as error:  # of a client that is closed, of ray that was not started
        raise OptionError(
            f"study: executor: {quantity.show(executor)} cannot work: {type(error).__name__}: {error}"
        ) from error


def _meant(executor):
    if executor is None or (isinstance(executor, (int, np.integer)) and not isinstance(executor, bool)):
        count = processors() if executor is None else int(executor)
        if not 1 <= count <= MOST:
            raise OptionError(f"study: executor: from 1 to {MOST} threads are allowed, got {quantity.show(executor)}")
        pool = futures.ThreadPoolExecutor(count, "torsor-study")
        return Workers(pool.submit, count, True, lambda wait: pool.shutdown(wait, cancel_futures=True))
    if isinstance(executor, futures.ThreadPoolExecutor):
        return Workers(executor.submit, executor._max_workers, True)
    if isinstance(executor, futures.Executor):
        return Workers(executor.submit, _many(executor), False)
    if _of(executor, "distributed") and hasattr(executor, "get_executor"):
        if executor.status != "running":
            raise OptionError(f"study: executor: the client of dask is not connected: it is {executor.status}")
        taken = executor.get_executor(pure=False)
        threads = sum(executor.nthreads().values())
        return Workers(taken.submit, max(threads, 1), False)
    if getattr(executor, "__name__", "") == "ray" and hasattr(executor, "remote"):
        return _of_ray(executor)
    raise OptionError(
        "study: executor must be None or a number (threads), an executor of concurrent.futures or mpi4py.futures, a "
        f"dask.distributed.Client, or the module ray, got {quantity.show(executor)}"
    )


def processors():
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _of(thing, package):
    return any(cls.__module__.split(".")[0] == package for cls in type(thing).__mro__)


def _many(executor):
    """How many workers an executor has, where it tells."""
    told = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    return told if isinstance(told, int) and told > 0 else processors()


def _of_ray(ray):
    """Workers of ray."""
    count = int(ray.cluster_resources().get("CPU", 1))
    return Workers(lambda job, *arguments: ray.remote(job).remote(*arguments).future(), max(count, 1), False)
