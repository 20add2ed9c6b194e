/* The functions of FMI 3.0 over fmu.c. */
#include <stdbool.h>
#include <stdint.h>

#include "model.c"

#include "fmu.c"

typedef void (*Fmi3Logger)(void *environment, int status, const char *category, const char *message);

#define INSTANCE Fmu *c = instance
#define IN(modes, name)                     \
  if (!c || !fmu_allowed(c, modes, name)) { \
    return ERROR;                           \
  }
#define ON_TYPE(TYPE, NAME)                                                                         \
  EXPORT int fmi3Get##NAME(void *instance, const uint32_t *vr, size_t n, TYPE *v, size_t nv)        \
  {                                                                                                 \
    (void)vr, (void)v, (void)nv;                                                                    \
    return instance ? fmu_refuse(instance, n, "fmi3Get" #NAME) : ERROR;                             \
  }                                                                                                 \
  EXPORT int fmi3Set##NAME(void *instance, const uint32_t *vr, size_t n, const TYPE *v, size_t nv)  \
  {                                                                                                 \
    (void)vr, (void)v, (void)nv;                                                                    \
    return instance ? fmu_refuse(instance, n, "fmi3Set" #NAME) : ERROR;                             \
  }

ON_TYPE(float, Float32)
ON_TYPE(int8_t, Int8)
ON_TYPE(uint8_t, UInt8)
ON_TYPE(int16_t, Int16)
ON_TYPE(uint16_t, UInt16)
ON_TYPE(int32_t, Int32)
ON_TYPE(uint32_t, UInt32)
ON_TYPE(int64_t, Int64)
ON_TYPE(uint64_t, UInt64)
ON_TYPE(bool, Boolean)
ON_TYPE(const char *, String)

#define VR const uint32_t *vr, size_t n
#define UNUSED (void)vr, (void)n
EXPORT int fmi3GetBinary(void *instance, VR, size_t *sizes, const uint8_t **v, size_t nv)
{
  UNUSED, (void)sizes, (void)v, (void)nv;
  return instance ? fmu_refuse(instance, n, "fmi3GetBinary") : ERROR;
}

EXPORT int fmi3SetBinary(void *instance, VR, const size_t *sizes, const uint8_t *const *v, size_t nv)
{
  UNUSED, (void)sizes, (void)v, (void)nv;
  return instance ? fmu_refuse(instance, n, "fmi3SetBinary") : ERROR;
}

EXPORT int fmi3GetClock(void *instance, VR, bool *v)
{
  UNUSED, (void)v;
  return instance ? fmu_refuse(instance, n, "fmi3GetClock") : ERROR;
}

EXPORT int fmi3SetClock(void *instance, VR, const bool *v)
{
  UNUSED, (void)v;
  return instance ? fmu_refuse(instance, n, "fmi3SetClock") : ERROR;
}

static int not_provided(void *instance, const char *name)
{
  return instance ? fmu_report(instance, ERROR, name, "this FMU does not provide it") : ERROR;
}

EXPORT int fmi3GetNumberOfVariableDependencies(void *instance, uint32_t vr, size_t *n)
{
  (void)vr, (void)n;
  return not_provided(instance, "fmi3GetNumberOfVariableDependencies");
}

EXPORT int fmi3GetVariableDependencies(void *instance, uint32_t vr, size_t *elements, uint32_t *independents, size_t *others,
                                       int *kinds, size_t n)
{
  (void)vr, (void)elements, (void)independents, (void)others, (void)kinds, (void)n;
  return not_provided(instance, "fmi3GetVariableDependencies");
}

EXPORT int fmi3EnterConfigurationMode(void *instance)
{
  return not_provided(instance, "fmi3EnterConfigurationMode");
}

EXPORT int fmi3ExitConfigurationMode(void *instance)
{
  return not_provided(instance, "fmi3ExitConfigurationMode");
}

EXPORT int fmi3GetIntervalDecimal(void *instance, VR, double *intervals, int *qualifiers)
{
  UNUSED, (void)intervals, (void)qualifiers;
  return not_provided(instance, "fmi3GetIntervalDecimal");
}

EXPORT int fmi3GetIntervalFraction(void *instance, VR, uint64_t *counters, uint64_t *resolutions, int *qualifiers)
{
  UNUSED, (void)counters, (void)resolutions, (void)qualifiers;
  return not_provided(instance, "fmi3GetIntervalFraction");
}

EXPORT int fmi3GetShiftDecimal(void *instance, VR, double *shifts)
{
  UNUSED, (void)shifts;
  return not_provided(instance, "fmi3GetShiftDecimal");
}

EXPORT int fmi3GetShiftFraction(void *instance, VR, uint64_t *counters, uint64_t *resolutions)
{
  UNUSED, (void)counters, (void)resolutions;
  return not_provided(instance, "fmi3GetShiftFraction");
}

EXPORT int fmi3SetIntervalDecimal(void *instance, VR, const double *intervals)
{
  UNUSED, (void)intervals;
  return not_provided(instance, "fmi3SetIntervalDecimal");
}

EXPORT int fmi3SetIntervalFraction(void *instance, VR, const uint64_t *counters, const uint64_t *resolutions)
{
  UNUSED, (void)counters, (void)resolutions;
  return not_provided(instance, "fmi3SetIntervalFraction");
}

EXPORT int fmi3SetShiftDecimal(void *instance, VR, const double *shifts)
{
  UNUSED, (void)shifts;
  return not_provided(instance, "fmi3SetShiftDecimal");
}

EXPORT int fmi3SetShiftFraction(void *instance, VR, const uint64_t *counters, const uint64_t *resolutions)
{
  UNUSED, (void)counters, (void)resolutions;
  return not_provided(instance, "fmi3SetShiftFraction");
}

EXPORT int fmi3GetOutputDerivatives(void *instance, VR, const int32_t *orders, double *values, size_t nv)
{
  UNUSED, (void)orders, (void)values, (void)nv;
  return not_provided(instance, "fmi3GetOutputDerivatives");
}

EXPORT int fmi3ActivateModelPartition(void *instance, uint32_t clock, double t)
{
  (void)clock, (void)t;
  return not_provided(instance, "fmi3ActivateModelPartition");
}

EXPORT const char *fmi3GetVersion(void)
{
  return "3.0";
}

EXPORT int fmi3SetDebugLogging(void *instance, bool on, size_t n, const char *const *categories)
{
  INSTANCE;
  (void)n, (void)categories;
  IN(ANY, "fmi3SetDebugLogging")
  c->logs_errors = on;
  return OK;
}

static void send_message(const Fmu *c, int status, const char *category, const char *text)
{
  if (c->logger) {
    Fmi3Logger logger;
    memcpy(&logger, &c->logger, sizeof logger);
    logger(c->environment, status, category, text);
  }
}

static Fmu *instantiate(const char *name, const char *token, bool logging, void *environment, Fmi3Logger logger, int co_simulation)
{
  Fmu *c;
  if (!token || strcmp(token, TOKEN) != 0) {
    if (logger) {
      logger(environment, ERROR, "logStatusError", "fmi3Instantiate: the instantiation token is not that of this FMU");
    }
    return NULL;
  }
  c = calloc(1, sizeof *c);
  if (!c) {
    return NULL;
  }
  memcpy(&c->logger, &logger, sizeof c->logger);
  c->environment = environment;
  c->release = free;
  c->send = send_message;
  c->logs_errors = logging;
  fmu_begin(c, name, co_simulation);
  return c;
}

EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                          void *environment, Fmi3Logger logger)
{
  (void)resources, (void)visible;
  return instantiate(name, token, logging, environment, logger, 0);
}

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                         bool events, bool early, const uint32_t *required, size_t n, void *environment,
                                         Fmi3Logger logger, void *intermediate)
{
  (void)resources, (void)visible, (void)events, (void)early, (void)required, (void)n, (void)intermediate;
  return instantiate(name, token, logging, environment, logger, 1);
}

