"""What holds for all tests: a process that was started in the background, where Ctrl-C is ignored, hears it as any other.

Most of the time of the tests would be spent on generating code. `contracts/test_backends.py` proves that every level of code
generation computes the same. So the tests in USERS run the code that users have: the cases, the orders of all methods, the viewer.
All others run the code that is generated fastest, unless they set the level. `TORSOR_LEVEL=2 ./dev test` runs all tests with the
code of users.
"""

import os
import signal
from pathlib import Path

from torsor.kernels.backends.llvm import LEVEL

USERS = (
    "cases/test_cases.py",
    "cases/test_machines.py",
    "order/test_orders.py",
    "view/",
)  # cases are compiled once for all
GIVEN = os.environ.get(LEVEL)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item):
    if GIVEN is None:
        name = item.path.relative_to(Path(__file__).parent).as_posix()
        os.environ[LEVEL] = "2" if name.startswith(USERS) else "0"
