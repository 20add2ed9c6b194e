/* Equations of motion around the kernels: rates, projection onto the constraints, steps of fixed length.
 *
 * x = reference · exp(u) is the state; u are the continuous states that a solver adds up. Where the group is that of addition
 * the reference is zero, so that u are the coordinates themselves; rotations are rotation vectors about the reference. */
#include "model.h"

#include "kernels.h"

#include "events.c"

static const double NO_GAINS[4] = {0.0, 0.0, 0.0, 0.0};

static int finite_numbers(const double *x, int n)
{
  int i;
  for (i = 0; i < n; i++) {
    if (!(x[i] - x[i] == 0.0)) {
      return 0;
    }
  }
  return 1;
}

/* The algebra of the state has the work at 2 NV, which is no continuous state. */
static void to_algebra(const double *u, double *out)
{
  memcpy(out, u, 2 * NV * sizeof(double));
  out[2 * NV] = 0.0;
  memcpy(out + 2 * NV + 1, u + 2 * NV, (NA - 2 * NV - 1) * sizeof(double));
}

static void from_algebra(const double *k, double *out)
{
  memcpy(out, k, 2 * NV * sizeof(double));
  memcpy(out + 2 * NV, k + 2 * NV + 1, (NA - 2 * NV - 1) * sizeof(double));
}

/* The state that is at hand becomes the reference where the group is no addition. */
void model_take_new_reference(Model *m)
{
  int j;
  memcpy(m->n.reference, m->n.x, sizeof m->n.x);
  m->n.reference[NQ + NV] = 0.0;
  for (j = 0; j < NS; j++) {
    m->n.u[j] = ADDED[j] < 0 ? 0.0 : m->n.x[ADDED[j]];
    if (ADDED[j] >= 0) {
      m->n.reference[ADDED[j]] = 0.0;
    }
  }
  memset(m->delta, 0, sizeof m->delta);
}

void model_reset(Model *m)
{
  m->n.t = START_TIME;
  m->n.passed[0] = m->n.passed[1] = -HUGE_VAL;
  memcpy(m->n.x, START_X, sizeof m->n.x);
  memcpy(m->n.p, START_P, sizeof m->n.p);
  m->n.structure = m->n.ended = 0;
  m->trouble = NULL;
#if EVENTS
  events_begin(m);
#endif
  model_take_new_reference(m);
  m->n.x_known = 1;
  m->factored = m->rated = m->evaluated = 0;
}

/* Time, inputs or parameters were set; state_changed: x has to be computed again from u. */
void model_forget(Model *m, int state_changed)
{
  m->factored = m->rated = m->evaluated = 0;
  if (state_changed) {
    m->n.x_known = 0;
  }
}

/* Least squares onto the constraints: positions by simplified Newton steps, then velocities. Leaves the factor of x in F. */
static int project(int structure, double t, double *x, const double *p, double *F)
{
#if NG > 0
  double y[NX], g[NG + 1];
  double limit = POSITION_TOLERANCE;
  int k, changed = 0;
  kernel_factor(structure, &t, x, p, F);
  for (k = 0; k < 20; k++) {
    kernel_positions(structure, &t, x, p, F, y, g);
    if (!finite_numbers(g + NG, 1)) {
      return DISCARD;
    }
    if (g[NG] <= limit) {
      break;
    }
    if (k > 4) {
      kernel_factor(structure, &t, x, p, F);
      kernel_positions(structure, &t, x, p, F, y, g);
    }
    memcpy(x, y, sizeof y);
    changed = 1;
    if (g[NG] <= 1e7 * limit) {
      break;
    }
  }
  if (k == 20) {
    return DISCARD;
  }
  if (changed) {
    kernel_factor(structure, &t, x, p, F);
  }
  limit = VELOCITY_TOLERANCE;
  for (k = 0; k < 3; k++) {
    kernel_velocities(structure, &t, x, p, F, y, g);
    if (g[NG] <= limit) {
      break;
    }
    memcpy(x, y, sizeof y);
    if (g[NG] <= 1e7 * limit) {
      break;
    }
  }
#else
  (void)structure;
  (void)t;
  (void)x;
  (void)p;
  (void)F;
#endif
  return OK;
}

/* x from u, on the constraints. */
int model_locate(Model *m)
{
  double u[NA], raw[NX];
  if (m->n.x_known) {
    return OK;
  }
  to_algebra(m->n.u, u);
  kernel_retract(m->n.structure, m->n.reference, u, raw);
  if (!finite_numbers(raw, NX)) {
    return DISCARD;
  }
  memcpy(m->n.x, raw, sizeof raw);
  m->factored = m->rated = m->evaluated = 0;
#if NG > 0
  if (project(m->n.structure, m->n.t, m->n.x, m->n.p, m->F) != OK) {
    return DISCARD;
  }
  m->factored = 1;
  kernel_local(m->n.structure, raw, m->n.x, m->delta);
#endif
  m->n.x_known = 1;
  return OK;
}

