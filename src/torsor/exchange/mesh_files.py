"""Where the mesh files are that a robot description names."""

from pathlib import Path
from urllib.parse import unquote, urlparse

PARENTS = 8  # how far up from the file a package is looked for


def find(uri, file, packages=None):
    """The path of a mesh, None where there is no such file. Nothing is ever fetched.

    package://name/rest   in packages[name], or in a folder called `name` next to the file or above it; model:// likewise
    file:///path, path    as it is; a relative one from the file's folder
    """
    here = Path(file).resolve().parent
    parts = urlparse(uri)
    try:
        if parts.scheme in ("package", "model"):
            name, _, rest = unquote(uri.partition("://")[2]).lstrip("/").partition("/")
            return next((str(p) for p in _candidates(name, rest, here, packages or {}) if p.is_file()), None)
        if parts.scheme not in ("", "file"):
            return None
        path = Path(unquote(parts.path) if parts.scheme == "file" else uri)
        path = path if path.is_absolute() else here / path
        return str(path) if path.is_file() else None
    except (OSError, ValueError):
        return None


def _candidates(name, rest, here, packages):
    if name in packages:
        yield Path(packages[name]).expanduser() / rest
        return
    for folder in [here, *list(here.parents)[:PARENTS]]:
        yield folder / name / rest
        if folder.name == name:
            yield folder / rest
