"""Forces: one registered class each."""

from .base import Force
from .friction import Breakable, Clutch, DryFriction, Friction
from .laws import CosineTorque, EnergyForce, Gravity, JointForce, PointForce, SpringDamper, Torque, TorsionSpring

__all__ = [
    "Breakable", "Clutch", "CosineTorque", "DryFriction", "EnergyForce", "Force", "Friction", "Gravity", "JointForce",
    "PointForce", "SpringDamper", "Torque", "TorsionSpring",
]  # fmt: skip
