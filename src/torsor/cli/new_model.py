"""`torsor new`: a small commented model that runs, as a file of one's own."""

import os
from typing import Annotated

import typer

from ..errors import OptionError

NAME = typer.Argument(help="file to write, as in swing.py", metavar="FILE")
TEMPLATE = '''"""{title}: a ball on an arm swings against a spring and hits a wall.

    torsor run {file} --view            simulate it, print a summary, play it in the browser
    torsor run {file} --plot out        the same with plots as files in out/
    torsor view {file}                  show it as it starts; shown again whenever this file is saved
    python {file}                       the same from Python
"""

import torsor as ts

# Everything is given in one world frame, in the position in which you would draw the mechanism. SI units, radians.
model = ts.Model("{name}", gravity=(0, 0, -9.81))

# A number that runs and studies may change: torsor run {file} --set stiffness=80
stiffness = model.parameter("stiffness", 8.0)

# Bodies: mass and inertia follow from a shape.
arm = model.body("arm", inertia=ts.inertia.rod(0.5, 0.6, axis="x"), at=(0.3, 0, 0))
ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.06), at=(0.6, 0, 0))

# Joints: two bodies, a point and an axis.
pivot = model.add(ts.Revolute("pivot", model.ground, arm, point=(0, 0, 0), axis="y"))
model.add(ts.Fixed("weld", arm, ball, point=(0.6, 0, 0)))

# Forces: a spring from the ground to the ball, and some friction in the pivot.
model.add(ts.SpringDamper("spring", model.ground, ball, points=((0.6, 0, 0.5), (0.6, 0, 0)), stiffness=stiffness))
model.add(ts.TorsionSpring("bearing", pivot, damping=0.02))

# A wall on the left. The ball bounces off it; this is an event, located in time.
model.add(ts.Contact("wall", model.ground, ball, point=(0.6, 0, 0), normal="x", radius=0.06, plane=(-0.2, 0, 0), restitution=0.7))

# What else to record: any expression of the motion.
model.signal("height", ball.position[2])

until = 4.0  # seconds, for `torsor run`

if __name__ == "__main__":
    data = ts.simulate(model, until)  # a labelled dataset: positions, reactions, energies, events
    print(data[["height", "energy"]].to_dataframe().iloc[::25])
    print("lost by impacts:", float(data.energy_by_events[-1]), "J")
'''


def new(file: Annotated[str, NAME]):
    """Write a small commented model that runs, to start from."""
    path = file if file.endswith(".py") else f"{file}.py"
    name = os.path.basename(path)[:-3]
    if not name.isidentifier():
        raise OptionError(f"{file!r}: give a file name of letters, digits and '_', as in swing.py")
    try:
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(TEMPLATE.format(title=name.capitalize(), name=name, file=path))
    except FileExistsError:
        raise OptionError(f"{path!r} exists already; give another name") from None
    except OSError as error:
        raise OptionError(f"cannot write {path!r}: {error.strerror}") from None
    print(f"{path}: a small model. Next: torsor run {path} --view plays it in the browser")
