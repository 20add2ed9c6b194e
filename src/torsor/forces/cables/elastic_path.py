"""Elastic cables and belts: the tension of each part, and the slip over pulleys with friction."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ...elements import quantity
from ...elements.element import REQUIRED
from ...elements.quantity import Number
from ...errors import ModelError
from ...events import Event, Watch
from ...events.actions.assignment import Assign
from ..base import Force
from .path_element import OnPath, slack_of

CORRECTION_TIME = 1e-2  # τ of (2) [s]
SLIPS_BEYOND = 1e-6  # e / (T₁ + T₂) at which slip begins: above the errors with which slip keeps e at zero
SLIPS_BEYOND_STRAIN = 1e-12  # and e / E A, for ropes without tension


@dataclass(frozen=True, eq=False)
class ElasticPath(Force, OnPath):
    """Base of cables and belts: a tension in each part between places that hold it.

        T = T₀ + E A/l x + E' A/l ẋ ≥ 0 where T₀ + E A/l x > 0, else 0,    x = −s ± σ                       (1)
        σ̇ = (ė + e/τ)/(k₂ + k₁ e^(μ ϑ)),   e = T₂ − e^(μ ϑ) T₁,   while it slips forward                  (2)

    σ is how far the rope has slipped over a pulley with friction, a state `name.slip0` …; T₁ and T₂ are the elastic tensions
    before and after it, ė is the rate of e without slip. Slip keeps e at zero, backward with T₁ and T₂ exchanged; it begins where
    e exceeds zero, and ends where σ̇ would change its sign: `name.slips0` is 1, 0 or −1. τ only takes away errors of integration.
    """

    drawing = "path"
    path: Any = REQUIRED
    stiffness: Number | None = field(default=None, kw_only=True)
    damping: Number = field(default=0.0, kw_only=True)
    counts: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self):
        self.remember()

    @property
    def acts_by_parts(self) -> bool:  # type: ignore[override]
        return self.stiffness is None

    def keep(self) -> Self:
        """The element with its path kept, and with a state for each pulley that it slips on."""
        self.check_rates(("stiffness", "damping"), ("stiffness",))
        if self.stiffness is None and not (quantity.is_number(self.damping) and self.damping == 0):
            raise ModelError(f"{self.owner}: damping acts in an elastic rope; give stiffness as well")
        self.keep_path()
        return self

    def drawn_at(self) -> list[tuple[Any, Any]]:
        return [(stop.body, stop.arm) for stop in self.lay().stops]

    def drawn_details(self) -> dict[str, Any]:
        return {"closed": self.closed, "stops": self.lay().drawn_stops()}

    def _rubbing(self):
        return [k for k, stop in enumerate(self.lay().stops) if stop.rubs]

    def _pretension(self) -> ca.SX:
        return ca.SX(0)

    def _free_slack(self, count) -> list[ca.SX]:
        return slack_of(self, count)

    def stretches(self) -> list[tuple[Any, ca.SX, ca.SX]]:
        """For each part: the part, E A/l and T₀ + E A/l x."""
        path, stiffness = self.lay(), quantity.scalar(self.stiffness, "stiffness", self.owner)
        parts, rubbing = path.parts(True), self._rubbing()
        found = []
        for part, slack in zip(parts, self._free_slack(len(parts))):
            k = stiffness / part.length
            s = path.spare(part, self.betas()) + slack
            for stop, sign in ((part.first, 1), (part.last, -1)):
                if stop in rubbing:
                    s += sign * self.slips[rubbing.index(stop)].symbol
            found.append((part, k, self._pretension() - k * s))
        return found

    def tensions(self) -> list[ca.SX]:
        """Signals: the tension of each part."""
        path, c = self.lay(), quantity.scalar(self.damping, "damping", self.owner)
        slipping = dict(zip(self._rubbing(), (rate for _, rate in self.rates(ca.SX(1)))))
        found = []
        for part, k, elastic in self.stretches():
            rate = -path.rate(part) - slipping.get(part.first, 0) + slipping.get(part.last, 0)
            damper = c * k / quantity.scalar(self.stiffness, "stiffness", self.owner)
            found.append((elastic > 0) * ca.fmax(0, elastic + damper * rate))  # (1)
        return found

    def potential(self) -> ca.SX | None:
        if self.stiffness is None or self.slips:
            return None
        return sum((ca.fmax(elastic, 0) ** 2 / (2 * k) for _, k, elastic in self.stretches()), ca.SX(0))

    def dissipation(self) -> ca.SX | None:
        """½ c ẋ² as long as the rope pulls; where the damper would push, what takes the tension away."""
        damping = quantity.scalar(self.damping, "damping", self.owner)
        if self.stiffness is None or self.slips or damping.is_zero():
            return None
        path, total = self.lay(), ca.SX(0)
        for part, k, elastic in self.stretches():
            c = damping * k / quantity.scalar(self.stiffness, "stiffness", self.owner)
            rate = -path.rate(part)
            slack = -elastic * rate - elastic**2 / (2 * c)
            total += (elastic > 0) * ca.if_else(elastic + c * rate > 0, c * rate**2 / 2, slack)
        return total

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        if self.stiffness is None or not self.slips:
            return []
        path = self.lay()
        return [(path.rate(part), tension) for (part, _, _), tension in zip(self.stretches(), self.tensions())]

    def memories(self) -> list[Any]:
        return [] if self.stiffness is None else [*self.bearings, *self.slips, *self.modes]

    def _slipping(self):
        """For each pulley that rubs: its state, its mode, and e, its threshold and σ̇ in both directions."""
        path, found = self.lay(), []
        parts, stiffness = self.stretches(), quantity.scalar(self.stiffness, "stiffness", self.owner)
        for stop, slip, mode in zip(self._rubbing(), self.slips, self.modes):
            before = next(p for p in parts if p[0].last == stop)
            after = next(p for p in parts if p[0].first == stop)
            grip = ca.exp(path.stops[stop].friction * path.angle_of_wrap(stop))
            least = SLIPS_BEYOND * (ca.fmax(before[2], 0) + ca.fmax(after[2], 0)) + SLIPS_BEYOND_STRAIN * stiffness
            ways = []
            for (_, k1, x1), (_, k2, x2), u1, u2 in (
                (before, after, path.rate(before[0]), path.rate(after[0])),
                (after, before, path.rate(after[0]), path.rate(before[0])),
            ):
                e = ca.fmax(x2, 0) - grip * ca.fmax(x1, 0)
                change = -k2 * u2 * (x2 > 0) + grip * k1 * u1 * (x1 > 0)
                ways.append((e, (change + e / CORRECTION_TIME) / (k2 + k1 * grip)))
            found.append((slip, mode, least, ways))
        return found

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        if self.stiffness is None or not self.slips:
            return []
        return [
            (slip, acts * ((mode.symbol > 0) * ways[0][1] - (mode.symbol < 0) * ways[1][1]))  # (2)
            for slip, mode, _, ways in self._slipping()
        ]

    def events(self) -> list[Any]:
        """Steps end where a part gets taut or slack."""
        if self.stiffness is None:
            return []
        taut = [
            Event(f"{self.name}.taut{n}", Watch(elastic / k, both=True), ())
            for n, (_, k, elastic) in enumerate(self.stretches())
        ]
        slips = []
        for n, (_, mode, least, ways) in enumerate(self._slipping()):
            for label, sign, (e, rate) in zip(("forward", "backward"), (1.0, -1.0), ways):
                begin, end = Watch(least - e, state=True), Watch(rate, state=True)
                slips += [
                    Event(f"{self.name}.{label}{n}", begin, (Assign((mode,), sign),), ((mode, 0.0),)),
                    Event(f"{self.name}.{label}{n}_ends", end, (Assign((mode,), 0.0),), ((mode, sign),)),
                ]
        return [*taut, *slips, *self.turn_events()]
