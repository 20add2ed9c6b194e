"""A block on a running belt, held back by a spring: it sticks, is carried along, slips back, and sticks again.

While it sticks, dry friction is a constraint; it gives way where the spring pulls with more than μ_s N. While it slips,
friction is a force μ N, and the motion about x_e = μ N/k is harmonic until the block is as fast as the belt again:

    sticks until  k x = μ_s N,     slips for  (π + 2 φ)/ω,   tan φ = V/(ω (x_s − x_e)),   ω² = k/m                  (1)

    python examples/stick_slip.py
"""

import numpy as np

import torsor as ts

M, K, V, MU, STATIC, G = 1.0, 100.0, 0.5, 0.2, 0.4, 10.0


def belt_and_block():
    model = ts.Model("stick-slip", gravity=(0, 0, -G))
    belt = model.body("belt", mass=50.0, inertia=(1, 1, 1), at=(0, 0, -0.1), velocity=(V, 0, 0))
    rollers = model.add(ts.Prismatic("rollers", model.ground, belt, axis=(1, 0, 0)))
    model.add(ts.Drive("motor", rollers, V * ts.time))
    block = model.body("block", mass=M, inertia=(0.1, 0.1, 0.1), velocity=(V, 0, 0))
    surface = model.add(ts.Prismatic("surface", belt, block, axis=(1, 0, 0)))
    model.add(ts.Friction("friction", surface, coefficient=MU, static=STATIC))
    model.add(ts.PointForce("spring", block, force=(-K * block.position[0], 0, 0)))
    return model


def exact(until):
    """Times at which the block slips and sticks: (1)."""
    omega, xs, xe = np.sqrt(K / M), STATIC * M * G / K, MU * M * G / K
    phi, radius = np.arctan2(V / omega, xs - xe), np.hypot(xs - xe, V / omega)
    slips, carried = (np.pi + 2 * phi) / omega, (xs - xe + radius * np.cos(phi)) / V
    times = [xs / V]
    while times[-1] < until:
        times.append(times[-1] + (slips if len(times) % 2 else carried))
    return np.array([t for t in times if t < until])


def main():
    data = ts.simulate(belt_and_block(), 5.0, formulation="relative")
    expected = exact(5.0)
    assert len(expected) == data.sizes["event"]
    for name, t, wanted in list(zip(data.event_name.values, data.event_time.values, expected))[:4]:
        print(f"{name:<16} at {t:.9f} s, exact {wanted:.9f} s")
    worst = np.abs(data.event_time.values - expected).max()
    print(f"{len(expected)} events in {data.attrs['steps']} steps; largest error of their times {worst:.1e} s")


if __name__ == "__main__":
    main()
