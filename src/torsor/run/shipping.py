"""The bitcode of all loops, for a wheel: called when one is built."""

from ..kernels import loop_builder, loops
from ..methods.integrator import modules


def ship():
    """Compile all loops, and put them where the package carries them."""
    loops.SHIPPED.mkdir(exist_ok=True)
    for module in (*loops.MODULES, *modules()):
        (loops.SHIPPED / f"{module}.xz").write_bytes(loop_builder.build(module))
