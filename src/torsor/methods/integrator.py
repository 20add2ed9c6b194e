"""What a method of integration is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ..lie import MAPS
from ..registry import lookup, parse_key, registered
from ..source_files import class_digest

OWN_EQUATIONS = "equations of "  # beginning of the entry of `required` that names a method with equations of its own
OWN_KERNELS = ("newton_factor", "newton_step", "newton_way")  # kernels of such equations
EXPLICIT_STEP = ("torsor.methods.explicit_step", "explicit")  # the step of all explicit Runge–Kutta methods


class Integrator(ABC):
    """One method: a compiled step, called by its address, with tables.

    order     of its error: what is left of it falls as hᵖ
    estimated power of h with which its estimate of that falls, where it is another: the length of a step follows from it
    loop      module and name of its step (`kernels.loops`): from the present state by h, see `methods/explicit_step.py`. It leaves
              the new state in the next place of xs, the way to it in u, an estimate of its error in e, ẋ at the start in
              K[0] and near the end in the last row of K, and returns ACCEPTED, or NOT_SOLVED where a shorter step may help
    history   rows that it keeps of earlier steps; a jump forgets them
    needs     kernels beyond those of every run: "local", "slope", "leap" …; those of its own equations are required besides
    meets     whether a step ends on the constraints by itself, so that no projection follows it
    maps      from the algebra to the group with which it keeps its order
    reversible  maps with which a step back leads to where it began
    symplectic  whether a step keeps the canonical form, and with it the momenta of symmetries, where forces have a potential

    What a method claims is proved by tests of every one that claims it, of steps as they are before any projection.

    A method with options is a dataclass, its fields are the options; where tables do not depend on any, they are of the class.
    """

    kind = "integrator"
    key: str
    order: int
    estimated: int | None = None
    loop: tuple
    history = 0
    needs: ClassVar[tuple] = ()
    meets = False
    reversible: tuple = ()
    symplectic = False
    maps: tuple = MAPS

    @abstractmethod
    def tables(self):
        """`stages`, and what else of the record `Method` the step reads, as arrays; `numbers`: a record of its own numbers, which
        the step finds by its address, `run.method.numbers`."""

    @classmethod
    def equations(cls, f: Any, map: str, states: Sequence[int], rates: Any) -> dict[str, Any]:
        """The equations that it defines for a step: CasADi functions of a formulation's vectors, which become kernels.

        The names of their arguments say what they take: t, h, q, v, p, efforts, `known`, numbers that the step sets up, and
        d, its unknowns.

        newton_factor   … known, d → L              factors of Newton's equations
        newton_step     … known, d, L → Δd, ΔΔ      a step of Newton's method, and the change of the way
        newton_way      … known, d → Δ              the way of the configuration, over the length of the step

        states   indices of the user's states in p
        rates    their rates as a function (t, q, v, p, a, λ)
        """
        raise NotImplementedError

    @classmethod
    def required_kernels(cls) -> tuple[str, ...]:
        """`needs`, and for equations of its own the names of their kernels, and what identifies them."""
        owners = [base for base in cls.__mro__ if "equations" in vars(base)]
        if owners[0] is Integrator:
            return cls.needs
        digests = " ".join(class_digest(base) for base in (cls, *owners[:-1]))
        return (*OWN_KERNELS, *cls.needs, f"{OWN_EQUATIONS}{cls.key} {digests}")


def keys_with_equations(needs):
    """Keys of the methods whose own equations are required."""
    return [name.removeprefix(OWN_EQUATIONS).split()[0] for name in needs if name.startswith(OWN_EQUATIONS)]


def integrator_of(method, also=()):
    """The method of a key, or of a key with options, as in "generalized-alpha:rho=0.9"; also: further words that are allowed."""
    if not isinstance(method, str):
        return lookup("integrator", method, also)
    cls, options = parse_key("integrator", method, also)
    return cls(**options)


def modules():
    """Modules with the compiled steps of all methods, projections and actions of the package."""
    found = {cls.loop[0] for cls in registered("integrator").values()}
    found |= {cls.stages[0] for cls in registered("projection").values() if cls.stages is not None}
    found |= {cls.loop[0] for cls in registered("action").values() if cls.loop is not None}
    return sorted(module for module in found if module.startswith("torsor."))
