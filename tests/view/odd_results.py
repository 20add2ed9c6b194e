"""Results with odd names, numbers that are none, few or no bodies and outputs, many events: always the same for a seed."""

import json

import numpy as np
import xarray as xr

TEXTS = [
    "</script><script>window.hacked=1</script>", "<img src=x onerror='window.hacked=2'>", "a\"b'c&d", "\u202eright to left",
    "😀", " ", "", "\u2028", "--><svg onload=window.hacked=3>", "__proto__", "constructor", "x" * 3000, "window.hacked=4",
    "שלום עולם", "\x00\x07", "{{7*7}}", "${window.hacked=5}", "a.b.c", "..", "null",
]  # fmt: skip
NUMBERS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 0.0)


def odd_result(plain, seed):
    """A result like `plain`, whose names and numbers are odd."""
    rng = np.random.default_rng(seed)

    def text():
        return str(rng.choice(TEXTS)) + (str(rng.integers(1000)) if rng.random() < 0.5 else "")

    data = plain.isel(time=slice(0, int(rng.choice([0, 1, 2, plain.sizes["time"]])))).copy(deep=True)
    scene = json.loads(data.attrs["scene"])
    for kind in ("bodies", "joints", "forces"):
        for entry in scene[kind]:
            entry["name"] = text()
    scene["name"] = text()
    if rng.random() < 0.2:
        scene["size"] = float(rng.choice([0.0, 1e-12, 1e12]))
    if rng.random() < 0.15:  # no bodies at all
        data, scene["bodies"], scene["joints"], scene["forces"] = data.isel(body=slice(0, 0)), [], [], []
    data = data.assign_coords(body=[entry["name"] for entry in scene["bodies"]])
    data = data.assign_attrs(model=text(), method=text(), status=text(), scene=json.dumps(scene))
    for name in ("position", "rotation", "coordinate", "multiplier", "energy"):
        if name in data and data[name].size and rng.random() < 0.4:
            flat = data[name].values.reshape(-1)
            flat[rng.integers(flat.size, size=max(1, flat.size // 7))] = rng.choice(NUMBERS)
    if rng.random() < 0.3:
        events = int(rng.choice([1, 50, 2000, 100_000], p=[0.4, 0.3, 0.29, 0.01]))
        data["event_time"] = ("event", np.sort(rng.random(events)) * 2 - 0.5)
        data["event_name"] = ("event", np.array(TEXTS, dtype=object)[rng.integers(len(TEXTS), size=events)])
    data[text() or "signal"] = xr.DataArray(np.full(data.sizes["time"], rng.choice(NUMBERS)), dims="time")
    return data
