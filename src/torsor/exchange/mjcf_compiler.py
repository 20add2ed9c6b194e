"""An MJCF file through MuJoCo's compiler: its description and its model, without shapes whose meshes are absent."""

import re
import warnings
from pathlib import Path

import numpy as np

from ..errors import ModelError

KEYS = ("qpos", "qvel", "ctrl")  # values of a keyframe that are read


def compile_file(mujoco, file, places):
    """MuJoCo's description and model of a file, shapes without their mesh, and what it warns about (otherwise it would write
    a file of its own)."""
    warned: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warned.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(file)
            absent = _without_absent_meshes(mujoco, spec, places)
            sizes = [(key, [np.size(getattr(key, what)) for what in KEYS]) for key in spec.keys]
            compiled = spec.compile()
            _refuse_other_sizes(sizes, compiled, places)
    except ModelError:
        raise
    except (ValueError, RuntimeError, OSError) as error:
        message = " ".join(str(error).split())
        line = re.search(r"line (\d+)", message)
        raise ModelError(f"{file}{':' + line[1] if line else ''}: MuJoCo refuses it: {message}") from None
    finally:
        mujoco.set_mju_user_warning(before)
    return spec, compiled, absent, [*warned, *(str(warning.message) for warning in caught)]


def _refuse_other_sizes(sizes, compiled, places):
    """Refuse keyframes with another number of values than the robot has; MuJoCo's compiler fills them up."""
    for number, (key, found) in enumerate(sizes):
        for what, size, count in zip(KEYS, found, (compiled.nq, compiled.nv, compiled.nu)):
            if size not in (0, count):
                name = key.name or f"key_{number}"
                raise ModelError(
                    f"{places.of(key)}: keyframe {name!r}: {what} has {size} numbers, the robot has {count}"
                )


def _without_absent_meshes(mujoco, spec, places):
    """Leave out shapes whose mesh files are absent, where mass and inertia do not follow from them; pairs (what, where)."""
    folder = Path(spec.modelfiledir or ".") / (spec.meshdir or "")
    absent = {mesh.name: mesh for mesh in spec.meshes if mesh.file and not (folder / mesh.file).is_file()}
    left_out = []
    for geom in [g for g in spec.geoms if g.meshname in absent]:
        body, file = geom.parent, absent[geom.meshname].file
        given = (
            body.explicitinertial and spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        )
        if not (given or geom.mass == 0 or body.name == "world"):
            raise ModelError(
                f"{places.of(geom)}: body {body.name!r}: its inertia follows from the mesh {file!r}, and there is no "
                f"file {str(folder / file)!r}; give it an <inertial>, or put the mesh there"
            )
        left_out.append((f"mesh {file!r} of body {body.name!r}", places.of(geom)))
        spec.delete(geom)
    for mesh in absent.values():
        spec.delete(mesh)
    return left_out
