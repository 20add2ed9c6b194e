/* The functions of FMI 2.0 over fmu.c. */
#include "fmi2_types.h"

#include "model.c"

#include "fmu.c"

#define INSTANCE Fmu *c = instance
#define IN(modes, name)                    \
  if (!c || !fmu_allowed(c, modes, name)) { \
    return ERROR;                          \
  }
#define ON_TYPE(TYPE, NAME)                                                                                       \
  EXPORT int fmi2Get##NAME(void *instance, const unsigned *vr, size_t n, TYPE *v)                                 \
  {                                                                                                               \
    (void)vr, (void)v;                                                                                            \
    return instance ? fmu_refuse(instance, n, "fmi2Get" #NAME) : ERROR;                                           \
  }                                                                                                               \
  EXPORT int fmi2Set##NAME(void *instance, const unsigned *vr, size_t n, const TYPE *v)                           \
  {                                                                                                               \
    (void)vr, (void)v;                                                                                            \
    return instance ? fmu_refuse(instance, n, "fmi2Set" #NAME) : ERROR;                                           \
  }

ON_TYPE(int, Integer)
ON_TYPE(int, Boolean)
ON_TYPE(const char *, String)

EXPORT const char *fmi2GetTypesPlatform(void)
{
  return "default";
}

EXPORT const char *fmi2GetVersion(void)
{
  return "2.0";
}

EXPORT int fmi2SetDebugLogging(void *instance, int on, size_t n, const char *const *categories)
{
  INSTANCE;
  (void)n, (void)categories;
  IN(ANY, "fmi2SetDebugLogging")
  c->logs_errors = on;
  return OK;
}

static void send_message(const Fmu *c, int status, const char *category, const char *text)
{
  if (c->logger) {
    Fmi2Logger logger;
    memcpy(&logger, &c->logger, sizeof logger);
    logger(c->environment, c->name, status, category, "%s", text);
  }
}

EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, const Fmi2Callbacks *callbacks,
                             int visible, int logging)
{
  Fmu *c;
  (void)resources, (void)visible;
  if (!guid || strcmp(guid, TOKEN) != 0) {
    if (callbacks && callbacks->logger) {
      callbacks->logger(callbacks->environment, name ? name : "", ERROR, "logStatusError", "%s",
                        "fmi2Instantiate: the GUID is not that of this FMU");
    }
    return NULL;
  }
  c = callbacks && callbacks->allocate ? callbacks->allocate(1, sizeof *c) : calloc(1, sizeof *c);
  if (!c) {
    return NULL;
  }
  memset(c, 0, sizeof *c);
  c->release = callbacks && callbacks->release ? callbacks->release : free;
  c->environment = callbacks ? callbacks->environment : NULL;
  if (callbacks) {
    memcpy(&c->logger, &callbacks->logger, sizeof c->logger);
  }
  c->send = send_message;
  c->logs_errors = logging;
  fmu_begin(c, name, type == 1);
  return c;
}

EXPORT void fmi2FreeInstance(void *instance)
{
  INSTANCE;
  if (c) {
    c->release(c);
  }
}

EXPORT int fmi2SetupExperiment(void *instance, int tolerance_defined, double tolerance, double start, int stop_defined, double stop)
{
  INSTANCE;
  (void)tolerance_defined, (void)tolerance, (void)stop_defined, (void)stop;
  IN(INSTANTIATED, "fmi2SetupExperiment")
  c->start_time = start;
  return OK;
}

EXPORT int fmi2EnterInitializationMode(void *instance)
{
  INSTANCE;
  IN(INSTANTIATED, "fmi2EnterInitializationMode")
  return fmu_enter_initialization(c, c->start_time, "fmi2EnterInitializationMode");
}

EXPORT int fmi2ExitInitializationMode(void *instance)
{
  INSTANCE;
  IN(INITIALIZATION, "fmi2ExitInitializationMode")
  return fmu_exit_initialization(c, "fmi2ExitInitializationMode");
}

EXPORT int fmi2Terminate(void *instance)
{
  INSTANCE;
  IN(RUNNING, "fmi2Terminate")
  c->mode = TERMINATED;
  return OK;
}

EXPORT int fmi2Reset(void *instance)
{
  INSTANCE;
  IN(ANY, "fmi2Reset")
  return fmu_reset(c);
}

EXPORT int fmi2GetReal(void *instance, const unsigned *vr, size_t n, double *values)
{
  return instance ? fmu_get(instance, vr, n, values, "fmi2GetReal") : ERROR;
}

EXPORT int fmi2SetReal(void *instance, const unsigned *vr, size_t n, const double *values)
{
  return instance ? fmu_set(instance, vr, n, values, "fmi2SetReal") : ERROR;
}

EXPORT int fmi2GetFMUstate(void *instance, void **state)
{
  INSTANCE;
  IN(ANY & ~FAILED, "fmi2GetFMUstate")
  return fmu_save(c, state, calloc, "fmi2GetFMUstate");
}

EXPORT int fmi2SetFMUstate(void *instance, void *state)
{
  INSTANCE;
  IN(ANY & ~FAILED, "fmi2SetFMUstate")
  return fmu_restore(c, state, "fmi2SetFMUstate");
}

EXPORT int fmi2FreeFMUstate(void *instance, void **state)
{
  if (!instance || !state) {
    return ERROR;
  }
  free(*state);
  *state = NULL;
  return OK;
}

EXPORT int fmi2SerializedFMUstateSize(void *instance, void *state, size_t *size)
{
  INSTANCE;
  (void)state;
  IN(ANY, "fmi2SerializedFMUstateSize")
  *size = sizeof(Saved);
  return OK;
}

EXPORT int fmi2SerializeFMUstate(void *instance, void *state, char *bytes, size_t size)
{
  INSTANCE;
  IN(ANY, "fmi2SerializeFMUstate")
  if (!state || size < sizeof(Saved)) {
    return fmu_report(c, ERROR, "fmi2SerializeFMUstate", "the state does not fit into so many bytes");
  }
  memcpy(bytes, state, sizeof(Saved));
  return OK;
}

EXPORT int fmi2DeSerializeFMUstate(void *instance, const char *bytes, size_t size, void **state)
{
  INSTANCE;
  Saved *saved;
  IN(ANY, "fmi2DeSerializeFMUstate")
  if (size != sizeof(Saved)) {
    return fmu_report(c, ERROR, "fmi2DeSerializeFMUstate", "these bytes are no state of this FMU");
  }
  saved = *state ? *state : calloc(1, sizeof *saved);
  if (!saved) {
    return fmu_report(c, ERROR, "fmi2DeSerializeFMUstate", "there is no memory left");
  }
  memcpy(saved, bytes, size);
  *state = saved;
  return OK;
}

EXPORT int fmi2GetDirectionalDerivative(void *instance, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk,
                                        const double *seed, double *out)
{
  INSTANCE;
  IN(INITIALIZATION | RUNNING, "fmi2GetDirectionalDerivative")
  return fmu_direction(c, unknown, nu, known, nk, seed, out, "fmi2GetDirectionalDerivative");
}

/* Model exchange */

EXPORT int fmi2EnterEventMode(void *instance)
{
  INSTANCE;
  IN(CONTINUOUS | EVENT_MODE, "fmi2EnterEventMode")
  c->mode = EVENT_MODE;
  return OK;
}

EXPORT int fmi2NewDiscreteStates(void *instance, Fmi2EventInfo *info)
{
  INSTANCE;
  int status;
  double next = HUGE_VAL;
  IN(EVENT_MODE, "fmi2NewDiscreteStates")
  memset(info, 0, sizeof *info);
  status = fmu_update_discrete(c, &info->values_changed, &next, "fmi2NewDiscreteStates");
  info->terminate = c->m.n.ended;
  info->next_event_defined = next < HUGE_VAL;
  info->next_event_time = info->next_event_defined ? next : 0.0;
  return status;
}

EXPORT int fmi2EnterContinuousTimeMode(void *instance)
{
  INSTANCE;
  IN(EVENT_MODE, "fmi2EnterContinuousTimeMode")
  c->mode = CONTINUOUS;
  return OK;
}

EXPORT int fmi2CompletedIntegratorStep(void *instance, int no_way_back, int *events, int *terminate)
{
  INSTANCE;
  (void)no_way_back;
  IN(CONTINUOUS, "fmi2CompletedIntegratorStep")
  *terminate = 0;
  return fmu_completed_step(c, events, "fmi2CompletedIntegratorStep");
}

EXPORT int fmi2SetTime(void *instance, double t)
{
  INSTANCE;
  IN(CONTINUOUS | EVENT_MODE, "fmi2SetTime")
  return c->co_simulation ? fmu_report(c, ERROR, "fmi2SetTime", "it is for model exchange") : fmu_set_time(c, t, "fmi2SetTime");
}

EXPORT int fmi2SetContinuousStates(void *instance, const double *u, size_t n)
{
  INSTANCE;
  IN(CONTINUOUS, "fmi2SetContinuousStates")
  return fmu_set_states(c, u, n, "fmi2SetContinuousStates");
}

EXPORT int fmi2GetDerivatives(void *instance, double *k, size_t n)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE | CONTINUOUS, "fmi2GetDerivatives")
  return fmu_get_derivatives(c, k, n, "fmi2GetDerivatives");
}

