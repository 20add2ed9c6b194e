"""Text files that are complete, or as they were before."""

import os
from typing import Any

from ...errors import ModelError


def write_text(text: str, path: Any) -> None:
    """Write a text file at once: the file is complete, or as it was before."""
    target = os.fsdecode(os.fspath(path))
    temporary = f"{target}.{os.getpid()}.part"
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, target)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise ModelError(f"cannot write {target!r}: {error.strerror or error}") from None
