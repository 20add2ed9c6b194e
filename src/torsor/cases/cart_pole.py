"""A pole on a cart that weighs almost nothing, released from the horizontal: a trap for step-size control.

`pole="rod"` is a uniform slender rod. `pole="point"` has all its mass at the tip, on a massless rod: without force in
it the tip falls freely until it hangs below the cart, where the cart shoots through at √(2 g l m / m_cart) = 4,400 m/s
within a fraction of a millisecond and throws the tip up again.
"""

import torsor as ts

from ..errors import OptionError
from ..registry import register
from .base import Case

CART, POLE = 1e-6, 1.0  # masses [kg]


@register("cart-pole")
class CartPole(Case):
    title = "pole on a cart of a millionth of its mass, pole=rod or point, from the horizontal"
    source = "benchmark, light cart-pole"
    until = 10.0
    recommended = {"tolerance": 1e-10}

    @staticmethod
    def build(pole="rod"):
        if pole not in ("rod", "point"):
            raise OptionError(f"case 'cart-pole': pole must be 'rod' or 'point', got {pole!r}")
        model = ts.Model(f"cart-pole-{pole}", gravity=(0, 0, -9.81))
        cart = model.body("cart", mass=CART, inertia=(CART, CART, CART))
        model.add(ts.Prismatic("track", model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0), start_rate=0.0))
        if pole == "rod":
            body = model.body("pole", inertia=ts.inertia.rod(POLE, 1.0, axis="x"), at=(0.5, 0, 0))
            model.add(ts.Revolute("hinge", cart, body, point=(0, 0, 0), axis=(0, 1, 0), start_rate=0.0))
        else:
            tip = model.body("pole", mass=POLE, inertia=0, at=(1, 0, 0), velocity=(0, 0, 0))
            model.add(ts.Distance("rod", cart, tip, points=((0, 0, 0), (1, 0, 0))))
            model.add(ts.PointOnPlane("plane", model.ground, tip, point=(1, 0, 0), normal=(0, 1, 0)))
        return model
