/* Small FMUs for tests: one model in one binary, for FMI 2 or 3 (-DVERSION), with both interfaces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOUNCE 1
#define LAG 2
#define POL 3
#define FEED 4
#define STAIR 5
#define BAD 6

typedef struct {
  double t, x[4], u[4], p[4], y[4], next;
  int discrete, count;
} State;

typedef struct {
  State s;
  void (*log)(void);
} Instance;

/* the models: numbers of states, outputs, inputs, event indicators; value references: 0.. x, 10.. dx, 20.. u, 30.. y, 40.. p */
#if MODEL == BOUNCE
enum { NX = 2, NZ = 1 };
static void start(State *s) { s->x[0] = s->p[0] = 1.0; s->p[1] = 0.8; s->p[2] = 9.81; }
static void rate(const State *s, double *d) { d[0] = s->x[1]; d[1] = -s->p[2] + s->u[0]; }
static void output(State *s) { s->y[0] = s->x[0]; s->y[1] = s->count; }
static void indicate(const State *s, double *z) { z[0] = s->x[0]; }
static int event(State *s)
{
  if (s->x[0] <= 0.0 && s->x[1] < 0.0) {
    s->x[0] = 0.0; s->x[1] = -s->p[1] * s->x[1]; s->count++;
    return 1;
  }
  return 0;
}
#elif MODEL == LAG
enum { NX = 1, NZ = 0 };
static void start(State *s) { s->p[0] = 0.5; }
static void rate(const State *s, double *d) { d[0] = (s->u[0] - s->x[0]) / s->p[0]; }
static void output(State *s) { s->y[0] = s->x[0]; }
static void indicate(const State *s, double *z) { (void)s; (void)z; }
static int event(State *s) { (void)s; return 0; }
#elif MODEL == POL
enum { NX = 2, NZ = 0 };
static void start(State *s) { s->x[0] = 2.0; s->p[0] = 1.0; }
static void rate(const State *s, double *d)
{
  d[0] = s->x[1]; d[1] = s->p[0] * (1 - s->x[0] * s->x[0]) * s->x[1] - s->x[0];
}
static void output(State *s) { s->y[0] = s->x[0]; }
static void indicate(const State *s, double *z) { (void)s; (void)z; }
static int event(State *s) { (void)s; return 0; }
#elif MODEL == FEED
enum { NX = 0, NZ = 0 };
static void start(State *s) { s->p[0] = -3.0; }
static void rate(const State *s, double *d) { (void)s; (void)d; }
static void output(State *s) { s->y[0] = s->p[0] * s->u[0] + s->u[1]; s->y[1] = s->t; }
static void indicate(const State *s, double *z) { (void)s; (void)z; }
static int event(State *s) { (void)s; return 0; }
#elif MODEL == STAIR
enum { NX = 0, NZ = 0 };
static void start(State *s) { s->p[0] = 0.25; s->next = s->p[0]; }
static void rate(const State *s, double *d) { (void)s; (void)d; }
static void output(State *s) { s->y[0] = s->count; }
static void indicate(const State *s, double *z) { (void)s; (void)z; }
static int event(State *s)
{
  if (s->t >= s->next - 1e-12) { s->count++; s->next = (s->count + 1) * s->p[0]; }
  return 0;
}
#else /* a bad one: p[0] says how */
enum { NX = 1, NZ = 0 };
static void start(State *s) { s->x[0] = 1.0; }
static void rate(const State *s, double *d) { d[0] = s->p[0] == 2 && s->t > 0.3 ? NAN : -s->x[0]; }
static void output(State *s) { s->y[0] = s->p[0] == 3 && s->t > 0.3 ? NAN : s->x[0]; }
static void indicate(const State *s, double *z) { (void)s; (void)z; }
static int event(State *s) { (void)s; return 0; }
#endif

