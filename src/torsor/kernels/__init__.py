"""Graphs to native code. This folder knows nothing of mechanics.

library = build({"f": casadi.Function(…)})     compile, or take from the cache
library["f"](x, y)                             evaluate from NumPy
library["f"].address                           for compiled loops: `torsor.kernels.kernel_address.call`
load(key)                                      what was built under this key, without tracing
"""

from . import cache
from .backends.base import Backend
from .library import Kernel, Library, build, load

__all__ = ["Backend", "Kernel", "Library", "build", "cache", "load"]
