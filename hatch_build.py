"""Compiles the loops and builds the page of the viewer when a wheel is built, so that nobody who installs it waits for that, or
needs Numba or Node.js. Without Node.js the wheel has no viewer, and one line says so.

A checkout that is installed for development compiles what has changed when it is first used.
"""

import os
import subprocess
import sys
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LOOPS = "from torsor.run.build_loops import ship; ship()"
PAGE = "from torsor.viewer.viewer_page import ship; ship()"


class Loops(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        if version == "editable":
            return
        path = [os.path.join(self.root, "src"), os.environ.get("PYTHONPATH", "")]  # pip's has what the build requires
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        for build in (LOOPS, PAGE):
            subprocess.run([sys.executable, "-c", build], check=True, env=environment, cwd=self.root)
        build_data["artifacts"] += ["src/torsor/bitcode/*.xz", "src/torsor/viewer/page/viewer.html"]
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["pure_python"] = False
