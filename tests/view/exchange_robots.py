"""Files of robots that the wheel `example-robot-data` carries."""

import pathlib
import sysconfig

ROBOTS = pathlib.Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


def robot_file(name):
    """The file of this name, or the first URDF file in the folder; the reduced one where there is one."""
    path = ROBOTS / name
    files = sorted(path.rglob("*.urdf"), key=lambda file: ("reduced" not in file.name, file.name))
    return path if path.is_file() else files[0]
