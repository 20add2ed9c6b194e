"""The Magic Formula: forces and moments of a tyre at a load, a slip and a camber; versions 5.2 and 6.1.

    y = D sin(C arctan(B x − E (B x − arctan(B x))))                                                        (1)
    y = D cos(C arctan(B x − E (B x − arctan(B x))))                                                        (2)

x is a slip with a shift, κ for F_x and α* = tan α for F_y, and B = K / (C D) with the slip stiffness K. Forces follow from (1), the
pneumatic trail, the residual torque and the weights of combined slip from (2). Equations (4.E1) to (4.E78) of Pacejka, Tire and
Vehicle Dynamics, 3rd edition, 2012, without turn slip; of 5.2 where a comment says so. All is in the axes of ISO-W: x forward,
y to the left, z up; V_sy > 0 is a positive slip angle.
"""

from typing import Any, NamedTuple

import casadi as ca

SMALL_FORCE = 1e-6  # added to denominators of (1): B D has a value where the load is zero [N]


class TyreForces(NamedTuple):
    """Forces [N] and moments [N m] of the road on a tyre at the point of contact: along x and y, about x, y and z."""

    Fx: Any
    Fy: Any
    Mx: Any
    My: Any
    Mz: Any


def sign(x):
    return ca.if_else(x < 0, -1, 1)


def bend(B, E, x):
    """The argument of C arctan in (1) and (2)."""
    return B * x - E * (B * x - ca.atan(B * x))


def sine(B, C, D, E, x):
    return D * ca.sin(C * ca.atan(bend(B, E, x)))  # (1)


def cosine(B, C, D, E, x):
    return D * ca.cos(C * ca.atan(bend(B, E, x)))  # (2)


