"""Memory that a run takes, estimated before it is tried: a system without memory left ends the process without a message."""

import os

import numpy as np

from ..errors import OptionError

BYTES_PER_BODY = 2e4  # while a large model is prepared; measured for chains (7e3) and for trees with loops (1.7e4)
BYTES_OF_NUMBER = 8
OUTPUT_COPIES = 2  # of the outputs: as the loops write them, and as variables of the result
GIGABYTE = 2**30


def machine_memory():
    """Memory of this machine in bytes; infinite if it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return np.inf


def refuse_large_model(model):
    """Refuse a model whose preparation takes more memory than this machine has."""
    count = len(model.bodies)
    if (bytes_ := count * BYTES_PER_BODY) > machine_memory():
        raise OptionError(
            f"model {model.name!r} has {count:,} bodies: their preparation takes about {bytes_ / GIGABYTE:.1f} GB, this machine "
            f"has {machine_memory() / GIGABYTE:.1f} GB of memory. Use fewer bodies, or a larger machine"
        )


def refuse_large_result(model, outputs, width):
    """Refuse a run whose result takes more memory than this machine has. width: numbers in one output."""
    bytes_ = OUTPUT_COPIES * BYTES_OF_NUMBER * outputs * width
    if bytes_ > machine_memory():
        raise OptionError(
            f"model {model.name!r}: {outputs:,} outputs of {width:,} numbers take about {bytes_ / GIGABYTE:.1f} GB, this machine "
            f"has {machine_memory() / GIGABYTE:.1f} GB of memory: give fewer `outputs`, or a `checkpoint` folder"
        )
