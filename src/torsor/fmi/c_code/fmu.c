/* Modes, variables by value reference, states of an FMU: what both versions of FMI share.
 *
 * Value references: time, then parameters and inputs, continuous states, their derivatives, outputs, event indicators. */
#include "fmu.h"

enum { VR_P = 1, VR_U = VR_P + NU, VR_K = VR_U + NS, VR_Y = VR_K + NS, VR_Z = VR_Y + NY, VR_END = VR_Z + NZ };

int fmu_report(Fmu *c, int status, const char *where, const char *text)
{
  char message[320];
  snprintf(message, sizeof message, "%s: %s", where, text);
  if (c->send && (c->logs_errors || status >= ERROR)) {
    c->send(c, status, "logStatusError", message);
  }
  if (status >= ERROR && c->mode != TERMINATED) {
    c->mode = FAILED;
  }
  return status;
}

int fmu_allowed(Fmu *c, int modes, const char *where)
{
  if (c->mode & modes) {
    return 1;
  }
  if (c->send) {
    char message[200];
    snprintf(message, sizeof message, "%s must not be called now (%s)", where,
             c->mode == INSTANTIATED     ? "the instance is not initialised"
             : c->mode == INITIALIZATION ? "it is in initialization mode"
             : c->mode == EVENT_MODE         ? "it is in event mode"
             : c->mode == CONTINUOUS     ? "it is in continuous-time mode"
             : c->mode == STEPPING       ? "it is in step mode"
             : c->mode == TERMINATED     ? "it is terminated"
                                         : "an earlier call has failed");
    c->send(c, ERROR, "logStatusError", message);
  }
  return 0;
}

/* Types that the model does not have. */
int fmu_refuse(Fmu *c, size_t n, const char *where)
{
  return n == 0 ? OK : fmu_report(c, ERROR, where, "there are no variables of this type");
}

void fmu_begin(Fmu *c, const char *name, int co_simulation)
{
  snprintf(c->name, sizeof c->name, "%s", name ? name : "");
  c->co_simulation = co_simulation;
  fmu_reset(c);
}

int fmu_reset(Fmu *c)
{
  model_reset(&c->m);
  c->mode = INSTANTIATED;
  c->changed = c->new_reference = 0;
  c->start_time = START_TIME;
  return OK;
}

static int not_computed(Fmu *c, const char *where)
{
  return fmu_report(c, c->co_simulation || c->mode != CONTINUOUS ? ERROR : DISCARD, where,
                    "the equations have no finite solution at this state, or the constraints cannot be satisfied");
}

/* What the events of the model complain about. */
static int trouble(Fmu *c, const char *where)
{
  return fmu_report(c, ERROR, where, c->m.trouble ? c->m.trouble : "an event cannot be handled");
}

int fmu_get_indicators(Fmu *c, double *z, size_t n, const char *where)
{
  if (n != NZ) {
    return fmu_report(c, ERROR, where, "wrong number of event indicators");
  }
#if EVENTS
  if (model_locate(&c->m) != OK) {
    return not_computed(c, where);
  }
  return events_indicate(&c->m, z) == OK ? OK : trouble(c, where);
#else
  (void)z;
  return OK;
#endif
}

int fmu_get(Fmu *c, const unsigned *vr, size_t n, double *values, const char *where)
{
  double k[NS + 1];
  int have = 0;
  size_t i;
  if (!fmu_allowed(c, ANY & ~FAILED, where)) {
    return ERROR;
  }
  for (i = 0; i < n; i++) {
    const unsigned v = vr[i];
    if (v >= VR_END) {
      return fmu_report(c, ERROR, where, "unknown value reference");
    }
    if (v == 0) {
      values[i] = c->m.n.t;
    } else if (v < VR_U) {
      values[i] = c->m.n.p[P_PLACE[v - VR_P]];
    } else if (v < VR_K) {
      values[i] = c->m.n.u[v - VR_U];
    } else if (c->mode == INSTANTIATED) {
      return fmu_report(c, ERROR, where, "outputs and derivatives are not known before the initialization mode");
    } else if (v < VR_Y) {
      if (!have && model_derivatives(&c->m, k) != OK) {
        return not_computed(c, where);
      }
      have = 1;
      values[i] = k[v - VR_K];
    } else if (v >= VR_Z) {
      double z[NZ + 1];
      if (fmu_get_indicators(c, z, NZ, where) != OK) {
        return ERROR;
      }
      values[i] = z[v - VR_Z];
    } else {
      if (model_outputs(&c->m) != OK) {
        return not_computed(c, where);
      }
      values[i] = c->m.y[v - VR_Y];
    }
  }
  return OK;
}

