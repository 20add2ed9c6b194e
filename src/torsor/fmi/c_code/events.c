/* Events of a model: the loops of torsor's own runs (loops.h), working on a copy of the records of a run.
 *
 * The records are one block of words (Numbers.run). Time, state and p are copied to it before a loop is called, and back after it.
 * Model exchange tells the loops about the steps that a solver takes: indicators, ends of steps, and instants at which events
 * happen. */
#include "model.h"

#if EVENTS

#include "loops.h"

enum {
  /* statuses of the loops: methods/status_codes.py and prepare/event_codes.py */
  RUNNING_ON = 0,
  FINISHED = 1,
  LOG_IS_FULL = 11,
  HAS_ENDED = 16,
  ATTEMPTS = 1 << 20, /* steps in one call of a loop */
  INSTANTS = 10000    /* calls of a loop for one instant */
};

static const char *const TROUBLES[] = {
    "", "", "the step has no finite result: take a shorter step", "the step is too small",
    "the constraints cannot be satisfied: take a shorter step", "constraints become dependent", "", "", "the step was not solved", "",
    "constraints depend on each other there in a way that was not foreseen", "",
    "a condition of an event, or a value that it sets, is not a number",
    "events fire again and again without time passing: their conditions call for each other",
    "an event fires at ever shorter intervals",
    "an event engages constraints that are far from satisfied", "",
    "a contact or limit is violated where it is to act: locate state events more exactly, or start where its gap is not negative",
    "restitution must lie between 0 and 1", "it cannot be decided which dry friction sticks and which slides",
    "the condition of an event varies too fast for the steps: take shorter ones", "", "", "", "",
};

static int fails(Model *m, int64_t status)
{
  const int known = status >= 0 && status < (int64_t)(sizeof TROUBLES / sizeof *TROUBLES) && TROUBLES[status][0];
  m->trouble = known ? TROUBLES[status] : "an event cannot be handled";
  return ERROR;
}

/* The addresses in the records of a run; present 0: zeros, so that equal states are equal bytes. */
void events_set_addresses(Numbers *n, int present)
{
  size_t k;
  for (k = 0; k < sizeof ADDRESSES / sizeof *ADDRESSES; k++) {
    n->run[ADDRESSES[k][0]].w = present ? (uint64_t)(uintptr_t)&n->run[ADDRESSES[k][1]] : 0;
  }
  for (k = 0; k < sizeof CODE / sizeof *CODE; k++) {
    n->run[CODE_PLACES[k]].w = present ? (uint64_t)(uintptr_t)CODE[k] : 0;
  }
}

/* The records at the start of a run. */
void events_begin(Model *m)
{
  size_t k;
  memset(m->n.run, 0, sizeof m->n.run);
  for (k = 0; k < sizeof START_WORDS / sizeof *START_WORDS; k++) {
    m->n.run[START_PLACES[k]].w = START_WORDS[k];
  }
  events_set_addresses(&m->n, 1);
  m->n.structure = (int)m->n.run[RUN_STRUCTURE].i;
}

static Word *state_of_run(Model *m)
{
  return m->n.run + RUN_XS + m->n.run[RUN_AT].i * NX;
}

/* Copy time, state and p to the records. */
static void to_run(Model *m)
{
  Word *run = m->n.run, *x = state_of_run(m);
  if (memcmp(x, m->n.x, sizeof m->n.x) != 0 || memcmp(run + RUN_P, m->n.p, sizeof m->n.p) != 0 || run[RUN_TIME].d != m->n.t) {
    memcpy(x, m->n.x, sizeof m->n.x);
    memcpy(run + RUN_P, m->n.p, sizeof m->n.p);
    run[RUN_TIME].d = m->n.t;
    run[RUN_FRESH].i = run[RUN_RATED].i = run[RUN_PAST].i = 0;
  }
}

/* Copy them back. Returns whether state or p have changed. */
static int from_run(Model *m)
{
  Word *run = m->n.run, *x = state_of_run(m);
  const int changed = memcmp(x, m->n.x, sizeof m->n.x) != 0 || memcmp(run + RUN_P, m->n.p, sizeof m->n.p) != 0 ||
                      m->n.structure != (int)run[RUN_STRUCTURE].i;
  memcpy(m->n.x, x, sizeof m->n.x);
  memcpy(m->n.p, run + RUN_P, sizeof m->n.p);
  m->n.t = run[RUN_TIME].d;
  m->n.structure = (int)run[RUN_STRUCTURE].i;
  m->n.x_known = 1;
  m->factored = m->rated = m->evaluated = 0;
  return changed;
}

