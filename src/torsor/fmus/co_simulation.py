"""An FMU for co-simulation while a run goes on: it is asked at communication points t₀ < t₁ < …

    torsor first: it integrates from tₖ to tₖ₊₁ with outputs that are extrapolated by a polynomial through the last values,

        y(t) = yₖ + y[tₖ, tₖ₋₁] (t − tₖ) + y[tₖ, tₖ₋₁, tₖ₋₂] (t − tₖ)(t − tₖ₋₁)                       (1)

    then the FMU: with inputs that are known at both ends, interpolated where it can, else their mean                 (2)

The square brackets are divided differences. With order m of (1) the coupled motion has an error of order min(m + 1, 2) in the
communication step. The coupling is sequential (Gauss-Seidel).
"""

import pickle
from typing import Any

import numpy as np

from .fmi_calls import DISCARD, WARNING, FmuFailure
from .fmu_settings import Settings
from .watched_call import Caller

HALVINGS = 20  # of a step that the FMU discards
SAME_TIME = 1e-9  # of a step


class Slave:
    """A running instance. A new one is started at the first communication point."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.instance: Any = None  # an `Instance`, once it has begun
        self.time, self.ended = 0.0, False
        self.given = np.zeros(len(settings.inputs))
        self.past: list[tuple[float, np.ndarray]] = []  # the last outputs, the newest first
        self._prepare()

    def _prepare(self):
        s = self.settings
        self.inputs, self.outputs = s.group(s.inputs), s.group(s.outputs)
        variables = self.inputs.variables
        self.smooth = np.array([v.continuous and v.code in "df" for v in variables], bool)
        self.held = np.array([not (v.continuous and v.code in "df") for v in self.outputs.variables], bool)
        self.reals = [k for k, v in enumerate(variables) if v.code == "d" and v.continuous]
        self.caller: Caller | None = None

    def _watched(self, function, *given):
        if self.caller is None:
            self.caller = Caller(self.settings.owner, self.settings.timeout)
        try:
            return self.caller(function, *given)
        except FmuFailure:
            if self.caller.stuck and self.instance is not None:
                self.instance.fatal = True
                self.instance.free()  # without a call
            raise

    # ---- communication points

    def advance(self, t: float, inputs: np.ndarray) -> np.ndarray:
        """Go on to a communication point, and return the coefficients of (1): one row for each power, then t and tₖ₋₁."""
        if self.instance is None:
            outputs = self._watched(self._begin, t, inputs)
        elif t > self.time:
            outputs = self._watched(self._step, t, inputs)
        else:
            outputs = self._watched(self._exchange, inputs)
        if not np.isfinite(outputs).all():
            bad = self.settings.outputs[int(np.flatnonzero(~np.isfinite(outputs))[0])]
            raise FmuFailure(f"{self.settings.owner}: output {bad!r} of the FMU is {outputs[~np.isfinite(outputs)][0]}")
        self.past = [x for x in self.past if x[0] < t][: self.settings.extrapolation]
        self.past.insert(0, (t, outputs))
        return self._coefficients()

    def _begin(self, t, inputs):
        instance = self.settings.start(t, inputs)
        instance.call("ExitInitializationMode")
        self.instance, self.time, self.given = instance, t, inputs.copy()
        return instance.read(self.outputs)

    def _step(self, t, inputs):
        start, slope = self._inputs_of_step(t, inputs)
        if len(start):
            self.instance.write(self.inputs, start)
        if self.reals and self.settings.fmu.version == 2 and self.settings.facts.canInterpolateInputs:
            self._write_slopes(slope)
        self._march(t)
        return self._exchange(inputs)

    def _inputs_of_step(self, t, inputs):
        """What is set at the beginning of a step, and the slopes, equation (2)."""
        slope = np.where(self.smooth, (inputs - self.given) / (t - self.time), 0.0)
        if self.settings.fmu.version == 2 and self.settings.facts.canInterpolateInputs:
            exact = np.isin(np.arange(len(inputs)), self.reals)
        else:
            exact = np.zeros(len(inputs), bool)
        return np.where(exact | ~self.smooth, self.given, (self.given + inputs) / 2), slope

    def _write_slopes(self, slope):
        references = np.array([self.inputs.variables[k].reference for k in self.reals], np.uint32)
        orders, values = np.ones(len(references), np.int32), slope[self.reals] / self.inputs.factor[self.reals]
        self.instance.call(
            "SetRealInputDerivatives", references.ctypes.data, len(references), orders.ctypes.data, values.ctypes.data
        )

    def _exchange(self, inputs):
        """Outputs at a communication point, with the inputs there, which some outputs depend on directly."""
        self.given = inputs.copy()
        if len(inputs):
            self.instance.write(self.inputs, inputs)
        return self.instance.read(self.outputs)

    def _march(self, goal):
        """Go to a time. What the FMU discards is tried again in halves: from the time that it reached, or, where it can be
        set back, from where the step began."""
        h, halvings = goal - self.time, 0
        least = SAME_TIME * h
        while goal - self.time > least:
            h = min(h, goal - self.time)
            kept = self.instance.get_state() if self._rolls_back() else None
            try:
                status, reached, ended = self.instance.do_step(self.time, h, kept is None)
                self.ended = self.ended or ended
                if status > DISCARD or (status > WARNING and halvings == HALVINGS):
                    self.instance.fail("DoStep", status)
                if status <= WARNING:
                    if reached <= self.time:
                        raise FmuFailure(f"{self.settings.owner}: the FMU does not go on after t = {self.time:g} s")
                    self.time = goal if abs(reached - goal) <= least else reached
                    continue
                if not self.settings.facts.canHandleVariableCommunicationStepSize:
                    self.instance.fail("DoStep", status)
                if kept is not None:
                    self.instance.set_state(kept)
                else:
                    self.time = max(self.time, reached)
                h, halvings = h / 2, halvings + 1
            finally:
                if kept is not None and not self.instance.fatal:
                    self.instance.free_state(kept)
        self.time = goal

    def _rolls_back(self):
        facts = self.settings.facts
        return (
            facts.canGetAndSetFMUstate
            and facts.canHandleVariableCommunicationStepSize
            and self.settings.fmu.version == 2
        )

    def _coefficients(self):
        """Rows of (1) for each output, as far as there are values; then tₖ and tₖ₋₁."""
        order, count = self.settings.extrapolation, len(self.outputs.variables)
        rows = np.zeros((order + 1, count))
        times, values = [t for t, _ in self.past], [y for _, y in self.past]
        rows[0] = values[0]
        if len(values) > 1:
            first = (values[0] - values[1]) / (times[0] - times[1])
            rows[1] = first
            if len(values) > 2:
                second = (values[1] - values[2]) / (times[1] - times[2])
                rows[2] = (first - second) / (times[0] - times[2])
        rows[1:, self.held] = 0.0
        before = times[1] if len(times) > 1 else times[0]
        return np.concatenate([rows.ravel(), [times[0], before, float(self.ended)]])

    # ---- states that are saved

    def __getstate__(self):
        if self.instance is None:
            content = None
        elif not self.settings.facts.canSerializeFMUstate:
            raise pickle.PicklingError(f"{self.settings.path} cannot save its state (canSerializeFMUstate)")
        else:
            content = self._watched(self.instance.state_bytes)
        return {"settings": self.settings, "content": content, "time": self.time, "given": self.given, "past": self.past,
            "ended": self.ended}  # fmt: skip

    def __setstate__(self, data: dict[str, Any]):
        self.__init__(data["settings"])  # type: ignore[misc]
        self.time, self.given, self.past, self.ended = (data[name] for name in ("time", "given", "past", "ended"))
        if data["content"] is not None:
            self._watched(self._revive, data["content"])

    def _revive(self, content):
        instance = self.settings.start(self.past[-1][0] if self.past else self.time, self.given)
        instance.call("ExitInitializationMode")
        state = instance.state_of_bytes(content)
        instance.set_state(state)
        instance.free_state(state)
        self.instance = instance
