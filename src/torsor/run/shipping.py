"""The bitcode of all loops, for a wheel, or for a checkout before many processes want it at once."""

from concurrent.futures import ProcessPoolExecutor

from ..kernels import loop_builder, loops
from ..methods.integrator import modules


def ship():
    """Compile all loops that are not there yet, and put them where the package carries them."""
    loops.SHIPPED.mkdir(exist_ok=True)
    wanted = [module for module in (*loops.MODULES, *modules())[::-1] if not loops.shipped(module)]
    with ProcessPoolExecutor() as pool:
        for module, packed in zip(wanted, pool.map(loop_builder.build, wanted)):
            (loops.SHIPPED / f"{module}.xz").write_bytes(packed)
