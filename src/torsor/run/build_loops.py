"""Builds the bitcode of all loops, for a wheel, or for a checkout before many processes need it at once."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from ..kernels import loop_builder, loops
from ..kernels.schedule_functions.fixed_point import FIXED_POINT
from ..kernels.schedule_functions.pair_search import SEARCH
from ..methods.integrator import modules

LOOPS = (
    "torsor.run.time_loop", "torsor.run.events.event_loop", "torsor.run.events.outside_steps", "torsor.run.many.lane_loop", SEARCH,
    FIXED_POINT,
)  # fmt: skip


def ship():
    """Compile all loops that are missing, and store them in the folder that is part of the package."""
    loops.SHIPPED.mkdir(exist_ok=True)
    missing = [module for module in (*LOOPS, *modules()) if not loops.is_shipped(module)]
    missing.sort(key=lambda module: sum(map(len, loops.sources(module).values())), reverse=True)  # the longest first
    # New processes, which have imported nothing yet: the marks of `compiled` act from the start.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for module, packed in zip(missing, pool.map(loop_builder.build, missing)):
            (loops.SHIPPED / f"{module}.xz").write_bytes(packed)
