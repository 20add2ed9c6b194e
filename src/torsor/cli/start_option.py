"""`--start`: a former result at a time, the state of a simulation, or values by name."""

import os

import numpy as np

from ..errors import OptionError


def start_of(texts, option="--start"):
    """What `--start`, or another option that gives a state, means, as `simulate` takes it: FILE.nc, FILE.nc@TIME, a file that
    `state.save` wrote, or NAME=VALUE …"""
    if not texts:
        return None
    if all("=" in text and not os.path.exists(text) for text in texts):
        return {name: _value(name, value, option) for name, value in parse_assignments(texts, option).items()}
    if len(texts) > 1:
        raise OptionError(f"{option}: give one file, or values as in hinge=0.3, got {' '.join(texts)}")
    path, _, when = texts[0].rpartition("@") if not os.path.exists(texts[0]) else (texts[0], "", "")
    return _file(*((path, when) if path else (texts[0], "")), option)


def parse_assignments(texts, option):
    """NAME=VALUE given several times: what is written of each, by name."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise OptionError(f"{option} {text}: write NAME=VALUES")
        if name in found:
            raise OptionError(f"{option} {name}: it is given twice, as {found[name]} and as {value}")
        found[name] = value
    return found


def _value(name, value, option):
    try:
        numbers = [float(x) for x in value.split(",")]
    except ValueError:
        raise OptionError(f"{option} {name}={value}: {value!r} is no number, nor several with commas between") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _file(path, when, option):
    from ..store.result_files import load_result
    from ..store.saved_state import SimulationState

    if not path.endswith(".nc"):
        if when:
            raise OptionError(f"{option} {path}@{when}: only results (FILE.nc) have several times")
        if not os.path.exists(path):
            raise OptionError(f"{option} {path}: there is no such file; values are written as in hinge=0.3")
        return SimulationState.load(path)
    data = load_result(path)
    data = data if "time" in data.sizes else data.expand_dims("time")  # an equilibrium
    times = data["time"].values
    if not when:
        return data.isel(time=-1)
    try:
        k = int(np.argmin(np.abs(times - float(when))))
    except ValueError:
        raise OptionError(f"{option} {path}@{when}: {when!r} is no time") from None
    if not abs(times[k] - float(when)) <= 1e-9 * max(abs(times[-1]), 1e-300):
        raise OptionError(
            f"{option} {path}@{when}: the result has no output at that time; the nearest is at {times[k]:.9g} s"
        )
    return data.isel(time=k)
