"""Forces: one registered class each."""

from .base import Force
from .laws import CosineTorque, EnergyForce, Gravity, JointForce, PointForce, SpringDamper, Torque, TorsionSpring

__all__ = [
    "CosineTorque", "EnergyForce", "Force", "Gravity", "JointForce", "PointForce", "SpringDamper", "Torque",
    "TorsionSpring",
]  # fmt: skip
