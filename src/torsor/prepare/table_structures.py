"""The structure of a run through tables: one set of kernels, which read from p which constraints events have engaged.

Every constraint that events switch has rows in all kernels; see (5) of `formulations/tables/join_classes.py`. A change of structure
therefore derives and compiles nothing.
"""

from ..errors import RunError
from .event_lowering import lower_events
from .structures import NOWHERE, Structure


class TableStructures:
    """The structures of one run through tables, with the interface of `Structures`.

    derivation   gives the model
    known        one structure, which serves all others
    used         no rows are chosen again during a run
    """

    only = True

    def __init__(self, derivation, system, built):
        self.derivation = derivation
        self.program = lower_events(derivation.model, [label for label, _ in system.rows])
        self.bits = self.program.tables["bits"]
        self.first = self.key_of(system.p)
        self.begin(system, built)

    def begin(self, system, built):
        """Begin a run."""
        self.used: set = set()
        self.system = system
        self.known = [Structure((NOWHERE,) * len(self.bits), built, system.choice, 0.0, system.scales)]

    def restart(self, system, built=None):
        """Begin another run. Returns the kernels."""
        self.begin(system, self.known[0].built if built is None else built)
        return self.known[0].built

    def key_of(self, p):
        """Key of the structure: the values in p that say which constraints are engaged."""
        return tuple(float(p[k]) for k in self.bits)

    def is_known(self, key):
        """True: kernels exist for every structure."""
        return True

    def want(self, key, t, q, v, p, dependent=False):
        """The structure that serves this key."""
        return self.known[0]

    def contact_library(self, structure):
        """Refuse to decide all contacts together: the effect of an impulse at each on all others has no class kernels."""
        model = self.derivation.model
        raise RunError(
            f"model {model.name!r}: its contacts and dry friction cannot be decided one after the other at an instant, and class "
            "kernels do not decide them together; take formulation='relative' or 'absolute', which derive the whole model",
            None,
        )

    def restore(self, facts):
        """Restore the structures of a checkpoint: there is but one."""
