"""A model file that follows an import: what changed there is taken over, what was edited by hand stays.

Bodies and elements have an `id`, the name that they have in the import. Three versions of each argument are compared by digests:

    base     what the last import gave, in the section `imported` of the file
    own      what the file says now
    new      what the import gives now

    own = base               → new                                                                             (1)
    own ≠ base, new = base   → own                                                                             (2)
    all differ               → own, and a note                                                                 (3)

Names may be changed in the file: the id says what an entry is, and names in new entries are written as the file has them. The text
keeps its comments and its order.
"""

import hashlib
import io
import json
import os
import re
from typing import Any

from ...elements import quantity
from ...errors import ModelError, OptionError
from ...exchange.writers.text_file import write_text
from ...model.model import Model
from . import run_section
from .model_document import document_of
from .problems import Problems
from .read_model import builder_of, open_file
from .save_model import model_text, plain_configuration
from .yaml_text import document

FOLLOWING = ("bodies", "elements")  # sections whose entries have ids
ADDED = ("parameters", "inputs", "tables", "grounds", "configurations")  # sections that only gain what they do not have


def update_model(model: Model, path: str | os.PathLike, configurations: Any = None) -> list[str]:
    """Write a model to a YAML file that follows its source, or merge it into one that was written so and edited since.

    path             of the file
    configurations   starts by name, which the file keeps too; None: there are none

    Returns what was changed, added, removed, and what was kept although the import changed.

    >>> import torsor as ts
    >>> notes = ts.update_model(ts.cases.load("pendulum"), "follows.yaml")
    >>> ts.update_model(ts.cases.load("pendulum"), "follows.yaml")
    []
    """
    if not isinstance(model, Model):
        raise OptionError(f"update_model: give a torsor.Model, got {quantity.show(model)}")
    model_text(model)  # a model that cannot be written is refused
    content = document_of(model)[0]
    if configurations:
        content["configurations"] = {name: plain_configuration(x) for name, x in configurations.items()}
    imported = {
        f"{section}.{name}": digests(entry) for section in FOLLOWING for name, entry in content.get(section, {}).items()
    }
    if not os.path.exists(path):
        for section in FOLLOWING:
            content[section] = {name: {"id": name} | entry for name, entry in content.get(section, {}).items()}
        write_text(document({k: v for k, v in content.items() if v} | {"imported": imported}), path)
        return [f"written: {os.fspath(path)} with {len(imported)} ids"]
    merge = Merge(path, content, imported)
    text, notes = merge.result()
    validate(text, os.fspath(path))
    write_text(text, path)
    return notes


def digests(entry: dict) -> dict[str, str]:
    """A short digest of each argument of an entry."""
    return {key: digest(value) for key, value in entry.items() if key != "id"}


def digest(value: Any) -> str:
    """A short digest of a value: of numbers by their bits, of texts by their characters."""
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()[:10]


def _plain(value):
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, bool):
        return value
    return repr(float(value) + 0.0) if isinstance(value, (int, float)) else str(value)


def validate(text: str, file: str) -> None:
    """Refuse a result that cannot be read."""
    problems = Problems()
    builder = builder_of(text, file, problems, (os.path.realpath(file),))
    builder.build()
    run_section.run_arguments(builder, run_section.configurations(builder))
    problems.raise_all()


class Merge:
    """One file and one import of it."""

    def __init__(self, path, content, imported):
        from ruamel.yaml import YAML

        problems = Problems()
        open_file(path, problems).build()  # the file must be in order, before anything is merged
        problems.raise_all()
        self.yaml = YAML(typ="rt")
        self.yaml.preserve_quotes, self.yaml.width = True, 118
        with open(path, encoding="utf-8") as file:
            self.own = self.yaml.load(file)
        self.path, self.content, self.imported, self.notes = path, content, imported, []
        self.base = self.own.get("imported")
        if not isinstance(self.base, dict):
            raise ModelError(
                f"{os.fspath(path)}: has no section `imported`, so that nobody knows what was edited: write the file by "
                "`torsor convert SOURCE FILE --update` first"
            )
        self.places: dict[str, str] = {}  # by id: name in the file
        for section in FOLLOWING:
            for name, entry in (self.own.get(section) or {}).items():
                if isinstance(entry, dict) and "id" in entry:
                    key = f"{section}.{entry['id']}"
                    if key in self.places:
                        raise ModelError(f"{os.fspath(path)}: {section}.{name}: the id {entry['id']!r} is given twice")
                    self.places[key] = name
        changed = {key.partition(".")[2]: name for key, name in self.places.items()}
        self.names = {old: new for old, new in changed.items() if old != new}

    def result(self):
        """The text of the merged file, and notes."""
        for section in FOLLOWING:
            for name, entry in self.content.get(section, {}).items():
                self.merge_entry(section, name, entry)
        for key in self.base:
            if key not in self.imported and key in self.places:
                self.remove(key)
        for section in ADDED:
            for name, value in self.content.get(section, {}).items():
                if name not in (self.own.get(section) or {}):
                    self.section(section)[name] = value
                    self.notes.append(f"added: {section}.{name}")
        self.own["imported"] = self.imported
        stream = io.StringIO()
        self.yaml.dump(self.own, stream)
        return stream.getvalue(), self.notes

    def section(self, name):
        """A section of the file, which is made where it is missing."""
        if not self.own.get(name):
            self.own[name] = {}
        return self.own[name]

    def merge_entry(self, section, name, new):
        key = f"{section}.{name}"
        if key not in self.places:
            if key in self.base:
                self.notes.append(f"kept away: {key} was deleted by hand")
            elif name in self.section(section):
                raise ModelError(
                    f"{os.fspath(self.path)}: {key} is new in the import, and there is one without this id: rename it"
                )
            else:
                self.section(section)[name] = {"id": name} | self.rename(new, self.names)
                self.notes.append(f"added: {key}")
            return
        own, base = self.own[section][self.places[key]], self.base.get(key) or {}
        back = {new_name: old for old, new_name in self.names.items()}
        for what in dict.fromkeys((*new, *base)):
            before, after = base.get(what), self.imported[key].get(what)
            now = digest(self.rename(own[what], back)) if what in own else None
            where = f"{section}.{self.places[key]}.{what}"
            if after in (before, now):
                continue
            if now != before:
                self.notes.append(f"kept: {where} was edited by hand; the import changed it, too")
            elif what in new:
                own[what] = self.rename(new[what], self.names)
                self.notes.append(f"changed: {where}")
            else:
                del own[what]
                self.notes.append(f"removed: {where}")

    def remove(self, key):
        """Remove an entry that the import does not have any more, unless it was edited."""
        section, name = key.partition(".")[0], self.places[key]
        own, base = self.own[section][name], self.base.get(key) or {}
        back = {new: old for old, new in self.names.items()}
        same = {what: digest(self.rename(x, back)) for what, x in own.items() if what != "id"} == dict(base)
        if same:
            del self.own[section][name]
        kept = f"kept: {section}.{name} was edited by hand; the import has it no more"
        self.notes.append(f"removed: {section}.{name}" if same else kept)

    @staticmethod
    def rename(value, names):
        """A value with names of things replaced, also in expressions."""
        if not names:
            return value
        if isinstance(value, dict):
            return {k: Merge.rename(v, names) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [Merge.rename(v, names) for v in value]
        if not isinstance(value, str):
            return value
        words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        return re.sub(rf"(?<![\w.-])(?:{words})(?![\w-])", lambda found: names[found.group()], value)
