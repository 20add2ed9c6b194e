"""Draws machines with gears, belts, cables, cams, motors and wings in a browser: python docs/pictures/machines.py"""

import base64
import io
import pathlib
import sys
import tempfile

import casadi as ca
from PIL import Image

import torsor as ts

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "view"))
from browser import OPTIONS, executable  # noqa: E402  the browser of the tests

WIDTH, HEIGHT = 300, 230  # of a panel
COLOURS = 256
DRAW = """([t, w, h]) => window.torsor.ready.then(() => {
    window.torsor.setDark(false);
    window.torsor.seek(t);
    return window.torsor.picture(w, h);
})"""
DOWN = (0, 0, -9.81)


def wheel(model, name, at, radius, carrier=None, **start):
    """A disc on a hinge along y."""
    body = model.body(name, inertia=ts.inertia.cylinder(1.0, radius, 0.04, axis="y"), at=at)
    return model.add(ts.Revolute(f"{name}_axle", carrier or model.ground, body, point=at, axis=(0, 1, 0), **start))


def gear_train():
    model = ts.Model("gears", hints=False)
    small, middle = wheel(model, "small", (0, 0, 0), 0.04, start_rate=9.0), wheel(model, "middle", (0.2, 0, 0), 0.14)
    ring, large = wheel(model, "ring", (-0.15, 0, 0), 0.01), wheel(model, "large", (0.35, 0, 0.2), 0.09)
    model.add(ts.Gear("outer", small, middle, teeth=(15, 45)))
    model.add(ts.Gear("inner", small, ring, teeth=(15, 60), internal=True))
    model.add(ts.Gear("last", middle, large, teeth=(45, 30)))
    return model


def belt_drive():
    model = ts.Model("belt", hints=False)
    small, large = wheel(model, "small", (0, 0, 0), 0.08, start_rate=9.0), wheel(model, "large", (0.5, 0, 0.1), 0.2)
    model.add(ts.DCMotor("motor", small, 12.0, resistance=1.0, constant=0.1))
    model.add(
        ts.Belt("belt", [ts.Pulley(small, 0.08), ts.Pulley(large, 0.2)], stiffness=1e5, damping=50.0, pretension=50.0)
    )
    return model


def hoist():
    model = ts.Model("hoist", gravity=DOWN, hints=False)
    top, drum = wheel(model, "top", (0.5, 0, 0.8), 0.1), wheel(model, "drum", (0, 0, 0), 0.14)
    load = model.body("load", inertia=ts.inertia.box(5.0, 0.2, 0.15, 0.2), at=(0.6, 0, 0.1))
    model.add(ts.Prismatic("guide", model.ground, load, point=(0.6, 0, 0.1), axis=(0, 0, 1)))
    model.add(ts.JointForce("winch", drum, -7.0))
    model.add(ts.Cable("rope", [ts.Pulley(drum, 0.14, winding=1), ts.Pulley(top, 0.1), load.point((0, 0, 0.1))]))
    return model


def cam_drive():
    model = ts.Model("cam", gravity=DOWN, hints=False)
    shaft = wheel(model, "shaft", (0, 0, 0), 0.012)
    model.add(ts.Drive("speed", shaft, 20 * ts.time))
    valve = model.body("valve", inertia=ts.inertia.cylinder(0.3, 0.012, 0.1, axis="z"), at=(0, 0, 0.16))
    slide = model.add(ts.Prismatic("guide", model.ground, valve, point=(0, 0, 0.16), axis=(0, 0, 1)))
    model.add(ts.Cam("cam", shaft, slide, lift=lambda angle: 0.02 - 0.02 * ca.cos(angle) ** 3))
    model.add(
        ts.SpringDamper("spring", model.ground, valve, points=((0, 0, 0.32), (0, 0, 0.21)), stiffness=900.0, length=0.2)
    )
    return model


def digger():
    model = ts.Model("digger", gravity=DOWN, hints=False)
    boom = model.body("boom", inertia=ts.inertia.box(60.0, 2.0, 0.16, 0.16), at=(1.0, 0, 0))
    model.add(ts.Revolute("pivot", model.ground, boom, point=(0, 0, 0), axis=(0, 1, 0)))
    fork = model.body("fork", inertia=ts.inertia.box(20.0, 0.1, 0.12, 0.9), at=(1.9, 0, -0.35))
    joint = model.add(ts.Revolute("elbow", boom, fork, point=(1.9, 0, 0), axis=(0, 1, 0)))
    model.add(ts.PositionServo("servo", joint, 0.3, stiffness=2e3, damping=200.0))
    pressures = {
        "areas": (2e-3, 1.2e-3),
        "stroke": 0.7,
        "length": 0.9,
        "supply": 2e7,
        "rated_flow": 1e-3,
        "pressures": (4e6, 2e6),
    }
    model.add(
        ts.HydraulicCylinder(
            "ram", model.ground, boom, points=((0.4, 0, -0.8), (1.1, 0, -0.05)), valve=0.3, **pressures
        )
    )
    return model


def glider():
    model = ts.Model("glider", gravity=DOWN, hints=False)
    body = model.body(
        "body", mass=2.0, inertia=(0.05, 0.2, 0.2), velocity=(9, 0, 0), shape=ts.shapes.capsule(0.05, 0.9, axis="x")
    )
    model.add(ts.Wing("wing", body, area=0.4, point=(0.05, 0, 0)))
    model.add(ts.Wing("tail", body, area=0.06, point=(-0.4, 0, 0)))
    return model


MACHINES = {gear_train: 0.2, belt_drive: 0.3, hoist: 0.3, cam_drive: 0.12, digger: 0.2, glider: 0.04}  # and times [s]


def main():
    from playwright.sync_api import sync_playwright

    whole = Image.new("RGB", (3 * WIDTH, 2 * HEIGHT))
    with sync_playwright() as player, tempfile.TemporaryDirectory() as folder:
        browser = player.chromium.launch(executable_path=executable(), args=OPTIONS)
        page = browser.new_page(viewport={"width": 700, "height": 700})
        for k, (machine, t) in enumerate(MACHINES.items()):
            file = pathlib.Path(folder) / "machine.html"
            method = "radau5" if machine is digger else "rkmk54"
            ts.save_html(ts.simulate(machine(), t, outputs=20, method=method, progress=False), file)
            page.goto(file.as_uri())
            address = page.evaluate(
                DRAW,
                [t, 2 * WIDTH, 2 * HEIGHT],
            )  # fmt: skip
            picture = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")
            whole.paste(picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS), (k % 3 * WIDTH, k // 3 * HEIGHT))
        browser.close()
    file = HERE / "machines.png"
    whole.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
