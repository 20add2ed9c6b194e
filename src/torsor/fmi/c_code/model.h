/* A mechanism as one instance: its numbers, what is known of them, and the functions of model.c. */
#ifndef TORSOR_MODEL_H
#define TORSOR_MODEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "equations.h"

/* Statuses of FMI; those of versions 2 and 3 have the same numbers. */
enum { OK, WARNING, DISCARD, ERROR, FATAL };

/* A word of the records of a run with events. */
typedef union {
  uint64_t w;
  int64_t i;
  double d;
} Word;

/* Everything that the further run depends on. A state of the FMU is a copy of this. */
typedef struct {
  double t;
  double x[NX];         /* configuration, velocities, work, own states */
  double reference[NX]; /* x = reference · exp(u) */
  double u[NS + 1];     /* continuous states */
  double p[NP];         /* parameters, inputs, memories, counted turns */
  double passed[2];     /* the last breakpoint in time: from where to where it was passed */
  int x_known;          /* whether x belongs to u; else it follows from u */
  int structure;        /* whose kernels are in use */
  int ended;            /* whether an event has ended the run */
#if EVENTS
  Word run[WORDS]; /* records of the run, which handles the events */
#endif
} Numbers;

typedef struct {
  Numbers n;
  double F[NF], xdot[NA], lam[NL]; /* factors, rates and multipliers at x */
  double delta[NA];                /* from reference · exp(u) to x, by the projection */
  double y[NY + 1];                /* outputs */
  int factored, rated, evaluated;  /* whether F, rates and outputs belong to x */
  const char *trouble;             /* why events cannot be handled */
  double K[STAGES][NA], step_x[NX], step_y[NX], step_u[NA]; /* stages of a step */
} Model;

void model_reset(Model *m);
void model_forget(Model *m, int state_changed);
int model_locate(Model *m);
int model_rates(Model *m);
int model_derivatives(Model *m, double *derivatives);
int model_outputs(Model *m);
int model_advance(Model *m, double goal);
double model_pass_breakpoint(Model *m);
int model_needs_new_reference(const Model *m);
void model_take_new_reference(Model *m);
int model_count_turns(Model *m);
int model_direction(Model *m, const double *du, const double *dp, double *dk, double *dy);

/* Events: events.c */
void events_begin(Model *m);
void events_set_addresses(Numbers *n, int present);
int events_start(Model *m);
int events_advance(Model *m, double goal);
int events_happen(Model *m, int *changed);
int events_indicate(Model *m, double *z);
int events_accept_step(Model *m, int *due);
double events_next_tick(const Model *m);

#endif
