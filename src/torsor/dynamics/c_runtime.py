"""The C code around the kernels of an exported model: its state, the step and the projection. `@NAME@` is filled in."""

RUNTIME = """/* @MODEL@: equations of motion in C99, written by torsor. Formulation: @FORMULATION@, method: @METHOD@.
 *
 *   @NAME@ m;
 *   @NAME@_init(&m);                     consistent start
 *   @NAME@_accelerations(&m, a);         time derivatives of the velocities
 *   @NAME@_outputs(&m, y);               signals of the model
 *   @NAME@_step(&m, @PREFIX@_STEP);      one step; 0: done, 1: not finite, 2: the constraints cannot be satisfied
 *
 * Parameters and inputs are m.p[...]: change them between steps. Compile with -std=c99 and link with -lm.
 * Velocities m.x[@PREFIX@_NQ + k]:
@COORDINATES@
 */
#include <math.h>
#include <string.h>

#define @PREFIX@_NX @NX@ /* state: configuration, velocities, work, own states */
#define @PREFIX@_NQ @NQ@
#define @PREFIX@_NV @NV@
#define @PREFIX@_NP @NP@
#define @PREFIX@_NY @NY@
#define @PREFIX@_STEP @STEP@
@PARAMETERS@
@OUTPUTS@

typedef struct {
  double t;
  double x[@NX@];
  double p[@NP@];
} @NAME@;

void @NAME@_init(@NAME@ *m);
int @NAME@_accelerations(const @NAME@ *m, double *a);
int @NAME@_outputs(const @NAME@ *m, double *y);
int @NAME@_step(@NAME@ *m, double h);

@KERNELS@
static int @NAME@_finite_(const double *x, int n)
{
  int i;
  for (i = 0; i < n; i++) {
    if (!(x[i] - x[i] == 0.0)) {
      return 0;
    }
  }
  return 1;
}

static void @NAME@_full_rate_(double t, const double *x, const double *p, double *F, double *xdot, double *lam)
{
  static const double gains[4] = {0.0, 0.0, 0.0, 0.0};
  @NAME@_factor_(&t, x, p, F);
  @NAME@_rate_(&t, x, p, F, gains, xdot, lam);
}

void @NAME@_init(@NAME@ *m)
{
  static const double x[@NX@] = {@X0@};
  static const double p[@NP@] = {@P0@};
  m->t = @TIME@;
  memcpy(m->x, x, sizeof x);
  memcpy(m->p, p, sizeof p);
}

int @NAME@_accelerations(const @NAME@ *m, double *a)
{
  double F[@NF@], xdot[@NA@], lam[@NL@];
  int i;
  @NAME@_full_rate_(m->t, m->x, m->p, F, xdot, lam);
  for (i = 0; i < @NV@; i++) {
    a[i] = xdot[@NV@ + i];
  }
  return @NAME@_finite_(a, @NV@) ? 0 : 1;
}

int @NAME@_outputs(const @NAME@ *m, double *y)
{
  double F[@NF@], xdot[@NA@], lam[@NL@];
  @NAME@_full_rate_(m->t, m->x, m->p, F, xdot, lam);
  @NAME@_outputs_(&m->t, m->x, m->p, xdot, lam, y);
  return @NAME@_finite_(y, @NY@) ? 0 : 1;
}

/* Least squares onto the constraints: positions by simplified Newton steps, then velocities. */
static int @NAME@_project_(double t, double *x, const double *p)
{
  double F[@NF@], y[@NX@], g[@NG@ + 1];
  double limit = @POSITION@;
  int k, changed = 0;
  @NAME@_factor_(&t, x, p, F);
  for (k = 0; k < 20; k++) {
    @NAME@_positions_(&t, x, p, F, y, g);
    if (!@NAME@_finite_(g + @NG@, 1)) {
      return 2;
    }
    if (g[@NG@] <= limit) {
      break;
    }
    if (k > 4) {
      @NAME@_factor_(&t, x, p, F);
      @NAME@_positions_(&t, x, p, F, y, g);
    }
    memcpy(x, y, sizeof y);
    changed = 1;
    if (g[@NG@] <= 1e7 * limit) {
      break;
    }
  }
  if (k == 20) {
    return 2;
  }
  if (changed) {
    @NAME@_factor_(&t, x, p, F);
  }
  limit = @VELOCITY@;
  for (k = 0; k < 3; k++) {
    @NAME@_velocities_(&t, x, p, F, y, g);
    if (g[@NG@] <= limit) {
      break;
    }
    memcpy(x, y, sizeof y);
    if (g[@NG@] <= 1e7 * limit) {
      break;
    }
  }
  return 0;
}

int @NAME@_step(@NAME@ *m, double h)
{
  static const double A[@STAGES@ * @STAGES@] = {@A@};
  static const double b[@STAGES@] = {@B@};
  static const double c[@STAGES@] = {@C@};
  double K[@STAGES@][@NA@], F[@NF@], lam[@NL@], xdot[@NA@], u[@NA@], y[@NX@], turn[@NT@ + 1];
  double t;
  int i, j, n;
  @NAME@_full_rate_(m->t, m->x, m->p, F, K[0], lam);
  for (i = 1; i <= @STAGES@; i++) {
    const double *weights = i < @STAGES@ ? A + i * @STAGES@ : b;
    for (n = 0; n < @NA@; n++) {
      double sum = weights[0] * K[0][n];
      for (j = 1; j < i; j++) {
        sum = sum + weights[j] * K[j][n];
      }
      u[n] = h * sum;
    }
    if (i < @STAGES@) {
      @NAME@_retract_(m->x, u, y);
      @NAME@_full_rate_(m->t + c[i] * h, y, m->p, F, xdot, lam);
      @NAME@_differential_(u, xdot, K[i]);
    }
  }
  t = m->t + h;
  @NAME@_advance_(m->x, u, y);
  if (!@NAME@_finite_(y, @NX@)) {
    return 1;
  }
  if (@NG@ > 0 && @NAME@_project_(t, y, m->p)) {
    return 2;
  }
  @NAME@_turns_(&t, y, m->p, turn);
  memcpy(m->x, y, sizeof y);
  for (n = 0; n < @NT@; n++) {
    m->p[@NP@ - @NT@ + n] = turn[n];
  }
  m->t = t;
  return 0;
}
"""
