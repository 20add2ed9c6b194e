"""How long a call takes in a peer."""

import time


def best(call, repeats=9, block=0.05):
    """Microseconds of processor time, the best of several rounds of about so many seconds."""
    count, start = 0, time.process_time()
    while time.process_time() - start < block:
        call()
        count += 1
    found = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(count):
            call()
        found = min(found, (time.process_time() - start) / count)
    return found * 1e6