EXPORT void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible,
                                               bool logging, void *environment, Fmi3Logger logger, void *clock, void *lock,
                                               void *unlock)
{
  (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)clock, (void)lock, (void)unlock;
  if (logger) {
    logger(environment, ERROR, "logStatusError", "fmi3InstantiateScheduledExecution: this FMU does not provide it");
  }
  return NULL;
}

EXPORT void fmi3FreeInstance(void *instance)
{
  free(instance);
}

EXPORT int fmi3EnterInitializationMode(void *instance, bool tolerance_defined, double tolerance, double start, bool stop_defined,
                                       double stop)
{
  INSTANCE;
  (void)tolerance_defined, (void)tolerance, (void)stop_defined, (void)stop;
  IN(INSTANTIATED, "fmi3EnterInitializationMode")
  return fmu_enter_initialization(c, start, "fmi3EnterInitializationMode");
}

EXPORT int fmi3ExitInitializationMode(void *instance)
{
  INSTANCE;
  IN(INITIALIZATION, "fmi3ExitInitializationMode")
  return fmu_exit_initialization(c, "fmi3ExitInitializationMode");
}

EXPORT int fmi3Terminate(void *instance)
{
  INSTANCE;
  IN(RUNNING, "fmi3Terminate")
  c->mode = TERMINATED;
  return OK;
}