static int failing(const State *s)
{
#if MODEL == BAD
  if (s->p[0] == 1 && s->t > 0.3) { return 3; }
  if (s->p[0] == 5 && s->t > 0.3) { return 4; }
  while (s->p[0] == 4 && s->t > 0.3) { usleep(1000); }
#endif
  (void)s;
  return 0;
}

static double *place(State *s, unsigned r)
{
  static double d[4];
  if (r < 10) { return &s->x[r]; }
  if (r < 20) { rate(s, d); return &d[r - 10]; }
  if (r < 30) { return &s->u[r - 20]; }
  if (r < 40) { output(s); return &s->y[r - 30]; }
  return &s->p[r - 40];
}

static void rk4(State *s, double h)
{
  double k1[4], k2[4], k3[4], k4[4], x[4];
  const double t = s->t;
  int i;
  memcpy(x, s->x, sizeof x);
  rate(s, k1);
  s->t = t + h / 2;
  for (i = 0; i < NX; i++) { s->x[i] = x[i] + h / 2 * k1[i]; }
  rate(s, k2);
  for (i = 0; i < NX; i++) { s->x[i] = x[i] + h / 2 * k2[i]; }
  rate(s, k3);
  s->t = t + h;
  for (i = 0; i < NX; i++) { s->x[i] = x[i] + h * k3[i]; }
  rate(s, k4);
  for (i = 0; i < NX; i++) { s->x[i] = x[i] + h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]); }
}

/* a step of co-simulation: small steps, an event bisected */
static int advance(State *s, double t, double h)
{
  const double goal = t + h;
  while (s->t < goal - 1e-13) {
    double step = fmin(1e-3, goal - s->t);
    State before;
    if (s->next > s->t + 1e-12) { step = fmin(step, s->next - s->t); }
    before = *s;
    rk4(s, step);
    if (NZ > 0 && s->x[0] < 0 && before.x[0] >= 0 && (before.x[0] > 0 || before.x[1] < 0)) {
      double low = 0, high = step;
      int k;
      for (k = 0; k < 60; k++) {
        const double middle = (low + high) / 2;
        *s = before; rk4(s, middle);
        if (s->x[0] < 0) { high = middle; } else { low = middle; }
      }
      *s = before; rk4(s, high);
    }
    event(s);
    if (failing(s)) { return failing(s); }
  }
  s->t = goal;
  return 0;
}

#if VERSION == 2
#include "fmi2Functions.h"
#define F(name) fmi2##name
#define C fmi2Component
#define ST fmi2Status
#define SIZE size_t
#define ARRAY(type) const fmi2ValueReference r[], size_t n, type v[]
#define REFS r[k]
#else
#include "fmi3Functions.h"
#define F(name) fmi3##name
#define C fmi3Instance
#define ST fmi3Status
#define ARRAY(type) const fmi3ValueReference r[], size_t n, type v[], size_t m
#define REFS r[k]
#endif
#define S (&((Instance *)c)->s)

static void *make(void)
{
  Instance *made = calloc(1, sizeof *made);
  made->s.next = 1e300;
  start(&made->s);
  return made;
}

