"""The result of a run whose outputs are in journals: one NetCDF file, written block by block, so that it may be larger than
the memory. It is the file that `save` would have written for the same run.
"""

import uuid
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from ..store.result_files import NETCDF_LOCK, replace_when_written
from .dataset import Accuracy, at_events, at_outputs, label_variables, manifest

BLOCK = 2**24  # bytes


def assemble(path, system, outcome, options, checkpoint, extra):
    """Write the result so far of a checkpoint to `path`; extra: further attributes."""
    outputs, events, program = checkpoint.outputs, checkpoint.events, checkpoint.static["events"]
    run = SimpleNamespace(**outcome, events=program)
    empty = np.zeros((0, outputs.width))
    log = lambda rows: _log(rows, program, len(system.rows)) if program else {}
    shape = _over_time(system, empty, run) | at_events(system, log(np.zeros((0, events.width))), run.used)
    template = label_variables(system, np.zeros(0), run.used, shape)
    accuracy, temporary = Accuracy(), f"{path}-{uuid.uuid4().hex}.part"
    sizes = {"time": outputs.count, "event": events.count}
    with replace_when_written(temporary, path), NETCDF_LOCK, _create(temporary, template, sizes) as file:
        at = 0
        for rows in outputs.blocks(BLOCK):
            found = _over_time(system, rows, run)
            accuracy.add(rows[:, 0], found, rows[:, 2])
            at = _put(file, found | {"time": (("time",), rows[:, 0])}, at)
        at = 0
        if program:
            accuracy.note_event_energy(np.zeros(0))
        for rows in events.blocks(BLOCK):
            happened = log(rows)
            accuracy.note_event_energy(happened["energy"])
            at = _put(file, at_events(system, happened, run.used), at)
        attributes = {**accuracy.certificate(system, run.counts, options), **manifest(system, run, options), **extra}
        for name, value in attributes.items():
            file.setncattr(name, value)


def _over_time(system, rows, run):
    return at_outputs(system, rows[:, 3:], rows[:, 1], rows[:, 2], run)


def _log(rows, program, constraints):
    """The log of events from rows [time, event, change of energy, impulses, slots]."""
    event, slots = rows[:, 1].astype(int), rows[:, 3 + constraints :]
    recorded: dict = {}
    for label, k, slot in program["records"]:
        values = recorded.setdefault(label, np.full(len(rows), np.nan))
        values[event == k] = slots[event == k, slot]
    names = np.array(program["names"], dtype=str)[event] if len(event) else np.zeros(0, str)
    impulse = rows[:, 3 : 3 + constraints]
    return {"time": rows[:, 0], "name": names, "energy": rows[:, 2], "impulse": impulse, "recorded": recorded}


@contextmanager
def _create(path, template, sizes):
    """A file with the variables of a dataset; what has neither time nor events is filled in."""
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        _declare(file, template, sizes)
        yield file


def _declare(file, template, sizes):
    for name, size in template.sizes.items():
        file.createDimension(name, sizes.get(name, size))
    names = " ".join(name for name in template.coords if name not in template.dims)
    for name, x in template.variables.items():
        kind = {"U": str, "b": "i1"}.get(x.dtype.kind, "f8")
        variable = file.createVariable(name, kind, x.dims, fill_value=np.nan if kind == "f8" else None)
        variable.setncatts(x.attrs)
        if kind == "i1":
            variable.setncattr("dtype", "bool")
        if kind == "f8" and name not in template.coords and "joint_coordinate" in x.dims:
            variable.setncattr("coordinates", names)
        if not set(sizes) & set(x.dims):
            variable[:] = x.values.astype(object) if kind is str else x.values


def _put(file, variables, at):
    """Values of one block, from place `at` on. Returns the next place."""
    for name, (_, values) in variables.items():
        file[name][at : at + len(values)] = values.astype(object) if values.dtype.kind == "U" else values
    return at + len(values)
