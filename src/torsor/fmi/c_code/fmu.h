/* An FMU on top of a model: modes, variables by value reference, messages. Both versions of FMI are thin layers over this. */
#ifndef TORSOR_FMU_H
#define TORSOR_FMU_H

#include <stdio.h>
#include <stdlib.h>

#include "model.h"

#if defined _WIN32 || defined __CYGWIN__
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum {
  INSTANTIATED = 1,
  INITIALIZATION = 2,
  EVENT_MODE = 4,
  CONTINUOUS = 8,
  STEPPING = 16,
  TERMINATED = 32,
  FAILED = 64,
  RUNNING = EVENT_MODE | CONTINUOUS | STEPPING,
  ANY = 127
};

typedef struct {
  unsigned size;
  Numbers n;
} Saved;

typedef struct Fmu Fmu;
struct Fmu {
  Model m;
  int mode, co_simulation, changed, new_reference, logs_errors;
  double start_time, time_at_events;
  void (*send)(const Fmu *c, int status, const char *category, const char *text); /* of the version of FMI */
  void (*release)(void *);
  void *environment, *logger;
  char name[128];
};

int fmu_report(Fmu *c, int status, const char *where, const char *text);
int fmu_allowed(Fmu *c, int modes, const char *where);
void fmu_begin(Fmu *c, const char *name, int co_simulation);
int fmu_get(Fmu *c, const unsigned *vr, size_t n, double *values, const char *where);
int fmu_set(Fmu *c, const unsigned *vr, size_t n, const double *values, const char *where);
int fmu_enter_initialization(Fmu *c, double start_time, const char *where);
int fmu_exit_initialization(Fmu *c, const char *where);
int fmu_reset(Fmu *c);
int fmu_do_step(Fmu *c, double from, double length, const char *where);
int fmu_set_time(Fmu *c, double t, const char *where);
int fmu_set_states(Fmu *c, const double *u, size_t n, const char *where);
int fmu_get_states(Fmu *c, double *u, size_t n, const char *where);
int fmu_get_derivatives(Fmu *c, double *k, size_t n, const char *where);
int fmu_get_indicators(Fmu *c, double *z, size_t n, const char *where);
int fmu_completed_step(Fmu *c, int *events, const char *where);
int fmu_update_discrete(Fmu *c, int *values_changed, double *next, const char *where);
int fmu_direction(Fmu *c, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk, const double *seed, double *out,
                  const char *where);
int fmu_adjoint(Fmu *c, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk, const double *seed, double *out,
                const char *where);
int fmu_save(Fmu *c, void **state, void *(*allocate)(size_t, size_t), const char *where);
int fmu_restore(Fmu *c, const void *state, const char *where);
int fmu_refuse(Fmu *c, size_t n, const char *where);

#endif
