"""FMU files: the archive, what its description says, and the folder it is unpacked to.

Values are exchanged in SI units: a variable with a unit u of factor a and offset b has the value   SI = a u + b   (1).
"""

import atexit
import hashlib
import os
import shutil
import tempfile
import threading
import zipfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..errors import ModelError, OptionError

LARGEST_ARCHIVE = 2**31  # bytes of an unpacked FMU
CO_SIMULATION, MODEL_EXCHANGE = "co-simulation", "model exchange"
NUMBERS = {  # name of a type in FMI 3, C type, by the type in a description
    "Real": ("Real", "d"), "Integer": ("Integer", "i"), "Boolean": ("Boolean", "i"), "Enumeration": ("Integer", "i"),
}  # fmt: skip
NUMBERS_3 = {
    "Float64": ("Float64", "d"), "Float32": ("Float32", "f"), "Int8": ("Int8", "b"), "UInt8": ("UInt8", "B"),
    "Int16": ("Int16", "h"), "UInt16": ("UInt16", "H"), "Int32": ("Int32", "i"), "UInt32": ("UInt32", "I"),
    "Int64": ("Int64", "q"), "UInt64": ("UInt64", "Q"), "Boolean": ("Boolean", "?"), "Enumeration": ("Int64", "q"),
}  # fmt: skip
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    access   end of the names of the functions that get and set it, such as Float64; empty: it is no number
    code     its C type, as the module `struct` writes it
    factor, offset   to SI units, equation (1)
    """

    name: str
    reference: int
    causality: str
    variability: str
    type: str
    access: str
    code: str
    factor: float
    offset: float
    start: str | None
    is_array: bool
    reinit: bool = False

    @property
    def continuous(self) -> bool:
        return self.variability == "continuous"


class FmuFile:
    """An FMU: its description, and its files once they are needed."""

    def __init__(self, path: str, digest: str, description: Any):
        self.path, self.digest, self.description = path, digest, description
        self.version = int(str(description.fmiVersion)[0])
        self.token = description.instantiationToken or ""
        self.interfaces = {
            CO_SIMULATION: description.coSimulation,
            MODEL_EXCHANGE: description.modelExchange,
        }
        self.variables = {v.name: _variable(v, description, self.version) for v in description.modelVariables}
        self.rates = [unknown.variable.valueReference for unknown in description.derivatives]
        self.states = [unknown.variable.derivative.valueReference for unknown in description.derivatives]
        self.state_names = [unknown.variable.derivative.name for unknown in description.derivatives]

    def names(self, causality: str) -> list[str]:
        """Names of the variables that are numbers and have this causality, such as "input"."""
        return [v.name for v in self.variables.values() if v.causality == causality and v.access and not v.is_array]

    @cached_property
    def folder(self) -> Path:
        """Where it is unpacked, until this process ends."""
        with _LOCK:
            found = Path(tempfile.mkdtemp(prefix="torsor_fmu_"))
            atexit.register(shutil.rmtree, found, ignore_errors=True)
            with zipfile.ZipFile(self.path) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > LARGEST_ARCHIVE:
                    raise ModelError(f"{self.path}: unpacked it has more than {LARGEST_ARCHIVE} bytes")
                archive.extractall(found)  # drops `..` and absolute paths
            return found

    def library(self, interface: str, owner: str) -> Path:
        """The binary for this machine. Refused where there is none."""
        import fmpy

        platform = fmpy.platform if self.version == 2 else fmpy.platform_tuple
        wanted = f"binaries/{platform}/{self.interfaces[interface].modelIdentifier}{fmpy.sharedLibraryExtension}"
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
        if wanted not in names:
            platforms = sorted({n.split("/")[1] for n in names if n.startswith("binaries/") and n.count("/") >= 2})
            sources = " (it has sources: compile them, for example with `fmpy compile`)" if _has_sources(names) else ""
            raise ModelError(
                f"{owner}: {self.path} has no binary for this platform, {platform}. It has binaries for: "
                f"{', '.join(platforms) or 'none'}{sources}"
            )
        return self.folder / wanted


def _has_sources(names):
    return any(n.startswith("sources/") and n.endswith((".c", ".cpp")) for n in names)


def open_fmu(path: Any, owner: str) -> FmuFile:
    """The FMU at a path. Its content decides whether it is the one that was opened before."""
    try:
        found = os.path.abspath(os.fspath(path))
        content = Path(found).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ModelError(f"{owner}: file: {path!r} cannot be read: {why}") from None
    return _open(found, hashlib.sha256(content).hexdigest(), owner)


@cache
def _open(path, digest, owner):
    try:
        from fmpy import read_model_description
    except ImportError:
        raise OptionError(f"{owner}: FMUs need the package fmpy: pip install torsor[fmi]") from None
    try:
        with zipfile.ZipFile(path) as archive:
            if "modelDescription.xml" not in archive.namelist():
                raise ModelError(f"{owner}: {path} is no FMU: it contains no modelDescription.xml")
    except zipfile.BadZipFile:
        raise ModelError(f"{owner}: {path} is no FMU: it is no zip archive") from None
    try:
        description = read_model_description(path, validate=False)
    except Exception as error:  # whatever the parser raises
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(f"{owner}: {path}: its description cannot be read: {lines[0]}") from None
    if str(description.fmiVersion)[:2] not in ("2.", "3."):
        raise ModelError(f"{owner}: {path} is an FMU of FMI {description.fmiVersion}; FMI 2.0 and 3.0 are supported")
    try:
        return FmuFile(path, digest, description)
    except AttributeError:
        raise ModelError(f"{owner}: {path}: in its description a derivative has no state") from None


def _variable(v, description, version):
    """A variable of the description of FMPy."""
    access, code = (NUMBERS if version == 2 else NUMBERS_3).get(v.type, ("", ""))
    unit = v.unit or (v.declaredType.unit if v.declaredType is not None else None)
    base = next((u.baseUnit for u in description.unitDefinitions if u.name == unit), None)
    factor, offset = (float(base.factor), float(base.offset)) if base is not None and code in "df" else (1.0, 0.0)
    relative = v.relativeQuantity or (v.declaredType is not None and v.declaredType.relativeQuantity)
    return Variable(
        v.name, v.valueReference, str(v.causality or "local"), str(v.variability or "continuous"), str(v.type), access, code,
        factor, 0.0 if relative else offset, v.start, bool(v.dimensions), bool(v.reinit),
    )  # fmt: skip
