/* A mechanism as one instance: its numbers, what is known of them, and the functions of model.c. */
#ifndef TORSOR_MODEL_H
#define TORSOR_MODEL_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "equations.h"

/* Statuses of FMI; those of versions 2 and 3 have the same numbers. */
enum { OK, WARNING, DISCARD, ERROR, FATAL };

/* Everything that the further run depends on. A state of the FMU is a copy of this. */
typedef struct {
  double t;
  double x[NX];         /* configuration, velocities, work, own states */
  double reference[NX]; /* x = reference · exp(u) */
  double u[NS + 1];     /* continuous states */
  double p[NP];         /* parameters, inputs, memories, counted turns */
  double passed[2];     /* the last breakpoint in time: from where to where it was passed */
  int x_known;          /* whether x belongs to u; else it follows from u */
} Numbers;

typedef struct {
  Numbers n;
  double F[NF], xdot[NA], lam[NL]; /* factors, rates and multipliers at x */
  double delta[NA];                /* from reference · exp(u) to x, by the projection */
  double y[NY + 1];                /* outputs */
  int factored, rated, evaluated;  /* whether F, rates and outputs belong to x */
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
void model_direction(Model *m, const double *du, const double *dp, double *dk, double *dy);

#endif