EXPORT int fmi2GetEventIndicators(void *instance, double *z, size_t n)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE | CONTINUOUS, "fmi2GetEventIndicators")
  return fmu_get_indicators(c, z, n, "fmi2GetEventIndicators");
}

EXPORT int fmi2GetContinuousStates(void *instance, double *u, size_t n)
{
  INSTANCE;
  IN(INITIALIZATION | EVENT_MODE | CONTINUOUS, "fmi2GetContinuousStates")
  return fmu_get_states(c, u, n, "fmi2GetContinuousStates");
}

EXPORT int fmi2GetNominalsOfContinuousStates(void *instance, double *nominals, size_t n)
{
  INSTANCE;
  size_t i;
  IN(ANY & ~FAILED, "fmi2GetNominalsOfContinuousStates")
  for (i = 0; i < n && i < NS; i++) {
    nominals[i] = NOMINALS[i];
  }
  return n == NS ? OK : fmu_report(c, ERROR, "fmi2GetNominalsOfContinuousStates", "wrong number of continuous states");
}

/* Co-simulation */

EXPORT int fmi2SetRealInputDerivatives(void *instance, const unsigned *vr, size_t n, const int *order, const double *values)
{
  (void)vr, (void)n, (void)order, (void)values;
  return instance ? fmu_report(instance, ERROR, "fmi2SetRealInputDerivatives", "inputs are constant during a step") : ERROR;
}

