"""Everything that is wrong with a model file, collected, so that it is reported at once."""

from difflib import get_close_matches
from typing import Any

from ...errors import ModelError

MOST_SHOWN = 30


class Skip(Exception):
    """Something cannot be built because something before it is wrong, which is in the list of problems already."""


class Problems:
    """The list of problems of a file and of the files that it includes."""

    def __init__(self):
        self.messages: list[tuple] = []

    def add(self, position: Any, path: str, message: str) -> None:
        """Note a problem: where in the file, which value by its path of keys, what is wrong and what is allowed."""
        owner = f"{path}: " if path else ""
        entry = (position, f"{position}: {owner}{message}")
        if entry not in self.messages:
            self.messages.append(entry)

    def raise_all(self) -> None:
        """Raise one error with all problems, in the order of the file."""
        if not self.messages:
            return
        ordered = [text for _, text in sorted(self.messages, key=lambda entry: tuple(entry[0]))]
        more = f"\n… and {len(ordered) - MOST_SHOWN} more problems" if len(ordered) > MOST_SHOWN else ""
        raise ModelError("\n".join(ordered[:MOST_SHOWN]) + more)


def unknown(what: str, given: str, known: Any) -> str:
    """A message about an unknown name, with the nearest known one."""
    known = list(known)
    close = get_close_matches(given, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(known[:60]) + (" …" if len(known) > 60 else "")
    return f"unknown {what} {given[:80]!r}.{hint} Known: {shown or 'none'}"