int model_rates(Model *m)
{
  int status = model_locate(m);
  if (status != OK || m->rated) {
    return status;
  }
  if (!m->factored) {
    kernel_factor(m->n.structure, &m->n.t, m->n.x, m->n.p, m->F);
    m->factored = 1;
  }
  kernel_rate(m->n.structure, &m->n.t, m->n.x, m->n.p, m->F, NO_GAINS, m->xdot, m->lam);
  m->rated = finite_numbers(m->xdot, NA);
  return m->rated ? OK : DISCARD;
}

/* Time derivatives of the continuous states. Where u has left the constraints it returns to them at the rate RETURN_RATE. */
int model_derivatives(Model *m, double *derivatives)
{
  double u[NA], rate[NA], k[NA];
  int i, status = model_rates(m);
  if (status != OK) {
    return status;
  }
  for (i = 0; i < NA; i++) {
    rate[i] = NG > 0 ? m->xdot[i] + RETURN_RATE * m->delta[i] : m->xdot[i];
  }
  to_algebra(m->n.u, u);
  kernel_differential(m->n.structure, u, rate, k);
  from_algebra(k, derivatives);
  return finite_numbers(derivatives, NS) ? OK : DISCARD;
}

int model_outputs(Model *m)
{
  int status = model_rates(m);
  if (status != OK || m->evaluated) {
    return status;
  }
  kernel_outputs(m->n.structure, &m->n.t, m->n.x, m->n.p, m->xdot, m->lam, m->y);
  m->evaluated = finite_numbers(m->y, NY);
  return m->evaluated ? OK : DISCARD;
}

/* Full turns of joint angles are counted where a step has been accepted. */
int model_count_turns(Model *m)
{
#if NT > 0
  int i, status = model_locate(m);
  double turn[NT];
  if (status != OK) {
    return status;
  }
  kernel_turns(m->n.structure, &m->n.t, m->n.x, m->n.p, turn);
  for (i = 0; i < NT; i++) {
    m->n.p[NP - NT + i] = turn[i];
  }
  return OK;
#else
  return model_locate(m);
#endif
}

/* Whether a rotation is so far from its reference that the next ones are to be counted from here. */
int model_needs_new_reference(const Model *m)
{
  int j;
  for (j = 0; j < NV; j++) {
    if (ADDED[j] < 0 && fabs(m->n.u[j]) > LARGEST_ROTATION) {
      return 1;
    }
  }
  return 0;
}

/* Steps end just before a time at which something bends or jumps, and go on just behind it. Returns the next such time. */
double model_pass_breakpoint(Model *m)
{
  int low = 0, high = NB;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (BEHIND[middle] <= m->n.t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < NB && m->n.t >= BREAKS[low]) {
    m->n.passed[0] = BREAKS[low];
    m->n.passed[1] = BEHIND[low];
    m->n.t = BEHIND[low];
    model_forget(m, 0);
    low++;
  }
  return low < NB ? BREAKS[low] : HUGE_VAL;
}

#if !EVENTS

/* h Σ wⱼ Kⱼ: the first rows, then three at a time. */
static void combine(double h, const double *w, int count, double (*K)[NA], double *out)
{
  int j, i, first = (count - 1) % 3 + 1;
  double scale = first == count ? h : 1.0;
  for (i = 0; i < NA; i++) {
    double sum = w[0] * K[0][i];
    for (j = 1; j < first; j++) {
      sum = sum + w[j] * K[j][i];
    }
    out[i] = scale * sum;
  }
  for (; first < count; first += 3) {
    const double a = w[first], b = w[first + 1], c = w[first + 2];
    scale = first + 3 == count ? h : 1.0;
    for (i = 0; i < NA; i++) {
      out[i] = scale * (out[i] + a * K[first][i] + b * K[first + 1][i] + c * K[first + 2][i]);
    }
  }
}

static void evaluate_stage(Model *m, double t, const double *u, double *k)
{
#if FUSED
  kernel_stage(m->n.structure, &t, m->n.x, u, m->n.p, k);
#else
  double xdot[NA];
  kernel_retract(m->n.structure, m->n.x, u, m->step_y);
  kernel_factor(m->n.structure, &t, m->step_y, m->n.p, m->F);
  kernel_rate(m->n.structure, &t, m->step_y, m->n.p, m->F, NO_GAINS, xdot, m->lam);
  kernel_differential(m->n.structure, u, xdot, k);
#endif
}

/* Length of the next step: the distance to the goal in equal parts, none so long that full turns could not be counted. */
static double step_length(Model *m, double goal, double longest, int *last)
{
  double distance = goal - m->n.t, h = STEP < longest ? STEP : longest, parts;
#if NT > 0
  double spin[NT], worst = STEP_ANGLE / h;
  int i;
  kernel_spin(m->n.structure, &m->n.t, m->n.x, m->n.p, spin);
  for (i = 0; i < NT; i++) {
    worst = fabs(spin[i]) > worst ? fabs(spin[i]) : worst;
  }
  h = STEP_ANGLE / worst < h ? STEP_ANGLE / worst : h;
#endif
  parts = ceil(distance / h * (1.0 - STEP_COUNT_EQUAL));
  *last = parts <= 1.0;
  return *last ? distance : distance / parts;
}

