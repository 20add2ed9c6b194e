"""The command that writes the JSON schema of model files."""

import json
from typing import Annotated

import typer

from . import DONE

TARGET = typer.Argument(metavar="[FILE]", help="The file to write: FILE.json; without it, standard output.")


def schema(target: Annotated[str | None, TARGET] = None):
    """Write the JSON schema of YAML model files, by which editors complete and check them."""
    from ..exchange.writers.text_file import write_text
    from ..store.model_files.json_schema import model_schema

    text = json.dumps(model_schema(), indent=1, ensure_ascii=False) + "\n"
    if target is None:
        print(text, end="")
    else:
        write_text(text, target)
        print(f"written  {target}")
    return DONE