EXPORT int fmi3Reset(void *instance)
{
  INSTANCE;
  IN(ANY, "fmi3Reset")
  return fmu_reset(c);
}

EXPORT int fmi3GetFloat64(void *instance, VR, double *values, size_t nv)
{
  INSTANCE;
  IN(ANY, "fmi3GetFloat64")
  return nv == n ? fmu_get(c, vr, n, values, "fmi3GetFloat64") : fmu_report(c, ERROR, "fmi3GetFloat64", "wrong number of values");
}

EXPORT int fmi3SetFloat64(void *instance, VR, const double *values, size_t nv)
{
  INSTANCE;
  IN(ANY, "fmi3SetFloat64")
  return nv == n ? fmu_set(c, vr, n, values, "fmi3SetFloat64") : fmu_report(c, ERROR, "fmi3SetFloat64", "wrong number of values");
}

EXPORT int fmi3GetFMUState(void *instance, void **state)
{
  INSTANCE;
  IN(ANY & ~FAILED, "fmi3GetFMUState")
  return fmu_save(c, state, calloc, "fmi3GetFMUState");
}

EXPORT int fmi3SetFMUState(void *instance, void *state)
{
  INSTANCE;
  IN(ANY & ~FAILED, "fmi3SetFMUState")
  return fmu_restore(c, state, "fmi3SetFMUState");
}

EXPORT int fmi3FreeFMUState(void *instance, void **state)
{
  if (!instance || !state) {
    return ERROR;
  }
  free(*state);
  *state = NULL;
  return OK;
}

EXPORT int fmi3SerializedFMUStateSize(void *instance, void *state, size_t *size)
{
  INSTANCE;
  (void)state;
  IN(ANY, "fmi3SerializedFMUStateSize")
  *size = sizeof(Saved);
  return OK;
}

EXPORT int fmi3SerializeFMUState(void *instance, void *state, uint8_t *bytes, size_t size)
{
  INSTANCE;
  IN(ANY, "fmi3SerializeFMUState")
  if (!state || size < sizeof(Saved)) {
    return fmu_report(c, ERROR, "fmi3SerializeFMUState", "the state does not fit into so many bytes");
  }
  memcpy(bytes, state, sizeof(Saved));
  return OK;
}

EXPORT int fmi3DeserializeFMUState(void *instance, const uint8_t *bytes, size_t size, void **state)
{
  INSTANCE;
  Saved *saved;
  IN(ANY, "fmi3DeserializeFMUState")
  if (size != sizeof(Saved)) {
    return fmu_report(c, ERROR, "fmi3DeserializeFMUState", "these bytes are no state of this FMU");
  }
  saved = *state ? *state : calloc(1, sizeof *saved);
  if (!saved) {
    return fmu_report(c, ERROR, "fmi3DeserializeFMUState", "there is no memory left");
  }
  memcpy(saved, bytes, size);
  *state = saved;
  return OK;
}

EXPORT int fmi3GetDirectionalDerivative(void *instance, const uint32_t *unknown, size_t nu, const uint32_t *known, size_t nk,
                                        const double *seed, size_t ns, double *out, size_t no)
{
  INSTANCE;
  IN(INITIALIZATION | RUNNING, "fmi3GetDirectionalDerivative")
  return ns == nk && no == nu ? fmu_direction(c, unknown, nu, known, nk, seed, out, "fmi3GetDirectionalDerivative")
                              : fmu_report(c, ERROR, "fmi3GetDirectionalDerivative", "wrong number of values");
}

EXPORT int fmi3GetAdjointDerivative(void *instance, const uint32_t *unknown, size_t nu, const uint32_t *known, size_t nk,
                                    const double *seed, size_t ns, double *out, size_t no)
{
  INSTANCE;
  IN(INITIALIZATION | RUNNING, "fmi3GetAdjointDerivative")
  return ns == nu && no == nk ? fmu_adjoint(c, unknown, nu, known, nk, seed, out, "fmi3GetAdjointDerivative")
                              : fmu_report(c, ERROR, "fmi3GetAdjointDerivative", "wrong number of values");
}

