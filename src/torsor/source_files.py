"""The source files that a module is made of: its own, and those of this package that it imports, directly or indirectly.

Compiled loops and stored derivations carry a digest of these files: they are used only while the files stay the same.
"""

import hashlib
import inspect
import marshal
import re
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parent
IMPORT = re.compile(r"^ *from (\.+|torsor\b\.?)([\w.]*) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)


def imported_files(files: Iterable[Path]) -> dict[str, str]:
    """Text of the given files and of all files of the package that they import, by path, in the order of the paths."""
    texts: dict[Path, str] = {}
    pending = list(files)
    while pending:
        path = pending.pop()
        if path in texts or not path.exists():
            continue
        texts[path] = text = path.read_text()
        for start, module, several, few in IMPORT.findall(text):
            base = PACKAGE if start.startswith("torsor") else path.parents[len(start) - 1]
            base = base.joinpath(*filter(None, module.split(".")))
            names = [name.split()[0] for name in (several or few).split(",") if name.strip()]
            pending += [base.with_suffix(".py"), *(base / f"{name}.py" for name in names)]
    return {_label(path): text for path, text in sorted(texts.items())}


def class_digest(cls: type) -> str:
    """Hash of the source file of a class, or of the code of its methods if there is no file."""
    try:
        content = Path(inspect.getfile(cls)).read_bytes()
    except (TypeError, OSError):
        content = b"".join(marshal.dumps(x.__code__) for x in vars(cls).values() if inspect.isfunction(x))
    return hashlib.sha256(content).hexdigest()


def _label(path):
    return path.relative_to(PACKAGE).as_posix() if PACKAGE in path.parents else path.name