static int64_t march(Model *m, int64_t budget)
{
  int64_t status = 0;
  char *error = NULL;
  m->n.run[RUN_LOGGED].i = 0;
  march_events((char *)&status, (char *)&error, (uint64_t)(uintptr_t)m->n.run, (uint64_t)budget);
  return status;
}

/* Let everything happen that is due at this instant. */
static int64_t happen(Model *m, int64_t budget)
{
  int k;
  for (k = 0; k < INSTANTS; k++) {
    const int64_t status = march(m, budget);
    if (status != RUNNING_ON && status != LOG_IS_FULL) {
      return status;
    }
    if (status == RUNNING_ON && (budget == 0 ? m->n.run[RUN_BEGINNING].i == 0 : m->n.run[RUN_PENDING].i == 0)) {
      return status;
    }
  }
  return 13;
}

static int ends(Model *m, int64_t status)
{
  if (status == HAS_ENDED) {
    m->n.ended = 1;
    status = RUNNING_ON;
  }
  return status == RUNNING_ON ? OK : fails(m, status);
}

/* The start of a run: what rests on each other closes, and friction sticks where nothing slides. */
int events_start(Model *m)
{
  int64_t status = 0;
  char *error = NULL;
  to_run(m);
#if FRICTIONS
  decide_friction_at_start((char *)&status, (char *)&error, (uint64_t)(uintptr_t)m->n.run);
#else
  (void)decide_friction_at_start;
  (void)error;
#endif
  status = happen(m, 0);
  if (status == RUNNING_ON) {
    status = happen(m, -1);
  }
  if (ends(m, status) != OK) {
    return ERROR;
  }
  from_run(m);
  return OK;
}

/* Inputs and parameters that have changed may make events happen. */
static void look_at_inputs(Model *m)
{
  if (memcmp(m->n.run + RUN_P, m->n.p, sizeof m->n.p) != 0) {
    m->n.run[RUN_PENDING].i = m->n.run[RUN_PASSES].i = 1;
  }
}

/* Co-simulation: steps and events up to the goal, or to the event that ends the run. */
int events_advance(Model *m, double goal)
{
  int64_t status;
  look_at_inputs(m);
  to_run(m);
  m->n.run[RUN_END].d = goal;
  do {
    status = march(m, ATTEMPTS);
  } while (status == RUNNING_ON || status == LOG_IS_FULL);
  if (status == FINISHED) {
    status = RUNNING_ON;
  }
  if (ends(m, status) != OK) {
    return ERROR;
  }
  from_run(m);
  return OK;
}

/* Model exchange: everything happens that is due at the present state. */
int events_happen(Model *m, int *changed)
{
  to_run(m);
  m->n.run[RUN_PENDING].i = m->n.run[RUN_PASSES].i = 1;
  if (ends(m, happen(m, -1)) != OK) {
    return ERROR;
  }
  *changed = from_run(m);
  return OK;
}

int events_indicate(Model *m, double *z)
{
  int64_t status = 0;
  char *error = NULL;
  to_run(m);
  indicate((char *)&status, (char *)&error, (uint64_t)(uintptr_t)m->n.run);
  if (status != RUNNING_ON) {
    return fails(m, status);
  }
  memcpy(z, m->n.run + RUN_INDICATORS, NZ * sizeof *z);
  return OK;
}

/* Model exchange: a step of the solver has ended at the present state. */
int events_accept_step(Model *m, int *due)
{
  int64_t status = 0;
  char *error = NULL;
  to_run(m);
  accept_step((char *)&status, (char *)&error, (uint64_t)(uintptr_t)m->n.run);
  if (status != RUNNING_ON) {
    return fails(m, status);
  }
  from_run(m);
  *due = m->n.run[RUN_PENDING].i == 1;
  return OK;
}

/* When the next clock rings, after the present time. */
double events_next_tick(const Model *m)
{
  double found = HUGE_VAL;
  int k;
  for (k = 0; k < CLOCKS; k++) {
    const double *clock = CLOCK[k];
    double n = m->n.p[(int)clock[3]], tick = (n + clock[1]) * clock[0] + clock[2];
    for (; tick <= m->n.t; n++) {
      tick = (n + 1.0 + clock[1]) * clock[0] + clock[2];
    }
    found = tick < found ? tick : found;
  }
  return found;
}

#endif
