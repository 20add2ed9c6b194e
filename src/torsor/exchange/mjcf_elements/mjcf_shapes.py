"""The shapes of an MJCF file, for viewing."""

from pathlib import Path

import numpy as np

from ..robot import Visual

LAST_SHOWN_GROUP = 2  # MuJoCo's viewer hides further ones: shapes for contact alone
GREY = (0.5, 0.5, 0.5, 1.0)  # what MuJoCo gives a shape that says nothing


class Shapes:
    """Geoms of a compiled MuJoCo model as visuals, and what is not drawn or not simulated of them."""

    def __init__(self, mujoco, spec, compiled, out, where):
        self.mj, self.spec, self.m, self.out, self.where = mujoco, spec, compiled, out, where

    def of_body(self, k, body):
        m, found = self.m, []
        first = m.body_geomadr[k]
        for g in range(first, first + m.body_geomnum[k]):
            name = m.geom(g).name or f"geom_{g}"
            if m.geom_group[g] > LAST_SHOWN_GROUP:
                continue
            visual = self._visual(g)
            if visual is None:
                where = self.where(self.spec.geoms, g)
                self.out.note("unsupported", f"geom {name!r} of body {body!r}", "this shape is not drawn", where)
            else:
                found.append(visual)
        return found

    def _visual(self, g):
        m, (a, b, c) = self.m, self.m.geom_size[g].tolist()
        kind = self.mj.mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
        sizes = {
            "sphere": (a,),
            "capsule": (a, 2 * b),
            "cylinder": (a, 2 * b),
            "ellipsoid": (a, b, c),
            "box": (2 * a, 2 * b, 2 * c),
        }
        H = self._pose(m.geom_pos[g], m.geom_quat[g])
        colour = self._colour(g)
        if kind in sizes:
            return Visual(kind, H[:3, 3], H[:3, :3], sizes[kind], colour=colour)
        if kind != "mesh":
            return None
        mesh = m.geom_dataid[g]
        H = H @ np.linalg.inv(self._pose(m.mesh_pos[mesh], m.mesh_quat[mesh]))  # MuJoCo recentres meshes
        name = m.mesh(mesh).name
        uri = next((x.file for x in self.spec.meshes if x.name == name or Path(x.file).stem == name), None)
        file = Path(self.spec.modelfiledir or ".") / (self.spec.meshdir or "") / uri if uri else None
        scale = tuple(m.mesh_scale[mesh].tolist())
        return Visual("mesh", H[:3, 3], H[:3, :3], scale, str(file) if file and file.is_file() else None, uri, colour)

    def _pose(self, position, quaternion):
        R, H = np.zeros(9), np.eye(4)
        self.mj.mju_quat2Mat(R, quaternion)
        H[:3, :3], H[:3, 3] = R.reshape(3, 3), position
        return H

    def _colour(self, g):
        own, material = tuple(self.m.geom_rgba[g].astype(float).tolist()), self.m.geom_matid[g]
        if material >= 0 and own == GREY:
            return tuple(self.m.mat_rgba[material].astype(float).tolist())
        return own
