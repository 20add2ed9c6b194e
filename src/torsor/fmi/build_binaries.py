"""Binaries of an FMU: the C compiler of this machine, or the cross compilers of the package `ziglang`."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..errors import OptionError, TorsorError

OPTIONS = ["-std=c99", "-O1", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno"]
COMPILE_SECONDS = 1800  # a compiler that takes longer is stopped


@dataclass(frozen=True)
class Platform:
    """A platform: its folders in FMUs of FMI 2.0 and 3.0, the suffix of its libraries, and zig's name of it."""

    name: str
    fmi2: str | None
    fmi3: str
    suffix: str
    target: str

    def folder(self, version: str) -> str | None:
        return self.fmi2 if version == "2.0" else self.fmi3


PLATFORMS = {
    p.name: p
    for p in (
        Platform("linux", "linux64", "x86_64-linux", "so", "x86_64-linux-gnu.2.17"),
        Platform("linux-arm", None, "aarch64-linux", "so", "aarch64-linux-gnu.2.17"),
        Platform("windows", "win64", "x86_64-windows", "dll", "x86_64-windows-gnu"),
        Platform("macos", "darwin64", "x86_64-darwin", "dylib", "x86_64-macos"),
        Platform("macos-arm", None, "aarch64-darwin", "dylib", "aarch64-macos"),
    )
}


def host_platform() -> str | None:
    """The platform of this machine; None if it is another one."""
    arm = os.uname().machine in ("aarch64", "arm64") if hasattr(os, "uname") else False
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform)
    name = f"{system}-arm" if arm else system
    return name if name in PLATFORMS else None


def chosen_platforms(platforms: object, version: str) -> list[Platform]:
    """Platforms by name, as a user gives them; None: that of this machine; "all": every one that this version of FMI has."""
    names = [host_platform()] if platforms is None else platforms
    if platforms == "all":
        names = [name for name, p in PLATFORMS.items() if p.folder(version)]
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, (list, tuple)) or not names:
        raise OptionError(f"export_fmu: platforms must be names ({', '.join(PLATFORMS)}) or 'all', got {platforms!r}")
    for name in names:
        if name not in PLATFORMS:
            raise OptionError(f"export_fmu: unknown platform {name!r}. Known: {', '.join(PLATFORMS)}.")
        if PLATFORMS[name].folder(version) is None:
            raise OptionError(f"export_fmu: FMI {version} has no folder for {name!r}; take version='3.0'")
    return [PLATFORMS[name] for name in names]


def compiler_of(platform: Platform) -> list[str]:
    """The command that compiles for a platform, without options of the files."""
    if platform.name == host_platform():
        found = next((c for c in (os.environ.get("CC"), "gcc", "clang", "cc") if c and shutil.which(c)), None)
        if found is not None and platform.suffix == "so":
            return [found, "-fPIC"]
    if find_spec("ziglang") is None:
        raise TorsorError(
            f"export_fmu: there is no C compiler for {platform.name}: install gcc or clang, or the cross compilers with "
            "pip install ziglang, or give sources_only=True"
        )
    position = [] if platform.suffix == "dll" else ["-fPIC"]
    return [sys.executable, "-m", "ziglang", "cc", "-target", platform.target, *position]


def build(platform: Platform, source: Path, target: Path) -> None:
    """Compile one file, and what it includes, to a shared library."""
    math = [] if platform.suffix == "dll" else ["-lm"]
    command = [*compiler_of(platform), *OPTIONS, "-s", "-o", str(target), str(source), *math]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, cwd=target.parent)
    except subprocess.TimeoutExpired:
        raise TorsorError(
            f"export_fmu: the compiler for {platform.name} did not end within {COMPILE_SECONDS} s"
        ) from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise TorsorError(f"export_fmu: the compiler for {platform.name} failed: {lines[0] if lines else 'no message'}")