EXPORT int fmi2GetRealOutputDerivatives(void *instance, const unsigned *vr, size_t n, const int *order, double *values)
{
  (void)vr, (void)n, (void)order, (void)values;
  return instance ? fmu_report(instance, ERROR, "fmi2GetRealOutputDerivatives", "derivatives of outputs are not provided") : ERROR;
}

EXPORT int fmi2DoStep(void *instance, double from, double length, int no_way_back)
{
  INSTANCE;
  int status;
  (void)no_way_back;
  IN(STEPPING, "fmi2DoStep")
  status = fmu_do_step(c, from, length, "fmi2DoStep");
  return status == OK && c->m.n.ended ? DISCARD : status; /* an event has ended the run: fmi2Terminated */
}

EXPORT int fmi2CancelStep(void *instance)
{
  return instance ? fmu_report(instance, ERROR, "fmi2CancelStep", "no step is in progress") : ERROR;
}

EXPORT int fmi2GetStatus(void *instance, int kind, int *value)
{
  (void)kind, (void)value;
  return instance ? DISCARD : ERROR;
}

EXPORT int fmi2GetRealStatus(void *instance, int kind, double *value)
{
  INSTANCE;
  if (!c) {
    return ERROR;
  }
  *value = c->m.n.t;
  return kind == 2 ? OK : DISCARD;
}

EXPORT int fmi2GetIntegerStatus(void *instance, int kind, int *value)
{
  (void)kind, (void)value;
  return instance ? DISCARD : ERROR;
}

EXPORT int fmi2GetBooleanStatus(void *instance, int kind, int *value)
{
  INSTANCE;
  if (!c) {
    return ERROR;
  }
  *value = c->m.n.ended;
  return kind == 3 ? OK : DISCARD;
}

EXPORT int fmi2GetStringStatus(void *instance, int kind, const char **value)
{
  (void)kind, (void)value;
  return instance ? DISCARD : ERROR;
}
