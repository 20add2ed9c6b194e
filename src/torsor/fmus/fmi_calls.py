"""Calls into the binary of an FMU by ctypes: FMI 2 and FMI 3 with one set of methods.

Signatures are words of one letter for each argument:   p pointer, s text, d double, i int, b bool, z size.
"""

import ctypes
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TorsorError
from .fmu_file import CO_SIMULATION, FmuFile, Variable

OK, WARNING, DISCARD, ERROR, FATAL = range(5)
STATUS_NAMES = ("OK", "warning", "discard", "error", "fatal error", "pending")
TYPES = {
    "p": ctypes.c_void_p, "s": ctypes.c_char_p, "d": ctypes.c_double, "i": ctypes.c_int, "b": ctypes.c_bool,
    "z": ctypes.c_size_t,
}  # fmt: skip
COMMON = {"ExitInitializationMode": "p", "Terminate": "p", "EnterEventMode": "p", "EnterContinuousTimeMode": "p",
    "SetTime": "pd", "SetContinuousStates": "ppz", "GetContinuousStates": "ppz", "GetEventIndicators": "ppz"}  # fmt: skip
SIGNATURES: dict[int, dict[str, str]] = {
    2: COMMON | {"SetupExperiment": "piddid", "EnterInitializationMode": "p", "GetFMUstate": "pp",
        "SetFMUstate": "pp", "FreeFMUstate": "pp", "SerializedFMUstateSize": "ppp", "SerializeFMUstate": "pppz",
        "DeSerializeFMUstate": "ppzp", "NewDiscreteStates": "pp", "CompletedIntegratorStep": "pipp",
        "GetDerivatives": "ppz", "DoStep": "pddi", "SetRealInputDerivatives": "ppzpp", "GetRealStatus": "pip",
        "GetDirectionalDerivative": "ppzpzpp"},
    3: COMMON | {"EnterInitializationMode": "pbddbd", "GetFMUState": "pp", "SetFMUState": "pp", "FreeFMUState": "pp",
        "SerializedFMUStateSize": "ppp", "SerializeFMUState": "pppz", "DeserializeFMUState": "ppzp",
        "UpdateDiscreteStates": "ppppppp", "CompletedIntegratorStep": "pbpp", "GetContinuousStateDerivatives": "ppz",
        "DoStep": "pddbpppp", "GetNumberOfEventIndicators": "pp", "GetDirectionalDerivative": "ppzpzpzpz"},
}  # fmt: skip
NAMES_2 = {"GetFMUState": "GetFMUstate", "SetFMUState": "SetFMUstate", "FreeFMUState": "FreeFMUstate",
    "SerializedFMUStateSize": "SerializedFMUstateSize", "SerializeFMUState": "SerializeFMUstate",
    "DeserializeFMUState": "DeSerializeFMUstate", "GetContinuousStateDerivatives": "GetDerivatives"}  # fmt: skip
LAST_SUCCESSFUL_TIME = 2
LOGGED = 5  # messages of the FMU that are kept


class FmuFailure(TorsorError):
    """A call into an FMU failed."""

    def __init__(self, text: str, status: int = ERROR):
        super().__init__(text)
        self.status = status


class _Callbacks2(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("logger", "allocate", "free", "step_finished", "environment")]


class _EventInfo2(ctypes.Structure):
    """fmi2EventInfo."""

    _fields_ = [
        *[(name, ctypes.c_int) for name in ("needed", "terminate", "nominals", "states", "timed")],
        ("time", ctypes.c_double),
    ]


LOGGER_2 = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p])
LOGGER_3 = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class Group:
    """Variables that are read or written together: one call for each type.

    parts   names of the functions, places in the group, address of the references, their number, values and their address
    plain   the values of the FMU are those of the group: all are doubles in SI units
    """

    def __init__(self, variables: list[Variable]):
        self.variables = variables
        self.factor = np.array([v.factor for v in variables])
        self.offset = np.array([v.offset for v in variables])
        kinds: dict[tuple[str, str], list[int]] = {}
        for k, v in enumerate(variables):
            kinds.setdefault((v.access, v.code), []).append(k)
        self.parts = []
        self._kept = []
        for (access, code), places in kinds.items():
            references = np.array([variables[k].reference for k in places], np.uint32)
            values = np.zeros(len(places), np.dtype(code))
            self._kept.append(references)
            where = references.ctypes.data, len(places), values, values.ctypes.data
            self.parts.append((f"Get{access}", f"Set{access}", np.array(places), *where))
        self.plain = [code for _, code in kinds] == ["d"] and bool(np.all(self.factor == 1) and not self.offset.any())