static int turns_too_far(Model *m, double t, const double *x, double *turn)
{
#if NT > 0
  int i;
  double worst = 0.0;
  kernel_turns(m->n.structure, &t, x, m->n.p, turn);
  for (i = 0; i < NT; i++) {
    double change = fabs(turn[i] - m->n.p[NP - NT + i]);
    worst = change > worst ? change : worst;
  }
  return worst > STEP_ANGLE_LIMIT;
#else
  (void)m;
  (void)t;
  (void)x;
  (void)turn;
  return 0;
#endif
}

/* One step of the explicit method with projection; `longest` is halved where it has to be repeated. */
static int take_step(Model *m, double goal, double *longest)
{
  double turn[NT + 1], *x1 = m->step_x;
  int i, last, status = model_rates(m);
  double h, now;
  if (status != OK) {
    return ERROR;
  }
  h = step_length(m, goal, *longest, &last);
  now = last ? goal : m->n.t + h;
  memcpy(m->K[0], m->xdot, sizeof m->xdot);
  m->factored = m->rated = m->evaluated = 0;
  for (i = 1; i < STAGES; i++) {
    combine(h, A + i * STAGES, i, m->K, m->step_u);
    evaluate_stage(m, m->n.t + C[i] * h, m->step_u, m->K[i]);
  }
  combine(h, B, STAGES, m->K, m->step_u);
  kernel_advance(m->n.structure, m->n.x, m->step_u, x1);
  if (!finite_numbers(x1, NX)) {
    return ERROR;
  }
  if (turns_too_far(m, now, x1, turn)) {
    *longest = 0.5 * h;
    return OK;
  }
  if (NG > 0) {
    if (project(m->n.structure, now, x1, m->n.p, m->F) != OK) {
      return ERROR;
    }
    m->factored = 1;
  }
  memcpy(m->n.x, x1, sizeof m->n.x);
  for (i = 0; i < NT; i++) {
    m->n.p[NP - NT + i] = turn[i];
  }
  m->n.t = now;
  *longest = HUGE_VAL;
  return OK;
}

#endif

/* Co-simulation: steps up to the goal. */
int model_advance(Model *m, double goal)
{
#if EVENTS
  if (events_advance(m, goal) != OK) {
    return ERROR;
  }
#else
  double longest = HUGE_VAL;
  while (m->n.t < goal) {
    const double next = model_pass_breakpoint(m);
    int status = m->n.t < goal ? take_step(m, next < goal ? next : goal, &longest) : OK;
    if (status != OK) {
      return status;
    }
  }
#endif
  model_take_new_reference(m);
  return OK;
}

#if DERIVATIVES && EVENTS
/* The same where rows of constraints depend on each other: differences of order 2. */
static int difference(Model *m, const double *du, const double *dp, double *dk, double *dy)
{
  const Numbers kept = m->n;
  double k[2][NS + 1], y[2][NY + 1], size = 0.0, h;
  int side, i, status = OK;
  for (i = 0; i < NS; i++) {
    size = fabs(du[i]) > size ? fabs(du[i]) : size;
  }
  for (i = 0; i < NP; i++) {
    size = fabs(dp[i]) > size ? fabs(dp[i]) : size;
  }
  h = 6e-6 / (size > 0.0 ? size : 1.0);
  for (side = 0; side < 2 && status == OK; side++) {
    const double step = side == 0 ? -h : h;
    for (i = 0; i < NS; i++) {
      m->n.u[i] = kept.u[i] + step * du[i];
    }
    for (i = 0; i < NP; i++) {
      m->n.p[i] = kept.p[i] + step * dp[i];
    }
    model_forget(m, 1);
    status = model_derivatives(m, k[side]);
    if (status == OK) {
      status = model_outputs(m);
    }
    memcpy(y[side], m->y, sizeof m->y);
  }
  for (i = 0; i < NS; i++) {
    dk[i] = (k[1][i] - k[0][i]) / (2.0 * h);
  }
  for (i = 0; i < NY; i++) {
    dy[i] = (y[1][i] - y[0][i]) / (2.0 * h);
  }
  m->n = kept;
  model_forget(m, 0);
  return status;
}
#endif

/* Derivatives of rates of the continuous states and of outputs in one direction. */
int model_direction(Model *m, const double *du, const double *dp, double *dk, double *dy)
{
#if DERIVATIVES
  double u[NA], v[NA], k[NA];
#if EVENTS
  if (m->n.structure > 0) {
    return difference(m, du, dp, dk, dy);
  }
#endif
  to_algebra(m->n.u, u);
  to_algebra(du, v);
  kernel_direction(m->n.structure, &m->n.t, m->n.reference, u, m->n.p, v, dp, k, dy);
  from_algebra(k, dk);
#else
  (void)m;
  (void)du;
  (void)dp;
  (void)dk;
  (void)dy;
#endif
  return OK;
}
