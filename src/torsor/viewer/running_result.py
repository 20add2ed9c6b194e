"""The result so far of a run that is kept in a folder, while it runs: nothing in the folder is changed."""

import os
import tempfile
from typing import Any

from ..look.result_writer import assemble
from ..prepare.system import System
from ..scene.scene import scene_attributes
from ..store.checkpoint import Checkpoint, damage_as_error
from ..store.result_files import load_result


def running_result(folder: str | os.PathLike, model: Any = None) -> Any:
    """What a run with `checkpoint=folder` has computed until its last checkpoint; model: for the scene, which it does not store."""
    place = Checkpoint(folder)
    facts, _ = place.read()
    if place.result is not None:
        return load_result(place.path("result.nc"))
    with damage_as_error(place.folder), tempfile.TemporaryDirectory() as temporary:
        system, place.times = System.from_facts(place.static["system"]), place.output_times()
        outcome = {**facts["outcome"], "status": "interrupted"}
        extra = {"prepare_seconds": 0.0, **({} if model is None else scene_attributes(model))}
        path = os.path.join(temporary, "result.nc")
        assemble(path, system, outcome, place.static["options"], place, extra)
        return load_result(path)
