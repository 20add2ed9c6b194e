// Poses that arrive while a simulation runs, the last ones of them kept.

import { frameAt, slerp } from "./playback.ts";

const MOST = 20_000;

export class History {
  times: number[] = [];
  private poses: Float64Array[] = [];
  readonly signals = new Map<string, number[]>();

  constructor(readonly bodies: number) {}

  /** Takes the poses of a time; time that goes back begins anew. */
  add(time: number, poses: ArrayLike<number>, signals: Record<string, number>): void {
    if (poses.length !== this.bodies * 7 || !Number.isFinite(time)) return;
    if (this.times.length && time <= this.times[this.times.length - 1]) {
      if (time === this.times[this.times.length - 1]) {
        this.poses[this.poses.length - 1] = Float64Array.from(poses);
        return;
      }
      this.clear();
    }
    for (const name of Object.keys(signals)) if (!this.signals.has(name)) this.signals.set(name, new Array(this.times.length).fill(NaN));
    this.times.push(time);
    this.poses.push(Float64Array.from(poses));
    for (const [name, values] of this.signals) values.push(signals[name] ?? NaN);
    if (this.times.length > MOST) this.thin();
  }

  clear(): void {
    this.times = [];
    this.poses = [];
    for (const values of this.signals.values()) values.length = 0;
  }

  /** Drops every second frame of the older half. */
  private thin(): void {
    const half = this.times.length >> 1;
    const keep = (_: unknown, i: number): boolean => i >= half || i % 2 === 0;
    this.times = this.times.filter(keep);
    this.poses = this.poses.filter(keep);
    for (const [name, values] of this.signals) this.signals.set(name, values.filter(keep));
  }

  /** Writes the poses at a time into `out`. */
  sample(t: number, out: Float64Array): boolean {
    if (!this.times.length) return false;
    const i = frameAt(this.times, t);
    const a = this.poses[i];
    const b = this.poses[i + 1];
    const s = b ? Math.min(1, Math.max(0, (t - this.times[i]) / (this.times[i + 1] - this.times[i]))) : 0;
    if (!b || s === 0) {
      out.set(a);
      return true;
    }
    for (let k = 0; k < a.length; k += 7) {
      for (let c = 0; c < 3; c++) out[k + c] = a[k + c] + s * (b[k + c] - a[k + c]);
      slerp(a, k + 3, b, k + 3, s, out, k + 3);
    }
    return true;
  }
}
