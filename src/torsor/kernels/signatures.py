"""The kernels of a run: what each of them takes and gives. Records, calls and tests derive from this table alone.

t       time
x, y    states: configuration, velocities or momenta in units of speed, work, and the states of the user
p       parameters, memories of events, and counted turns; after: others in their place
u, e    elements of the algebra at a state: steps and errors, as long as ẋ
k       ẋ as a stage of a method sums it up, dexp⁻¹(u) ẋ; of `tangent`, an error of configuration and velocities as it is judged
F       factors of the equations at a configuration, last how well they are conditioned
lam     multipliers of the rows in use, and implicit efforts
g, psi  residuals of these rows at position and velocity level, last the length of the vector in units of the rows
gains   α and β of Baumgarte, and those of rows that stop rotations alone
slope   ∂k/∂u of a stage: a sparse matrix, its entries column by column. What pushes one direction e alone, to ∂k/∂u · e, reads none
        of them: it holds their addresses
h       length of a step
d, dd   unknowns of a step, mean velocities and impulses of the rows in use, or accelerations, states of the user and multipliers; a
        correction of them
L       factors of the equations of such a step
m       momenta that it leaves with
known   numbers with which the equations that a method defines for its steps are set up
way     of the configuration, over the length of the step
a       accelerations
b       velocities (or momenta) that it ends with
state_slope  ∂ż/∂z of the user's states, column by column
"""

from dataclasses import dataclass

SPARSE = ("slope",)  # all others are dense vectors


@dataclass(frozen=True)
class Signature:
    """Names of the arguments and results of a kernel, each a vector."""

    name: str
    takes: tuple
    gives: tuple

    @classmethod
    def of(cls, text):
        name, takes, gives = (part.strip() for part in text.replace("→", ":").split(":"))
        return cls(name, tuple(takes.split()), tuple(gives.split()))

    def refuse_others(self, f, sizes):
        """Note the sizes of a CasADi function's vectors; a TypeError where one is sparse, or differs in size from another function.

        sizes   of vectors by name, as far as they are known; others are added
        """
        vectors = [(n, f.sparsity_in(k)) for k, n in enumerate(self.takes)]
        vectors += [(n, f.sparsity_out(k)) for k, n in enumerate(self.gives)]
        counts = (f.n_in(), f.n_out())
        if counts != (len(self.takes), len(self.gives)):
            raise TypeError(f"kernel {self.name!r} takes and gives {counts} vectors, it must be {self}")
        for vector, sparsity in vectors:
            if vector not in SPARSE and not sparsity.is_dense():
                raise TypeError(f"kernel {self.name!r}: {vector} is sparse, it must be dense")
            if sizes.setdefault(vector, sparsity.nnz()) != sparsity.nnz():
                raise TypeError(f"kernel {self.name!r}: {vector} has {sparsity.nnz()} numbers, not {sizes[vector]}")

    def __str__(self):
        return f"{self.name}: {' '.join(self.takes)} → {' '.join(self.gives)}"


SIGNATURES = {
    signature.name: signature
    for signature in map(
        Signature.of,
        (
            "factor:       t x p → F",
            "rate:         t x p F gains → xdot lam",
            "stage:        t x u p → k",
            "retract:      x u → y",
            "advance:      x u → y",
            "differential: u xdot → k",
            "positions:    t x p F → y g",
            "velocities:   t x p F → y psi",
            "tangent:      t x p F e → k",
            "local:        x y → u",
            "slope:        t x u p → slope",
            "push:         t x u p e slope → k",
            "leap_factor:  t h x p lam d → L",
            "leap:         t h x p lam d L → dd",
            "leaving:      t h x p lam d → m",
            "landing:      t h x y p lam d m → b",
            "landing_slope: t h x y p lam d m → state_slope",
            "newton_factor: t h x p lam known d → L",
            "newton_step:  t h x p lam known d L → dd way",
            "newton_way:   t h x p lam known d → way",
            "acceleration: t x p xdot → a",
            "turns:        t x p → turn",
            "spin:         t x p → spin",
            "outputs:      t x p xdot lam → row",
            "guards:       t x p xdot lam → phi",
            "slots:        t x p xdot lam → slot",
            "energies:     t x p → energy",
            "impulse:      t x p F r → dv impulse",
            "meeting:      t x p → A B before",
            "stored:       t x p → y",
            "shown:        t x p → y",
            "renewed:      t x p after → y",
        ),
    )
}


def check_sizes(functions):
    """Functions by name, as their signatures ask for them; an error where vectors of one name differ in size."""
    sizes: dict[str, int] = {}
    for name, f in functions.items():
        SIGNATURES[name].refuse_others(f, sizes)
    return functions
