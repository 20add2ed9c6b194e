"""Outlines of flat solids: toothed wheels, rings with teeth inside, racks, cams, aerofoils. Each is a list of points (x, y)."""

import numpy as np

ADDENDUM, DEDENDUM = 0.9, 1.1  # of a tooth / module
ROOT, TIP = 0.3, 0.14  # half widths of a tooth / pitch: at its root, at its tip
FEWEST_TEETH, MOST_TEETH = 10, 120  # teeth that are drawn
CIRCLE = 40  # points of a circle
CAM = 72  # points of a cam
AEROFOIL = 14  # points of one side of an aerofoil
ROUND = 5  # digits of a point


def circle(radius: float) -> list:
    angles = 2 * np.pi * np.arange(CIRCLE) / CIRCLE
    return _points(radius * np.cos(angles), radius * np.sin(angles))


def circles(radius: float, distance: float, count: int) -> list:
    """Circles whose centres are on a circle about the origin."""
    centers = [(distance * np.cos(a), distance * np.sin(a)) for a in 2 * np.pi * np.arange(count) / count]
    return [[[x + float(a), y + float(b)] for x, y in circle(radius)] for a, b in centers]


def gear(radius: float, teeth: int, inside: bool = False) -> list:
    """A toothed wheel with this pitch radius, or the hole of a ring with as many teeth inside."""
    count = int(min(max(teeth, FEWEST_TEETH), MOST_TEETH))
    module = 2 * radius / count
    tip, root = (-ADDENDUM, DEDENDUM) if inside else (ADDENDUM, -DEDENDUM)
    angles, radii = [], []
    for k in range(count):
        for half, height in ((-ROOT, root), (-TIP, tip), (TIP, tip), (ROOT, root)):
            angles.append(2 * np.pi * (k + half) / count)
            radii.append(radius + height * module)
    return polar(np.array(angles), np.array(radii))


def rack(pitch: float, length: float, depth: float) -> list:
    """A bar along x with teeth at y = 0 that point along y; pitch: distance of two teeth."""
    module, count = pitch / np.pi, max(2, round(length / pitch))
    x, y = [], []
    for k in range(count):
        at = (k - (count - 1) / 2) * pitch
        for half, height in ((-ROOT, -DEDENDUM), (-TIP, ADDENDUM), (TIP, ADDENDUM), (ROOT, -DEDENDUM)):
            x.append(at + half * pitch)
            y.append(height * module)
    end, back = count * pitch / 2, -DEDENDUM * module - depth
    return _points(np.array([-end, *x, end, end, -end]), np.array([y[0], *y, y[0], back, back]))


def polar(angles: np.ndarray, radii: np.ndarray) -> list:
    return _points(radii * np.cos(angles), radii * np.sin(angles))


def aerofoil(chord: float) -> list:
    """A symmetric aerofoil (NACA 0012), with its leading edge towards x and a quarter of its chord in front of the origin."""
    s = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, AEROFOIL))
    half = 0.6 * (0.2969 * np.sqrt(s) - 0.126 * s - 0.3516 * s**2 + 0.2843 * s**3 - 0.1036 * s**4)
    x = 0.25 - s
    return _points(chord * np.concatenate([x, x[-2:0:-1]]), chord * np.concatenate([half, -half[-2:0:-1]]))


def _points(x, y):
    scale = max(np.abs(x).max(), np.abs(y).max(), 1e-300)
    digits = ROUND - int(np.floor(np.log10(scale)))
    return [[round(float(a), digits), round(float(b), digits)] for a, b in zip(x, y)]