class Instance:
    """An instance of an FMU."""

    def __init__(self, fmu: FmuFile, interface: str, name: str, owner: str):
        self.fmu, self.owner, self.version, self.log = fmu, owner, fmu.version, list[str]()
        self.component: Any = None
        self.fatal, self.cause = False, ""
        library = fmu.library(interface, owner)
        try:
            self.dll = ctypes.CDLL(str(library))
        except OSError as error:
            raise FmuFailure(f"{owner}: the binary of {fmu.path} cannot be loaded: {error}") from None
        self._functions: dict[str, Any] = {}
        make = self._instantiate_2 if self.version == 2 else self._instantiate_3
        self.component = make(interface, name, library.parent.parent.parent / "resources")
        if not self.component:
            raise FmuFailure(f"{owner}: {fmu.path} could not be instantiated{self._logged()}")
        self._finalizer = weakref.finalize(self, _free, self._function("FreeInstance", "p", None), self.component)

    # ---- calls

    def _function(self, name, signature, restype=ctypes.c_int):
        full = f"fmi{self.version}{name}"
        try:
            found = getattr(self.dll, full)
        except AttributeError:
            raise FmuFailure(f"{self.owner}: the binary of {self.fmu.path} has no function {full}") from None
        found.argtypes, found.restype = [TYPES[c] for c in signature], restype
        return found

    def raw(self, name: str, *given: Any) -> int:
        """Call a function of FMI on this instance, and return its status."""
        if self.fatal:
            raise FmuFailure(self.cause or f"{self.owner}: {self.fmu.path} cannot be used after a fatal error", FATAL)
        name = NAMES_2.get(name, name) if self.version == 2 else name
        if (function := self._functions.get(name)) is None:
            signature = SIGNATURES[self.version].get(name) or ("ppzp" if self.version == 2 else "ppzpz")  # GetFloat64 …
            function = self._functions[name] = self._function(name, signature)
        status = function(self.component, *given)
        self.fatal = self.fatal or status == FATAL
        return status

    def call(self, name: str, *given: Any) -> None:
        """Call a function of FMI; any status but OK and a warning is an error."""
        if (status := self.raw(name, *given)) > WARNING:
            self.fail(name, status)

    def fail(self, name: str, status: int) -> None:
        word = STATUS_NAMES[status] if 0 <= status < len(STATUS_NAMES) else f"status {status}"
        function = f"fmi{self.version}{NAMES_2.get(name, name) if self.version == 2 else name}"
        self.cause = f"{self.owner}: {function} of {self.fmu.path} returned {word}{self._logged()}"
        raise FmuFailure(self.cause, status)

    def _logged(self):
        return f": {'; '.join(self.log)}" if self.log else ""

    # ---- life

    def _instantiate_2(self, interface, name, resources):
        def note(environment, instance, status, category, message):
            if status > WARNING:
                self.log[:] = [*self.log, (message or b"").decode(errors="replace")][-LOGGED:]

        callbacks = _Callbacks2()
        self._kept: Any = LOGGER_2(note), callbacks  # as long as the FMU may call them
        callbacks.logger = ctypes.cast(self._kept[0], ctypes.c_void_p)
        library = _c_library()
        callbacks.allocate = ctypes.cast(library.calloc, ctypes.c_void_p)
        callbacks.free = ctypes.cast(library.free, ctypes.c_void_p)
        make = self._function("Instantiate", "sisspii", ctypes.c_void_p)
        where = Path(resources).as_uri().encode()
        kind = 1 if interface == CO_SIMULATION else 0
        return make(name.encode(), kind, self.fmu.token.encode(), where, ctypes.addressof(callbacks), 0, 1)

    def _instantiate_3(self, interface, name, resources):
        def note(environment, status, category, message):
            if status > WARNING:
                self.log[:] = [*self.log, (message or b"").decode(errors="replace")][-LOGGED:]

        self._kept = (LOGGER_3(note),)
        given = [name.encode(), self.fmu.token.encode(), f"{resources}/".encode(), False, True]
        logger = ctypes.cast(self._kept[0], ctypes.c_void_p)
        if interface == CO_SIMULATION:
            make = self._function("InstantiateCoSimulation", "sssbbbbpzppp", ctypes.c_void_p)
            return make(*given, False, False, None, 0, None, logger, None)
        return self._function("InstantiateModelExchange", "sssbbpp", ctypes.c_void_p)(*given, None, logger)

    def enter_initialization(self, t: float) -> None:
        if self.version == 2:
            self.call("SetupExperiment", 0, 0.0, t, 0, 0.0)
            self.call("EnterInitializationMode")
        else:
            self.call("EnterInitializationMode", False, 0.0, t, False, 0.0)

    def free(self) -> None:
        """Free the instance; nothing is called after a fatal error."""
        if self.fatal:
            self._finalizer.detach()
        else:
            self._finalizer()

    # ---- values

    def read(self, group: Group) -> np.ndarray:
        """Values in SI units."""
        found = np.empty(len(group.variables))
        for get, _, places, references, count, values, address in group.parts:
            self.call(get, references, count, address, *([] if self.version == 2 else [count]))
            if group.plain:
                return values.copy()
            found[places] = values
        return found * group.factor + group.offset  # (1) of fmu_file

    def write(self, group: Group, given: np.ndarray) -> None:
        """Set values that are given in SI units; whole numbers are rounded."""
        scaled = given if group.plain else (np.asarray(given, float) - group.offset) / group.factor
        for _, set_, places, references, count, values, address in group.parts:
            values[:] = (
                scaled if group.plain else scaled[places] if values.dtype.kind == "f" else np.rint(scaled[places])
            )
            self.call(set_, references, count, address, *([] if self.version == 2 else [count]))

    def write_text(self, variable: Variable, text: str) -> None:
        references, values = np.array([variable.reference], np.uint32), (ctypes.c_char_p * 1)(text.encode())
        more = [] if self.version == 2 else [1]
        self.call("SetString", references.ctypes.data, 1, ctypes.addressof(values), *more)

    def vector(self, name: str, values: np.ndarray) -> np.ndarray:
        """Get or set states, rates or event indicators, which are all in one array."""
        self.call(name, values.ctypes.data, len(values))
        return values

    def indicators(self) -> int:
        """How many event indicators there are."""
        if self.version == 2:
            return int(self.fmu.description.numberOfEventIndicators or 0)
        found = ctypes.c_size_t()
        self.call("GetNumberOfEventIndicators", ctypes.addressof(found))
        return found.value

    def directional(self, unknowns: np.ndarray, knowns: np.ndarray, seed: np.ndarray) -> np.ndarray:
        """The directional derivative, in the units of the FMU."""
        found = np.zeros(len(unknowns))
        given = [unknowns.ctypes.data, len(unknowns), knowns.ctypes.data, len(knowns), seed.ctypes.data]
        tail = [found.ctypes.data] if self.version == 2 else [len(seed), found.ctypes.data, len(found)]
        self.call("GetDirectionalDerivative", *given, *tail)
        return found

    # ---- steps and events

    def do_step(self, t: float, h: float, final: bool) -> tuple[int, float, bool]:
        """One communication step: its status, the time that was reached, and whether the FMU wants to end the simulation.

        final   it will not be set back to a time before
        """
        if self.version == 2:
            status = self.raw("DoStep", t, h, int(final))
            reached = ctypes.c_double(t)
            if (
                status == DISCARD
                and self.raw("GetRealStatus", LAST_SUCCESSFUL_TIME, ctypes.addressof(reached)) > WARNING
            ):
                reached.value = t
            return status, t + h if status <= WARNING else reached.value, False
        event, terminate, early = (ctypes.c_bool() for _ in range(3))
        reached = ctypes.c_double(t + h)
        at = ctypes.addressof
        status = self.raw("DoStep", t, h, final, at(event), at(terminate), at(early), at(reached))
        whole = status <= WARNING and not early.value
        return status, t + h if whole else reached.value, terminate.value

    def update_discrete(self) -> tuple[bool, bool, bool, float]:
        """One pass of an event: whether another is needed, whether to end, whether states changed, the next time event."""
        if self.version == 2:
            info = _EventInfo2()
            self.call("NewDiscreteStates", ctypes.addressof(info))
            next_time = info.time if info.timed else np.inf
            return bool(info.needed), bool(info.terminate), bool(info.states), next_time
        flags = [ctypes.c_bool() for _ in range(5)]
        time = ctypes.c_double()
        self.call("UpdateDiscreteStates", *map(ctypes.addressof, flags), ctypes.addressof(time))
        needed, terminate, _, states, timed = (bool(x.value) for x in flags)
        return needed, terminate, states, time.value if timed else np.inf

    def completed_step(self) -> tuple[bool, bool]:
        """After a step of the integrator: whether it needs an event, and whether to end."""
        kind: Any = ctypes.c_int if self.version == 2 else ctypes.c_bool
        event, terminate = kind(), kind()
        self.call("CompletedIntegratorStep", 1, ctypes.addressof(event), ctypes.addressof(terminate))
        return bool(event.value), bool(terminate.value)

    # ---- states

    def get_state(self) -> ctypes.c_void_p:
        state = ctypes.c_void_p()
        self.call("GetFMUState", ctypes.addressof(state))
        return state

    def set_state(self, state: ctypes.c_void_p) -> None:
        self.call("SetFMUState", state)

    def free_state(self, state: ctypes.c_void_p) -> None:
        self.call("FreeFMUState", ctypes.addressof(state))

    def state_bytes(self) -> bytes:
        state, size = self.get_state(), ctypes.c_size_t()
        try:
            self.call("SerializedFMUStateSize", state, ctypes.addressof(size))
            content = ctypes.create_string_buffer(size.value)
            self.call("SerializeFMUState", state, ctypes.addressof(content), size.value)
            return content.raw
        finally:
            self.free_state(state)

    def state_of_bytes(self, content: bytes) -> ctypes.c_void_p:
        state, given = ctypes.c_void_p(), ctypes.create_string_buffer(content, len(content))
        self.call("DeserializeFMUState", ctypes.addressof(given), len(content), ctypes.addressof(state))
        return state


def _free(function, component):
    function(component)


def _c_library():
    return ctypes.CDLL("ucrtbase" if hasattr(ctypes, "WinDLL") else None)