EXPORT int fmi3EvaluateDiscreteStates(void *instance)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE, "fmi3EvaluateDiscreteStates")
  return OK;
}

EXPORT int fmi3EnterEventMode(void *instance)
{
  INSTANCE;
  IN(CONTINUOUS | EVENT_MODE, "fmi3EnterEventMode")
  c->mode = EVENT_MODE;
  return OK;
}

EXPORT int fmi3UpdateDiscreteStates(void *instance, bool *again, bool *terminate, bool *nominals, bool *values, bool *defined,
                                    double *next)
{
  INSTANCE;
  int changed = 0, status;
  double time = HUGE_VAL;
  IN(EVENT_MODE, "fmi3UpdateDiscreteStates")
  status = fmu_update_discrete(c, &changed, &time, "fmi3UpdateDiscreteStates");
  *again = *nominals = false;
  *terminate = c->m.n.ended != 0;
  *values = changed != 0;
  *defined = time < HUGE_VAL;
  *next = *defined ? time : 0.0;
  return status;
}

EXPORT int fmi3EnterContinuousTimeMode(void *instance)
{
  INSTANCE;
  IN(EVENT_MODE, "fmi3EnterContinuousTimeMode")
  c->mode = CONTINUOUS;
  return OK;
}

EXPORT int fmi3EnterStepMode(void *instance)
{
  INSTANCE;
  IN(STEPPING, "fmi3EnterStepMode")
  return OK;
}

EXPORT int fmi3CompletedIntegratorStep(void *instance, bool no_way_back, bool *events, bool *terminate)
{
  INSTANCE;
  int found = 0, status;
  (void)no_way_back;
  IN(CONTINUOUS, "fmi3CompletedIntegratorStep")
  status = fmu_completed_step(c, &found, "fmi3CompletedIntegratorStep");
  *events = found != 0;
  *terminate = false;
  return status;
}

EXPORT int fmi3SetTime(void *instance, double t)
{
  INSTANCE;
  IN(CONTINUOUS | EVENT_MODE, "fmi3SetTime")
  return fmu_set_time(c, t, "fmi3SetTime");
}

EXPORT int fmi3SetContinuousStates(void *instance, const double *u, size_t n)
{
  INSTANCE;
  IN(CONTINUOUS, "fmi3SetContinuousStates")
  return fmu_set_states(c, u, n, "fmi3SetContinuousStates");
}

EXPORT int fmi3GetContinuousStateDerivatives(void *instance, double *k, size_t n)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE | CONTINUOUS, "fmi3GetContinuousStateDerivatives")
  return fmu_get_derivatives(c, k, n, "fmi3GetContinuousStateDerivatives");
}

EXPORT int fmi3GetEventIndicators(void *instance, double *z, size_t n)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE | CONTINUOUS, "fmi3GetEventIndicators")
  return fmu_get_indicators(c, z, n, "fmi3GetEventIndicators");
}

EXPORT int fmi3GetContinuousStates(void *instance, double *u, size_t n)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE | CONTINUOUS, "fmi3GetContinuousStates")
  return fmu_get_states(c, u, n, "fmi3GetContinuousStates");
}

EXPORT int fmi3GetNominalsOfContinuousStates(void *instance, double *nominals, size_t n)
{
  INSTANCE;
  size_t i;
  IN(ANY & ~FAILED, "fmi3GetNominalsOfContinuousStates")
  for (i = 0; i < n && i < NS; i++) {
    nominals[i] = NOMINALS[i];
  }
  return n == NS ? OK : fmu_report(c, ERROR, "fmi3GetNominalsOfContinuousStates", "wrong number of continuous states");
}

EXPORT int fmi3GetNumberOfEventIndicators(void *instance, size_t *n)
{
  INSTANCE;
  IN(ANY, "fmi3GetNumberOfEventIndicators")
  *n = NZ;
  return OK;
}

EXPORT int fmi3GetNumberOfContinuousStates(void *instance, size_t *n)
{
  INSTANCE;
  IN(ANY, "fmi3GetNumberOfContinuousStates")
  *n = NS;
  return OK;
}

EXPORT int fmi3DoStep(void *instance, double from, double length, bool no_way_back, bool *events, bool *terminate, bool *early,
                      double *last)
{
  INSTANCE;
  int status;
  (void)no_way_back;
  IN(STEPPING, "fmi3DoStep")
  status = fmu_do_step(c, from, length, "fmi3DoStep");
  *events = *early = false;
  *terminate = c->m.n.ended != 0;
  *last = c->m.n.t;
  return status;
}