int fmu_set(Fmu *c, const unsigned *vr, size_t n, const double *values, const char *where)
{
  size_t i;
  if (!fmu_allowed(c, INSTANTIATED | INITIALIZATION | RUNNING, where)) {
    return ERROR;
  }
  for (i = 0; i < n; i++) {
    const unsigned v = vr[i];
    double *target;
    if (v >= VR_P && v < VR_U) {
      if (!P_INPUT[v - VR_P] && c->mode == CONTINUOUS) {
        return fmu_report(c, ERROR, where, "parameters may be changed in event mode only");
      }
      target = &c->m.n.p[P_PLACE[v - VR_P]];
    } else if (v >= VR_U && v < VR_K) {
      if (!(c->mode & (INSTANTIATED | INITIALIZATION))) {
        return fmu_report(c, ERROR, where, "start values of states may be changed before the end of the initialization only");
      }
      target = &c->m.n.u[v - VR_U];
    } else {
      return fmu_report(c, ERROR, where, "this variable cannot be set");
    }
    if (!(values[i] - values[i] == 0.0)) {
      return fmu_report(c, ERROR, where, "a value is not finite");
    }
    if (*target != values[i]) {
      *target = values[i];
      model_forget(&c->m, v >= VR_U || !c->co_simulation || c->mode != STEPPING);
      c->changed = 1;
    }
  }
  return OK;
}

int fmu_enter_initialization(Fmu *c, double start_time, const char *where)
{
  if (!(start_time - start_time == 0.0)) {
    return fmu_report(c, ERROR, where, "the start time is not finite");
  }
  if (start_time != c->m.n.t) {
    c->m.n.t = start_time;
    model_forget(&c->m, 1);
  }
  c->mode = INITIALIZATION;
  return OK;
}

int fmu_exit_initialization(Fmu *c, const char *where)
{
  if (model_count_turns(&c->m) != OK) {
    return fmu_report(c, ERROR, where, "the constraints cannot be satisfied with these start values and parameters");
  }
#if EVENTS
  if (events_start(&c->m) != OK) {
    return trouble(c, where);
  }
  c->changed = 1;
#endif
  if (c->changed && (NG > 0 || EVENTS)) {
    model_take_new_reference(&c->m);
  }
  c->changed = 0;
  c->mode = c->co_simulation ? STEPPING : EVENT_MODE;
  return OK;
}

int fmu_do_step(Fmu *c, double from, double length, const char *where)
{
  double goal = from + length, gap = fabs(from - c->m.n.t);
  if (!(length > 0.0) || !(goal - goal == 0.0)) {
    return fmu_report(c, ERROR, where, "the communication step must be positive and finite");
  }
  if (gap > 1e-9 * (fabs(from) + length)) {
    return fmu_report(c, ERROR, where, "the communication point is not the present time of the model");
  }
  if (c->m.n.ended) {
    return fmu_report(c, ERROR, where, "an event of the model has ended the run");
  }
  if (model_advance(&c->m, goal) != OK) {
    if (c->m.trouble) {
      return trouble(c, where);
    }
    return fmu_report(c, ERROR, where, "the step has no finite result, or the constraints cannot be satisfied: take a shorter step");
  }
  return OK;
}

int fmu_set_time(Fmu *c, double t, const char *where)
{
  if (!(t - t == 0.0)) {
    return fmu_report(c, ERROR, where, "the time is not finite");
  }
  if (t >= c->m.n.passed[0] && t < c->m.n.passed[1]) {
    t = c->m.n.passed[1]; /* the event at this time has been handled */
  }
  if (t != c->m.n.t) {
    c->m.n.t = t;
    model_forget(&c->m, NG > 0);
  }
  return OK;
}

int fmu_set_states(Fmu *c, const double *u, size_t n, const char *where)
{
  size_t i;
  if (n != NS) {
    return fmu_report(c, ERROR, where, "wrong number of continuous states");
  }
  for (i = 0; i < n; i++) {
    if (!(u[i] - u[i] == 0.0)) {
      return fmu_report(c, DISCARD, where, "a state is not finite");
    }
  }
  if (n > 0 && memcmp(u, c->m.n.u, n * sizeof *u) != 0) {
    memcpy(c->m.n.u, u, n * sizeof *u);
    model_forget(&c->m, 1);
  }
  return OK;
}

int fmu_get_states(Fmu *c, double *u, size_t n, const char *where)
{
  if (n != NS) {
    return fmu_report(c, ERROR, where, "wrong number of continuous states");
  }
  memcpy(u, c->m.n.u, n * sizeof *u);
  return OK;
}

int fmu_get_derivatives(Fmu *c, double *k, size_t n, const char *where)
{
  if (n != NS) {
    return fmu_report(c, ERROR, where, "wrong number of derivatives");
  }
  return model_derivatives(&c->m, k) == OK ? OK : not_computed(c, where);
}

int fmu_completed_step(Fmu *c, int *events, const char *where)
{
  int due = 0;
  if (model_count_turns(&c->m) != OK) {
    return fmu_report(c, ERROR, where, "the constraints cannot be satisfied at the end of this step");
  }
#if EVENTS
  if (events_accept_step(&c->m, &due) != OK) {
    return trouble(c, where);
  }
#endif
  c->new_reference = model_needs_new_reference(&c->m);
  *events = c->new_reference || due;
  return OK;
}

