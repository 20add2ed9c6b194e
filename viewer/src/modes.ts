// Mode shapes: the motion of bodies in one mode of a linear model.

import { decode } from "./decode.ts";
import type { BodyData, ModeData, NumberArray } from "./types.ts";

/** Product of quaternions a b at out[k…k+3]; all as w, x, y, z. */
function multiply(a: number[], b: ArrayLike<number>, out: Float64Array, k: number): void {
  out[k] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[k + 1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[k + 2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[k + 3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/** A mode as it is shown: an amplitude and a phase. */
export class Mode {
  private p: NumberArray = new Float64Array(0);
  private r: NumberArray = new Float64Array(0);
  private largest = 1;

  constructor(
    readonly data: ModeData,
    readonly bodies: BodyData[],
    readonly size: number,
  ) {}

  async open(): Promise<void> {
    [this.p, this.r] = await Promise.all([decode(this.data.shape.p), decode(this.data.shape.r)]);
    this.largest = 0;
    for (let i = 0; i < this.p.length; i += 2) this.largest = Math.max(this.largest, Math.hypot(this.p[i], this.p[i + 1]) / (0.12 * this.size));
    for (let i = 0; i < this.r.length; i += 2) this.largest = Math.max(this.largest, Math.hypot(this.r[i], this.r[i + 1]) / 0.5);
    if (!(this.largest > 0)) this.largest = 1;
  }

  /** Writes the poses at a phase: reference + amplitude × Re(shape × exp(i phase)). */
  sample(phase: number, amplitude: number, out: Float64Array): void {
    const c = (amplitude / this.largest) * Math.cos(phase);
    const s = (amplitude / this.largest) * Math.sin(phase);
    this.bodies.forEach((body, b) => {
      const k = b * 7;
      const turn = [0, 0, 0];
      for (let axis = 0; axis < 3; axis++) {
        const i = (b * 3 + axis) * 2;
        out[k + axis] = body.p[axis] + c * (this.p[i] ?? 0) - s * (this.p[i + 1] ?? 0);
        turn[axis] = c * (this.r[i] ?? 0) - s * (this.r[i + 1] ?? 0);
      }
      const angle = Math.hypot(...turn);
      const half = angle > 1e-9 ? Math.sin(angle / 2) / angle : 0.5;
      multiply([Math.cos(angle / 2), turn[0] * half, turn[1] * half, turn[2] * half], body.q, out, k + 3);
    });
  }
}
