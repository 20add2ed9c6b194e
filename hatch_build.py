"""Compiles the loops when a wheel is built, so that nobody who installs it waits for that, or needs Numba.

A checkout that is installed for development compiles what has changed when it is first used.
"""

import os
import subprocess
import sys
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILD = "from torsor.run.build_loops import ship; ship()"


class Loops(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        if version == "editable":
            return
        path = [os.path.join(self.root, "src"), os.environ.get("PYTHONPATH", "")]  # pip's has what the build requires
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        subprocess.run([sys.executable, "-c", BUILD], check=True, env=environment, cwd=self.root)
        build_data["artifacts"].append("src/torsor/bitcode/*.xz")
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["pure_python"] = False