/* What happens at an instant in model exchange. next: time of the next event that is known beforehand */
int fmu_update_discrete(Fmu *c, int *values_changed, double *next, const char *where)
{
  int changed = 0;
  *values_changed = 0;
  *next = model_pass_breakpoint(&c->m);
  if (model_count_turns(&c->m) != OK) {
    return fmu_report(c, ERROR, where, "the constraints cannot be satisfied at this state");
  }
#if EVENTS
  if (!c->m.n.ended && events_happen(&c->m, &changed) != OK) {
    return trouble(c, where);
  }
  if (events_next_tick(&c->m) < *next) {
    *next = events_next_tick(&c->m);
  }
#endif
  if (c->new_reference || c->changed || changed) {
    model_take_new_reference(&c->m);
    *values_changed = 1;
  }
  c->new_reference = c->changed = 0;
  return OK;
}

/* Directions of the knowns, for derivatives. Returns whether all of them are states, inputs or parameters. */
static int add_direction(unsigned v, double seed, double *du, double *dp)
{
  if (v >= VR_P && v < VR_U) {
    dp[P_PLACE[v - VR_P]] += seed;
    return 1;
  }
  if (v >= VR_U && v < VR_K) {
    du[v - VR_U] += seed;
    return 1;
  }
  return 0;
}

static int read_direction(unsigned v, const double *dk, const double *dy, double *out)
{
  if (v >= VR_K && v < VR_Y) {
    *out = dk[v - VR_K];
    return 1;
  }
  if (v >= VR_Y && v < VR_END) {
    *out = dy[v - VR_Y];
    return 1;
  }
  return 0;
}

static int begin_direction(Fmu *c, const char *where)
{
  if (!DERIVATIVES) {
    return fmu_report(c, ERROR, where, "this FMU was exported without derivatives");
  }
  return model_locate(&c->m) == OK ? OK : not_computed(c, where);
}

int fmu_direction(Fmu *c, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk, const double *seed, double *out,
                  const char *where)
{
  double du[NS + 1] = {0.0}, dp[NP] = {0.0}, dk[NS + 1], dy[NY + 1];
  size_t i;
  int status = begin_direction(c, where);
  if (status != OK) {
    return status;
  }
  for (i = 0; i < nk; i++) {
    if (!add_direction(known[i], seed[i], du, dp)) {
      return fmu_report(c, ERROR, where, "knowns must be continuous states, inputs or parameters");
    }
  }
  if (model_direction(&c->m, du, dp, dk, dy) != OK) {
    return not_computed(c, where);
  }
  for (i = 0; i < nu; i++) {
    if (!read_direction(unknown[i], dk, dy, &out[i])) {
      return fmu_report(c, ERROR, where, "unknowns must be outputs or derivatives of states");
    }
  }
  return OK;
}

/* Σᵢ seedᵢ ∂unknownᵢ / ∂knownⱼ, one direction for each known. */
int fmu_adjoint(Fmu *c, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk, const double *seed, double *out,
                const char *where)
{
  size_t i, j;
  int status = begin_direction(c, where);
  if (status != OK) {
    return status;
  }
  for (j = 0; j < nk; j++) {
    double du[NS + 1] = {0.0}, dp[NP] = {0.0}, dk[NS + 1], dy[NY + 1];
    if (!add_direction(known[j], 1.0, du, dp)) {
      return fmu_report(c, ERROR, where, "knowns must be continuous states, inputs or parameters");
    }
    if (model_direction(&c->m, du, dp, dk, dy) != OK) {
      return not_computed(c, where);
    }
    out[j] = 0.0;
    for (i = 0; i < nu; i++) {
      double value;
      if (!read_direction(unknown[i], dk, dy, &value)) {
        return fmu_report(c, ERROR, where, "unknowns must be outputs or derivatives of states");
      }
      out[j] += seed[i] * value;
    }
  }
  return OK;
}

int fmu_save(Fmu *c, void **state, void *(*allocate)(size_t, size_t), const char *where)
{
  Saved *saved = *state ? *state : allocate(1, sizeof *saved);
  if (!saved) {
    return fmu_report(c, ERROR, where, "there is no memory left");
  }
  saved->size = sizeof *saved;
  saved->n = c->m.n;
#if EVENTS
  events_set_addresses(&saved->n, 0);
#endif
  *state = saved;
  return OK;
}

int fmu_restore(Fmu *c, const void *state, const char *where)
{
  const Saved *saved = state;
  if (!saved || saved->size != sizeof *saved) {
    return fmu_report(c, ERROR, where, "this is no state of this FMU");
  }
  c->m.n = saved->n;
#if EVENTS
  events_set_addresses(&c->m.n, 1);
#endif
  memset(c->m.delta, 0, sizeof c->m.delta);
  model_forget(&c->m, !c->co_simulation);
  return OK;
}
