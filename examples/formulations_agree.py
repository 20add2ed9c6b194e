"""One model, several formulations: accelerations of all bodies, their difference, and what a run costs.

Absolute coordinates carry every joint as constraints; joint coordinates have none in a tree. They must say the same.

    python examples/formulations_agree.py
"""

import numpy as np

import torsor as ts

print(f"{'case':<14}{'formulation':<12}{'unknowns':>9}{'constraints':>13}{'difference':>12}{'run':>10}")
for case in ("platform", "manipulator", "panels", "car", "bricard"):
    model = ts.cases.load(case)
    expected = ts.compile(model).body_accelerations()
    for formulation in ("absolute", "relative", "woronetz"):
        dynamics = ts.compile(model, formulation=formulation)
        off = np.abs(dynamics.body_accelerations() - expected).max() / max(1.0, np.abs(expected).max())
        data = ts.simulate(model, 1.0, formulation=formulation, outputs=20)
        sizes = dynamics.system.sizes
        print(
            f"{case:<14}{formulation:<12}{sizes['v']:>9}{sizes['multipliers']:>13}{off:>12.1e}"
            f"{data.attrs['wall_seconds'] * 1e3:>7.2f} ms"
        )
