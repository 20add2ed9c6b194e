"""FMUs of other tools as elements of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.element import ANYTHING, MOTION, REQUIRED, Rule, Statement, fill_in
from ..elements.quantity import Number
from ..errors import ModelError
from ..registry import register
from .fmu_coupling import Coupled, Exchanged
from .fmu_file import CO_SIMULATION, FmuFile, open_fmu
from .fmu_settings import Settings

MOST_EXTRAPOLATION = 2
OF_COUPLING = frozenset(
    "form signals answers states counts samples initial function held take_apart instant remembers saved_state".split()
) | {"restore_state"}


@register("fmu")
@dataclass(frozen=True, eq=False)
class FMU(Rule):
    """A Functional Mock-up Unit of another tool (FMI 2.0 or 3.0): its inputs are signals, and its outputs are signals for forces,
    drives, states, events and controllers.

        co-simulation:    y(t) from the last outputs yₖ, tₖ = k `step`; then the FMU does its own step                (1)
        model exchange:   ẋ = f(t, x, u), y = h(t, x, u) are equations of the run, and x are states of it             (2)

    file       path of the FMU
    inputs     signals, or their names, by the names of the FMU's inputs; the others keep their start values
    outputs    names of those that are taken; default: all that are numbers
    parameters   numbers, texts or True and False by name
    interface  'co-simulation' or 'model exchange'; default: what the FMU has, co-simulation where it has both
    step       co-simulation: between communication points; model exchange: interval at which a step is reported to an FMU that
               needs this; default: what the FMU says, else 0.01 [s]
    extrapolation   order of the polynomial through the last outputs, for continuous outputs of co-simulation: 0, 1 or 2
    timeout    seconds on the clock after which a call counts as one that never ends

    `fmu["name"]` is an output as a signal. All values are in SI units, whatever the units of the FMU are. Continuous states of
    model exchange are `fmu.state("name")`; its events are located as all others are. [fmi2024].
    """

    drawing = "none"
    not_drawn = "a rule without a place"
    armable = False
    texts = ("file", "outputs", "interface")
    files = ("file",)
    unsaved = "an FMU is a file of its own; save the model as a model file (ts.save_model), which names it"
    variants: ClassVar[tuple[Any, ...]] = ()  # an example needs a file with a binary for this machine
    settings: ClassVar[Settings]
    coupling: ClassVar[Any]

    file: str = REQUIRED
    inputs: Any = field(default_factory=dict)
    outputs: Any = None
    parameters: Any = field(default_factory=dict)
    interface: str | None = None
    step: Number | None = None
    extrapolation: int = 1
    timeout: float = 60.0

    def __post_init__(self):
        fmu = open_fmu(self.file, self.owner)
        interface = self._interface(fmu)
        given = {} if self.inputs is None else self.inputs
        if not isinstance(given, Mapping):
            raise ModelError(f"{self.owner}: inputs must be signals by name, got {quantity.show(self.inputs)}")
        names = self._chosen(fmu, "input", list(given))
        outputs = self._chosen(fmu, "output", self._outputs(fmu))
        settings = Settings(
            self.owner, fmu.path, fmu.digest, interface, self._parameters(fmu), tuple(names), tuple(outputs),
            self._positive("timeout", self.timeout), self._order(), self.name,
        )  # fmt: skip
        if settings.facts.needsExecutionTool:
            raise ModelError(f"{self.owner}: {fmu.path} needs the tool that wrote it (needsExecutionTool)")
        fmu.library(interface, self.owner)
        kind = Coupled if interface == CO_SIMULATION else Exchanged
        fill_in(
            self, file=fmu.path, inputs=dict(given), outputs=list(outputs), interface=interface, settings=settings,
            step=self._step(settings), coupling=kind(self.name, settings),
        )  # fmt: skip

    # ---- arguments

    def _interface(self, fmu: FmuFile) -> str:
        known = [name for name, facts in fmu.interfaces.items() if facts is not None]
        if self.interface is None and known:
            return known[0]
        if self.interface not in known:
            has = " and ".join(map(repr, known)) or "neither co-simulation nor model exchange"
            raise ModelError(f"{self.owner}: interface: {fmu.path} has {has}, got {quantity.show(self.interface)}")
        return str(self.interface)

    def _outputs(self, fmu):
        if self.outputs is None:
            return fmu.names("output")
        found = [self.outputs] if isinstance(self.outputs, str) else self.outputs
        if not isinstance(found, (list, tuple)):
            raise ModelError(f"{self.owner}: outputs must be names, got {quantity.show(self.outputs)}")
        return list(found)

    def _chosen(self, fmu, causality, names):
        """Names of inputs or outputs, checked; outputs may also be parameters and local variables."""
        for name in names:
            variable = fmu.variables.get(name) if isinstance(name, str) else None
            if variable is None or (variable.causality == "input") != (causality == "input"):
                raise self._unknown(causality, name, fmu.names(causality))
            if not variable.access or variable.is_array:
                what = "an array" if variable.is_array else f"of type {variable.type}"
                raise ModelError(f"{self.owner}: {causality} {name!r} is {what}; only single numbers are exchanged")
        if len(set(names)) < len(names):
            raise ModelError(f"{self.owner}: {causality}s: a name is given twice: {', '.join(names)}")
        return names

    def _unknown(self, what, name, known):
        close = get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return ModelError(
            f"{self.owner}: {what} {quantity.show(name)} is none of the FMU.{hint} Known: {', '.join(known) or 'none'}."
        )

    def _parameters(self, fmu):
        given = {} if self.parameters is None else self.parameters
        if not isinstance(given, Mapping):
            raise ModelError(f"{self.owner}: parameters must be numbers by name, got {quantity.show(self.parameters)}")
        return tuple((name, self._parameter(fmu, name, value)) for name, value in given.items())

    def _parameter(self, fmu, name, value):
        """The value of a parameter: a number or a text."""
        variable = fmu.variables.get(name)
        if variable is None or variable.causality in ("output", "independent", "calculatedParameter"):
            raise self._unknown(
                "parameter", name, [v.name for v in fmu.variables.values() if v.causality == "parameter"]
            )
        if variable.is_array or variable.type in ("Binary", "Clock"):
            raise ModelError(
                f"{self.owner}: parameter {name!r} is an array or of type {variable.type}; it cannot be set"
            )
        if variable.type == "String":
            if not isinstance(value, str):
                raise ModelError(f"{self.owner}: parameter {name!r} must be a text, got {quantity.show(value)}")
            return value
        number = float(value) if isinstance(value, (bool, np.bool_)) else quantity.number(value)
        if number is None or not np.isfinite(number):
            raise ModelError(f"{self.owner}: parameter {name!r} must be a number, got {quantity.show(value)}")
        return number

    def _positive(self, what, given):
        found = quantity.number(given)
        if found is None or not quantity.SMALLEST <= found <= quantity.LARGEST:
            raise ModelError(f"{self.owner}: {what} must be a positive number of seconds, got {quantity.show(given)}")
        return found

    def _order(self):
        if self.extrapolation not in range(MOST_EXTRAPOLATION + 1):
            raise ModelError(f"{self.owner}: extrapolation must be 0, 1 or 2, got {quantity.show(self.extrapolation)}")
        return int(self.extrapolation)

    def _step(self, settings):
        if self.step is not None:
            return self._positive("step", self.step)
        experiment = settings.fmu.description.defaultExperiment
        said = [getattr(settings.facts, "fixedInternalStepSize", None), experiment.stepSize if experiment else None]
        return next((float(x) for x in said if settings.interface == CO_SIMULATION and x and float(x) > 0), 0.01)

    # ---- signals

    def __getitem__(self, name: str) -> ca.SX:
        """Signal: an output."""
        if self._home is None:
            raise ModelError(
                f"{self.owner}: its outputs are signals once it is added to a model: fmu = model.add(ts.FMU(…))"
            )
        if name not in self.settings.outputs:
            known = ", ".join(self.settings.outputs) or "none"
            raise ModelError(
                f"{self.owner} has no output {quantity.show(name)} among those that are taken. Known: {known}."
            )
        return self._linked().signals[name]

    def state(self, name: str) -> ca.SX:
        """Signal: a continuous state of model exchange."""
        known = self.coupling.state_signals
        if name not in known:
            raise ModelError(f"{self.owner} has no state {quantity.show(name)}. Known: {', '.join(known) or 'none'}.")
        return known[name]

    def output_name(self, k: int) -> str:
        """The name of the output that is result k of the equations of model exchange."""
        return self.settings.outputs[k - self.coupling.equations.states]

    def _linked(self):
        """The coupling, with the inputs as they are in this model."""
        self.coupling.connect([self.inputs[name] for name in self.settings.inputs], self.step)
        return self.coupling

    # ---- as an element

    def attach(self) -> Self:
        """Replace names of signals by the signals."""
        signals = self._home.signals
        found = {}
        for name, given in self.inputs.items():
            if isinstance(given, str):
                if given not in signals:
                    raise ModelError(
                        f"{self.owner}: input {name!r}: unknown signal {given!r}. Known: {', '.join(signals) or 'none'}."
                    )
                given = signals[given]
            found[name] = quantity.scalar(given, f"input {name!r}", self.owner)
        return fill_in(self, inputs=found)

    def statements(self) -> list[Statement]:
        allowed = ANYTHING if self.interface == CO_SIMULATION else (*MOTION, "state")
        return [Statement("inputs", ca.vertcat(ca.SX(0, 1), *self.inputs.values()), allowed)]

    def memories(self) -> list[Any]:
        return self.coupling.memories()

    def rates(self, acts: ca.SX) -> list[tuple[Any, ca.SX]]:
        return self._linked().rates()

    def recorded_signals(self) -> dict[str, ca.SX]:
        found = {f"{self.name}.{name}": x for name, x in self._linked().signals.items()}
        return {f"{self.name}.{name}": x for name, x in self.coupling.state_signals.items()} | found

    def events(self) -> list[Any]:
        return self._linked().events(self)

    # ---- as one whose function is called in the middle of a run, see `run/events/python_controllers.py`

    def __getattr__(self, what: str) -> Any:
        if "coupling" in vars(self) and what in OF_COUPLING:
            return getattr(self._linked(), "inputs" if what == "signals" else what)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {what!r}")


def refuse_fmus(model: Any, caller: str) -> None:
    """Refuse a model whose equations another program evaluates, where they are to become code."""
    for rule in model.rules:
        if isinstance(rule, FMU):
            raise ModelError(
                f"{caller}: {rule.owner} is a program of its own, which cannot be part of the code: leave it out, and make its "
                "outputs inputs of the model"
            )
