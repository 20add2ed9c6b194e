"""Workers of a study: threads of this process, or any executor that takes jobs and returns futures.

None, a number              threads of this process; kernels release the global interpreter lock
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

from ..elements import quantity
from ..errors import OptionError

MAX_THREADS = 10_000
PORTIONS_PER_WORKER = 2  # portions in flight, so that no worker waits


@dataclass
class Workers:
    """The workers of a study.

    submit   returns a future of a job with its arguments
    count    number of workers
    local    True if they are threads of this process
    close    called at the end, with True if it must wait for running jobs
    cost     wall time that this process needs to send a portion and to receive its result [s]
    """

    submit: Callable
    count: int
    local: bool
    close: Callable = lambda wait: None

    @property
    def cost(self):
        return 1e-4 if self.local else 5e-3


def workers(executor: Any) -> Workers:
    """The workers for an argument `executor`. Raise OptionError if it is invalid or not usable."""
    try:
        return _find_workers(executor)
    except OptionError:
        raise
    except Exception as error:  # a closed client, or ray before ray.init()
        raise OptionError(
            f"study: executor: {quantity.show(executor)} cannot work: {type(error).__name__}: {error}"
        ) from error


def _find_workers(executor):
    """The workers for each supported type of executor."""
    if executor is None or (isinstance(executor, (int, np.integer)) and not isinstance(executor, bool)):
        count = processors() if executor is None else int(executor)
        if not 1 <= count <= MAX_THREADS:
            raise OptionError(
                f"study: executor: from 1 to {MAX_THREADS} threads are allowed, got {quantity.show(executor)}"
            )
        pool = futures.ThreadPoolExecutor(count, "torsor-study")
        return Workers(pool.submit, count, True, lambda wait: pool.shutdown(wait, cancel_futures=True))
    if isinstance(executor, futures.ThreadPoolExecutor):
        return Workers(executor.submit, executor._max_workers, True)
    if isinstance(executor, futures.Executor):
        return Workers(executor.submit, _worker_count(executor), False)
    if _is_from(executor, "distributed") and hasattr(executor, "get_executor"):
        if executor.status != "running":
            raise OptionError(f"study: executor: the client of dask is not connected: it is {executor.status}")
        dask_executor = executor.get_executor(pure=False)
        threads = sum(executor.nthreads().values())
        return Workers(dask_executor.submit, max(threads, 1), False)
    if getattr(executor, "__name__", "") == "ray" and hasattr(executor, "remote"):
        return _ray_workers(executor)
    raise OptionError(
        "study: executor must be None or a number (threads), an executor of concurrent.futures or mpi4py.futures, a "
        f"dask.distributed.Client, or the module ray, got {quantity.show(executor)}"
    )


def processors():
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_from(value, package):
    """True if a class of the value is defined in this package."""
    return any(cls.__module__.split(".")[0] == package for cls in type(value).__mro__)


def _worker_count(executor):
    """The number of workers of an executor; the number of processors if it is not known."""
    count = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    return count if isinstance(count, int) and count > 0 else processors()


def _ray_workers(ray):
    """The workers of ray."""
    count = int(ray.cluster_resources().get("CPU", 1))
    return Workers(lambda job, *arguments: ray.remote(job).remote(*arguments).future(), max(count, 1), False)
