"""What a file format is: it recognises its files by their content, and reads them. A new one is one file in this folder."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

from ..errors import ModelError
from . import xml_document
from .robot import Imported


class Content:
    """What a format looks at to recognise its files.

    file, data   the path and the bytes
    """

    def __init__(self, path: Any):
        self.file, self.data = xml_document.content(path)

    @cached_property
    def root(self) -> xml_document.Element | None:
        """The root element of an XML file, None for any other file."""
        try:
            return xml_document.parse(self.file)
        except ModelError:
            return None


class Format(ABC):
    """Base of all file formats that describe mechanisms.

    shows      what its files look like, in words, for messages
    suffixes   endings of their names, by which the command line distinguishes them from Python files
    texts      options that the command line takes as texts, such as names of files
    """

    kind = "format"
    key: str
    shows: str
    suffixes: tuple[str, ...]
    texts: tuple[str, ...] = ()

    @staticmethod
    @abstractmethod
    def recognises(content: Content) -> bool:
        """True if a file is of this format, by what is in it."""

    @staticmethod
    @abstractmethod
    def read(path: Any, **options: Any) -> Imported:
        """The mechanism that a file describes; its keywords are the options of the format."""
