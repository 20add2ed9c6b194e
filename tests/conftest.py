"""What holds for all tests: a process that was started in the background, where Ctrl-C is ignored, hears it as any other.

Most of the time of the tests would go by generating code. That every level of it computes the same is proved in
`contracts/test_backends.py`, so that tests of cases and orders run the code that users have, and all others what is generated
fastest, but for those that ask for more themselves. `TORSOR_LEVEL=2 ./dev test` runs all of them with the users' code.
"""

import os
import signal
from pathlib import Path

from torsor.kernels.backends.llvm import LEVEL

USERS = ("cases", "order", "view")  # cases are compiled once for all of them
GIVEN = os.environ.get(LEVEL)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item):
    if GIVEN is None:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        os.environ[LEVEL] = "2" if folder in USERS else "0"