#if VERSION == 2
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
ST fmi2SetDebugLogging(C c, fmi2Boolean on, size_t n, const fmi2String k[]) { (void)c; (void)on; (void)n; (void)k; return 0; }
C fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String where, const fmi2CallbackFunctions *f,
  fmi2Boolean visible, fmi2Boolean log)
{
  (void)name; (void)type; (void)where; (void)f; (void)visible; (void)log;
  return strcmp(token, TOKEN) ? NULL : make();
}
void fmi2FreeInstance(C c) { free(c); }
ST fmi2SetupExperiment(C c, fmi2Boolean a, fmi2Real b, fmi2Real t, fmi2Boolean d, fmi2Real e) { (void)a; (void)b; (void)d; (void)e; S->t = t; return 0; }
ST fmi2EnterInitializationMode(C c) { (void)c; return 0; }
ST fmi2SetReal(C c, const fmi2ValueReference r[], size_t n, const fmi2Real v[]) { size_t k; for (k = 0; k < n; k++) { *place(S, r[k]) = v[k]; } return 0; }
ST fmi2GetReal(C c, ARRAY(fmi2Real)) { size_t k; for (k = 0; k < n; k++) { v[k] = *place(S, r[k]); } return 0; }
ST fmi2SetInteger(C c, const fmi2ValueReference r[], size_t n, const fmi2Integer v[]) { size_t k; for (k = 0; k < n; k++) { *place(S, r[k]) = v[k]; } return 0; }
ST fmi2GetInteger(C c, ARRAY(fmi2Integer)) { size_t k; for (k = 0; k < n; k++) { v[k] = (int)*place(S, r[k]); } return 0; }
ST fmi2SetBoolean(C c, const fmi2ValueReference r[], size_t n, const fmi2Boolean v[]) { return fmi2SetInteger(c, r, n, v); }
ST fmi2GetBoolean(C c, ARRAY(fmi2Boolean)) { return fmi2GetInteger(c, r, n, v); }
ST fmi2SetString(C c, const fmi2ValueReference r[], size_t n, const fmi2String v[]) { (void)c; (void)r; (void)n; (void)v; return 3; }
ST fmi2GetString(C c, ARRAY(fmi2String)) { (void)c; (void)r; (void)n; (void)v; return 3; }
ST fmi2GetFMUstate(C c, fmi2FMUstate *f) { State *kept = *f ? *f : malloc(sizeof *kept); *kept = *S; *f = kept; return 0; }
ST fmi2SetFMUstate(C c, fmi2FMUstate f) { *S = *(State *)f; return 0; }
ST fmi2FreeFMUstate(C c, fmi2FMUstate *f) { (void)c; free(*f); *f = NULL; return 0; }
ST fmi2SerializedFMUstateSize(C c, fmi2FMUstate f, size_t *n) { (void)c; (void)f; *n = sizeof(State); return 0; }
ST fmi2SerializeFMUstate(C c, fmi2FMUstate f, fmi2Byte b[], size_t n) { (void)c; memcpy(b, f, n); return 0; }
ST fmi2DeSerializeFMUstate(C c, const fmi2Byte b[], size_t n, fmi2FMUstate *f) { (void)c; *f = malloc(n); memcpy(*f, b, n); return 0; }
ST fmi2NewDiscreteStates(C c, fmi2EventInfo *i)
{
  memset(i, 0, sizeof *i);
  i->valuesOfContinuousStatesChanged = event(S);
  i->nextEventTimeDefined = S->next < 1e299; i->nextEventTime = S->next;
  return 0;
}
ST fmi2CompletedIntegratorStep(C c, fmi2Boolean n, fmi2Boolean *e, fmi2Boolean *t) { (void)c; (void)n; *e = *t = 0; return 0; }
ST fmi2GetDerivatives(C c, fmi2Real d[], size_t n) { (void)n; rate(S, d); return failing(S); }
ST fmi2DoStep(C c, fmi2Real t, fmi2Real h, fmi2Boolean final) { (void)final; return advance(S, t, h); }
ST fmi2Terminate(C c) { (void)c; return 0; }
ST fmi2Reset(C c) { start(S); return 0; }
#else
C fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String where, fmi3Boolean visible, fmi3Boolean log, fmi3Boolean e,
  fmi3Boolean early, const fmi3ValueReference r[], size_t n, fmi3InstanceEnvironment env, fmi3LogMessageCallback l, fmi3IntermediateUpdateCallback u)
{
  (void)name; (void)where; (void)visible; (void)log; (void)e; (void)early; (void)r; (void)n; (void)env; (void)l; (void)u;
  return strcmp(token, TOKEN) ? NULL : make();
}
C fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String where, fmi3Boolean visible, fmi3Boolean log,
  fmi3InstanceEnvironment env, fmi3LogMessageCallback l)
{
  (void)name; (void)where; (void)visible; (void)log; (void)env; (void)l;
  return strcmp(token, TOKEN) ? NULL : make();
}
void fmi3FreeInstance(C c) { free(c); }
ST fmi3EnterInitializationMode(C c, fmi3Boolean a, fmi3Float64 b, fmi3Float64 t, fmi3Boolean d, fmi3Float64 e) { (void)a; (void)b; (void)d; (void)e; S->t = t; return 0; }
ST fmi3SetFloat64(C c, const fmi3ValueReference r[], size_t n, const fmi3Float64 v[], size_t m) { size_t k; (void)m; for (k = 0; k < n; k++) { *place(S, r[k]) = v[k]; } return 0; }
ST fmi3GetFloat64(C c, ARRAY(fmi3Float64)) { size_t k; (void)m; for (k = 0; k < n; k++) { v[k] = *place(S, r[k]); } return 0; }
ST fmi3SetInt32(C c, const fmi3ValueReference r[], size_t n, const fmi3Int32 v[], size_t m) { size_t k; (void)m; for (k = 0; k < n; k++) { *place(S, r[k]) = v[k]; } return 0; }
ST fmi3GetInt32(C c, ARRAY(fmi3Int32)) { size_t k; (void)m; for (k = 0; k < n; k++) { v[k] = (int)*place(S, r[k]); } return 0; }
ST fmi3GetFMUState(C c, fmi3FMUState *f) { State *kept = *f ? *f : malloc(sizeof *kept); *kept = *S; *f = kept; return 0; }
ST fmi3SetFMUState(C c, fmi3FMUState f) { *S = *(State *)f; return 0; }
ST fmi3FreeFMUState(C c, fmi3FMUState *f) { (void)c; free(*f); *f = NULL; return 0; }
ST fmi3SerializedFMUStateSize(C c, fmi3FMUState f, size_t *n) { (void)c; (void)f; *n = sizeof(State); return 0; }
ST fmi3SerializeFMUState(C c, fmi3FMUState f, fmi3Byte b[], size_t n) { (void)c; memcpy(b, f, n); return 0; }
ST fmi3DeserializeFMUState(C c, const fmi3Byte b[], size_t n, fmi3FMUState *f) { (void)c; *f = malloc(n); memcpy(*f, b, n); return 0; }
ST fmi3UpdateDiscreteStates(C c, fmi3Boolean *more, fmi3Boolean *end, fmi3Boolean *nominal, fmi3Boolean *states, fmi3Boolean *timed, fmi3Float64 *next)
{
  *more = *end = *nominal = 0;
  *states = event(S);
  *timed = S->next < 1e299; *next = S->next;
  return 0;
}
ST fmi3CompletedIntegratorStep(C c, fmi3Boolean n, fmi3Boolean *e, fmi3Boolean *t) { (void)c; (void)n; *e = *t = 0; return 0; }
ST fmi3GetContinuousStateDerivatives(C c, fmi3Float64 d[], size_t n) { (void)n; rate(S, d); return failing(S); }
ST fmi3GetNumberOfEventIndicators(C c, size_t *n) { (void)c; *n = NZ; return 0; }
ST fmi3DoStep(C c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean final, fmi3Boolean *e, fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *last)
{
  (void)final; *e = *end = *early = 0; *last = t + h;
  return advance(S, t, h);
}
ST fmi3Terminate(C c) { (void)c; return 0; }
#endif
ST F(ExitInitializationMode)(C c) { event(S); return 0; }
ST F(EnterEventMode)(C c) { (void)c; return 0; }
ST F(EnterContinuousTimeMode)(C c) { (void)c; return 0; }
ST F(SetTime)(C c, double t) { S->t = t; return 0; }
ST F(SetContinuousStates)(C c, const double x[], size_t n) { memcpy(S->x, x, n * sizeof *x); return 0; }
ST F(GetContinuousStates)(C c, double x[], size_t n) { memcpy(x, S->x, n * sizeof *x); return 0; }
ST F(GetEventIndicators)(C c, double z[], size_t n) { (void)n; indicate(S, z); return 0; }