class MagicFormula:
    """The formula at one state.

    c        coefficients of the tyre
    Fz       load                                   [N]
    kappa    longitudinal slip κ                    [-]
    tangent  tan α                                  [-]
    gamma    camber                                 [rad]
    speed    forward speed of the wheel, which scales the rolling resistance   [m/s]
    pressure inflation pressure; None: that of the file                        [Pa]
    """

    def __init__(self, c, Fz, kappa, tangent, gamma, speed=0.0, pressure=None):
        self.c, self.Fz, self.kappa, self.gamma, self.speed = c, Fz, kappa, gamma, speed
        self.old = c.version == "5.2"
        self.alpha = ca.atan(tangent) if self.old else tangent  # 5.2: the angle itself
        self.nominal = c.FNOMIN * c.LFZO
        self.df = (Fz - self.nominal) / self.nominal
        reference = c.NOMPRES or c.INFLPRES
        self.dp = 0.0 if pressure is None or not reference else (pressure - reference) / reference
        self.lean = gamma * c.LGAY if self.old else ca.sin(gamma)  # γ*
        self.cosine_of_slip = ca.cos(ca.atan(tangent))

    # pure slip

    def longitudinal(self):
        """F_x of pure slip, (4.E9) to (4.E18); sets the slip stiffness `Kx`."""
        c, df, dp, Fz = self.c, self.df, self.dp, self.Fz
        x = self.kappa + (c.PHX1 + c.PHX2 * df) * c.LHX
        mu = (c.PDX1 + c.PDX2 * df) * (1 + c.PPX3 * dp + c.PPX4 * dp**2) * (1 - c.PDX3 * self.gamma**2) * c.LMUX
        D = mu * Fz
        E = ca.fmin((c.PEX1 + c.PEX2 * df + c.PEX3 * df**2) * (1 - c.PEX4 * sign(x)) * c.LEX, 1)
        self.Kx = Fz * (c.PKX1 + c.PKX2 * df) * ca.exp(c.PKX3 * df) * (1 + c.PPX1 * dp + c.PPX2 * dp**2) * c.LKX
        B = self.Kx / (c.PCX1 * c.LCX * D + SMALL_FORCE * sign(D))
        shift = Fz * (c.PVX1 + c.PVX2 * df) * c.LVX * c.LMUX
        return sine(B, c.PCX1 * c.LCX, D, E, x) + shift

    def cornering_stiffness(self, lean):
        """K_yα, (4.E25)."""
        c, dp = self.c, self.dp
        load = self.Fz / self.nominal / ((c.PKY2 + c.PKY5 * lean**2) * (1 + c.PPY2 * dp))
        K = c.PKY1 * self.nominal * (1 + c.PPY1 * dp) * (1 - c.PKY3 * ca.fabs(lean))
        return K * ca.sin(c.PKY4 * ca.atan(load)) * c.LKY

    def lateral(self, lean):
        """F_y of pure slip at some camber, (4.E19) to (4.E30); sets `Ky`, `mu_y`, `BC` and the shifts `SHy`, `SVy`."""
        c, df, dp, Fz = self.c, self.df, self.dp, self.Fz
        self.Ky = self.cornering_stiffness(lean)
        by_camber = Fz * (c.PVY3 + c.PVY4 * df) * lean * c.LKYC * c.LMUY
        self.SHy = (c.PHY1 + c.PHY2 * df) * c.LHY
        if self.old:
            self.SHy += c.PHY3 * lean * c.LKYC
        else:
            K_camber = Fz * (c.PKY6 + c.PKY7 * df) * (1 + c.PPY5 * dp) * c.LKYC
            self.SHy += (K_camber * lean - by_camber) / (self.Ky + SMALL_FORCE * sign(self.Ky))
        self.SVy = Fz * (c.PVY1 + c.PVY2 * df) * c.LVY * c.LMUY + by_camber
        y = self.alpha + self.SHy
        self.mu_y = (c.PDY1 + c.PDY2 * df) * (1 + c.PPY3 * dp + c.PPY4 * dp**2) * (1 - c.PDY3 * lean**2) * c.LMUY
        D, C = self.mu_y * Fz, c.PCY1 * c.LCY
        E = (c.PEY1 + c.PEY2 * df) * (1 + c.PEY5 * lean**2 - (c.PEY3 + c.PEY4 * lean) * sign(y)) * c.LEY
        B = self.Ky / (C * D + SMALL_FORCE * sign(D))
        self.BC = B * C
        return sine(B, C, D, ca.fmin(E, 1), y) + self.SVy

    # combined slip

    def weight_of_longitudinal(self):
        """G_xα, (4.E50) to (4.E57)."""
        c, df = self.c, self.df
        B = (c.RBX1 + c.RBX3 * self.lean**2) * ca.cos(ca.atan(c.RBX2 * self.kappa)) * c.LXAL
        E, shift = ca.fmin(c.REX1 + c.REX2 * df, 1), c.RHX1
        return cosine(B, c.RCX1, 1, E, self.alpha + shift) / cosine(B, c.RCX1, 1, E, shift)

    def weight_of_lateral(self):
        """G_yκ, and what κ adds to F_y, (4.E58) to (4.E67)."""
        c, df = self.c, self.df
        B = (c.RBY1 + c.RBY4 * self.lean**2) * ca.cos(ca.atan(c.RBY2 * (self.alpha - c.RBY3))) * c.LYKA
        E, shift = ca.fmin(c.REY1 + c.REY2 * df, 1), c.RHY1 + c.RHY2 * df
        D = self.mu_y * self.Fz * (c.RVY1 + c.RVY2 * df + c.RVY3 * self.lean) * ca.cos(ca.atan(c.RVY4 * self.alpha))
        added = D * ca.sin(c.RVY5 * ca.atan(c.RVY6 * self.kappa)) * c.LVYKA
        return cosine(B, c.RCY1, 1, E, self.kappa + shift) / cosine(B, c.RCY1, 1, E, shift), added

    # moments

    def aligning(self, Fx, Fy, straight, added, direction):
        """M_z, (4.E31) to (4.E49) and (4.E71) to (4.E78).

        straight    F_y of pure slip without camber, times its weight
        added       what κ adds to F_y
        direction   sign of the forward speed
        """
        c, df, dp, Fz, lean = self.c, self.df, self.dp, self.Fz, self.lean
        side = (self.Kx / (self.Ky + SMALL_FORCE * sign(self.Ky))) ** 2 * self.kappa**2
        equivalent = lambda x: sign(x) * ca.sqrt(x**2 + side)
        trail_slip = equivalent(self.alpha + c.QHZ1 + c.QHZ2 * df + (c.QHZ3 + c.QHZ4 * df) * lean)
        residual_slip = equivalent(self.alpha + self.SHy + self.SVy / (self.Ky + SMALL_FORCE * sign(self.Ky)))
        B = (c.QBZ1 + c.QBZ2 * df + c.QBZ3 * df**2) * c.LKY / c.LMUY
        B *= 1 + c.QBZ4 * lean + c.QBZ5 * ca.fabs(lean)
        D = Fz * c.UNLOADED_RADIUS / self.nominal * (c.QDZ1 + c.QDZ2 * df) * (1 - c.PPZ1 * dp) * c.LTR
        D *= 1 + c.QDZ3 * lean + c.QDZ4 * lean**2
        E = c.QEZ1 + c.QEZ2 * df + c.QEZ3 * df**2
        E = ca.fmin(E * (1 + (c.QEZ4 + c.QEZ5 * lean) * 2 / ca.pi * ca.atan(B * c.QCZ1 * trail_slip)), 1)
        trail = cosine(B, c.QCZ1, D, E, trail_slip) * self.cosine_of_slip
        B_r = c.QBZ9 * c.LKY / c.LMUY + c.QBZ10 * self.BC
        D_r = (c.QDZ6 + c.QDZ7 * df) * c.LRES + (c.QDZ8 + c.QDZ9 * df) * (1 + c.PPZ2 * dp) * lean * c.LKZC
        D_r += (c.QDZ10 + c.QDZ11 * df) * lean * ca.fabs(lean) * c.LKZC
        D_r *= Fz * c.UNLOADED_RADIUS * c.LMUY * direction * self.cosine_of_slip
        residual = D_r * ca.cos(ca.atan(B_r * residual_slip))
        arm = c.SSZ1 + c.SSZ2 * Fy / c.FNOMIN + (c.SSZ3 + c.SSZ4 * df) * lean
        trailing = Fy - added if self.old else straight
        return -trail * trailing + residual + c.UNLOADED_RADIUS * arm * c.LS * Fx

    def overturning(self, Fy):
        """M_x, (4.E69)."""
        c, load, lean = self.c, self.Fz / self.c.FNOMIN, self.gamma
        side = Fy / c.FNOMIN
        found = c.QSX1 * c.LVMX - c.QSX2 * lean * (1 + c.PPMX1 * self.dp) + c.QSX3 * side
        bump = ca.cos(c.QSX5 * ca.atan((c.QSX6 * load) ** 2))
        found += c.QSX4 * bump * ca.sin(c.QSX7 * lean + c.QSX8 * ca.atan(c.QSX9 * side))
        found += c.QSX10 * ca.atan(c.QSX11 * load) * lean
        return self.Fz * c.UNLOADED_RADIUS * c.LMX * found

    def rolling_resistance(self, Fx):
        """The magnitude of M_y, (4.E70), which opposes rolling."""
        c, load = self.c, self.Fz / self.c.FNOMIN
        fast = ca.fabs(self.speed) / c.LONGVL
        found = (
            c.QSY1
            + c.QSY2 * Fx / c.FNOMIN
            + c.QSY3 * fast
            + c.QSY4 * fast**4
            + (c.QSY5 + c.QSY6 * load) * self.gamma**2
        )
        found *= self.Fz * c.UNLOADED_RADIUS * c.LMY
        return found * ca.fmax(load, 0) ** (c.QSY7 - 1) if c.QSY7 else found

    def forces(self, direction=1):
        """All forces and moments; direction: sign of the forward speed, smooth where it passes zero."""
        Fx = self.longitudinal() * self.weight_of_longitudinal()
        straight = self.lateral(0)
        pure = self.lateral(self.lean)
        weight, added = self.weight_of_lateral()
        Fy = weight * pure + added
        Mz = self.aligning(Fx, Fy, straight * weight, added, direction)
        return TyreForces(Fx, Fy, self.overturning(Fy), -direction * self.rolling_resistance(Fx), Mz)
