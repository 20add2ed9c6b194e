// Poses of all bodies at any time of a run, between the frames too.

import { decode } from "./decode.ts";
import type { Chunk, NumberArray, RunData } from "./types.ts";

const KEEP_VALUES = 40e6; // numbers of decoded poses that stay in memory

/** Index of the last time at or before t: 0 where all are later. `hint` is where the search begins. */
export function frameAt(times: ArrayLike<number>, t: number, hint = 0): number {
  const n = times.length;
  if (n < 2 || !(t > times[0])) return 0;
  if (t >= times[n - 1]) return n - 1;
  if (hint >= 0 && hint < n - 1 && times[hint] <= t && t < times[hint + 1]) return hint;
  let low = 0;
  let high = n - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return low;
}

/** Turns quaternion a into b by the fraction s on the shortest way and writes the result at out[i…i+3]. */
export function slerp(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, s: number, out: Float64Array, k: number): void {
  let cosine = a[i] * b[j] + a[i + 1] * b[j + 1] + a[i + 2] * b[j + 2] + a[i + 3] * b[j + 3];
  const sign = cosine < 0 ? -1 : 1;
  cosine *= sign;
  let first = 1 - s;
  let second = s * sign;
  if (cosine < 0.9999) {
    const angle = Math.acos(cosine);
    first = Math.sin(first * angle) / Math.sin(angle);
    second = (Math.sin(s * angle) / Math.sin(angle)) * sign;
  }
  let square = 0;
  for (let c = 0; c < 4; c++) {
    const value = first * a[i + c] + second * b[j + c];
    out[k + c] = value;
    square += value * value;
  }
  const factor = 1 / Math.sqrt(square);
  for (let c = 0; c < 4; c++) out[k + c] *= factor;
}

interface Part {
  first: number;
  frames: number;
  p: NumberArray;
  q: NumberArray;
}

/** The poses of one run. `sample` writes x, y, z, w, x, y, z for each body into `now`. */
export class Playback {
  readonly name: string;
  times: ArrayLike<number> = [];
  readonly now: Float64Array;
  private parts: (Part | null)[] = [];
  private loading = new Set<number>();
  private used: number[] = [];
  private hint = 0;
  /** Called when poses arrive that were not there when `sample` needed them. */
  onArrival: () => void = () => undefined;
  onTrouble: (text: string) => void = () => undefined;

  constructor(
    readonly data: RunData,
    readonly bodies: number,
  ) {
    this.name = data.name;
    this.now = new Float64Array(bodies * 7);
  }

  private get chunks(): Chunk[] {
    if (this.data.chunks) return this.data.chunks;
    return this.data.poses ? [{ first: 0, frames: this.times.length, poses: this.data.poses }] : [];
  }

  async openTimes(): Promise<void> {
    this.times = (await decode(this.data.times)) as Float64Array;
  }

  /** Decodes the times and the first part of the poses. */
  async open(): Promise<void> {
    await this.openTimes();
    this.parts = this.chunks.map(() => null);
    if (this.parts.length) await this.load(0);
  }

  get start(): number {
    return this.times.length ? this.times[0] : 0;
  }

  get end(): number {
    return this.times.length ? this.times[this.times.length - 1] : 0;
  }

  private async load(index: number): Promise<void> {
    if (this.loading.has(index) || this.parts[index]) return;
    this.loading.add(index);
    const chunk = this.chunks[index];
    const [p, q] = await Promise.all([decode(chunk.poses.p), decode(chunk.poses.q)]);
    const values = chunk.frames * this.bodies;
    if (p.length !== 3 * values || q.length !== 4 * values) throw new Error(`it has poses for ${p.length / 3 / chunk.frames} bodies in ${chunk.frames} frames, the model has ${this.bodies}`);
    this.parts[index] = { first: chunk.first, frames: chunk.frames, p, q };
    this.loading.delete(index);
    this.used.push(index);
    let kept = 0;
    for (let n = this.used.length - 1; n >= 0; n--) {
      kept += (this.parts[this.used[n]]?.p.length ?? 0) * (7 / 3);
      if (kept > KEEP_VALUES && this.used[n] !== index) {
        this.parts[this.used[n]] = null;
        this.used.splice(n, 1);
      }
    }
    this.onArrival();
  }

  private loadLater(index: number): void {
    this.load(index).catch((error: Error) => this.onTrouble(`A part of the run ${this.name} cannot be read: ${error.message}.`));
  }

  /** The part that holds a frame, or null while it is being decoded. */
  private partOf(frame: number): Part | null {
    if (this.parts.length === 1) return this.parts[0];
    const chunks = this.chunks;
    let index = frameAt(
      chunks.map((chunk) => chunk.first),
      frame,
    );
    index = Math.max(0, Math.min(index, this.parts.length - 1));
    if (!this.parts[index]) this.loadLater(index);
    else if (index + 1 < this.parts.length && !this.parts[index + 1]) this.loadLater(index + 1);
    return this.parts[index] ?? null;
  }

  frame(t: number): number {
    this.hint = frameAt(this.times, t, this.hint);
    return this.hint;
  }

  /** Writes the poses at time t into `now`. Returns whether they are there. A body without a pose has NaN. */
  sample(t: number): boolean {
    if (!this.times.length || !this.parts.length) return false;
    const frame = this.frame(t);
    const part = this.partOf(frame);
    if (!part) return false;
    const next = frame + 1 < this.times.length ? this.partOf(frame + 1) : null;
    const span = next ? this.times[frame + 1] - this.times[frame] : 0;
    const s = span > 0 ? Math.min(1, Math.max(0, (t - this.times[frame]) / span)) : 0;
    const a = frame - part.first;
    const b = next ? frame + 1 - next.first : a;
    for (let body = 0; body < this.bodies; body++) this.samplePose(body, part, a, s > 0 && next ? next : part, s > 0 ? b : a, s);
    return true;
  }

  private samplePose(body: number, part: Part, a: number, next: Part, b: number, s: number): void {
    const { now, bodies } = this;
    const i = (a * bodies + body) * 3;
    const j = (b * bodies + body) * 3;
    const k = body * 7;
    for (let c = 0; c < 3; c++) {
      const value = part.p[i + c];
      const target = next.p[j + c];
      now[k + c] = s > 0 && target === target ? value + s * (target - value) : value;
    }
    const m = (a * bodies + body) * 4;
    const n = (b * bodies + body) * 4;
    if (s > 0 && next.q[n] === next.q[n]) slerp(part.q, m, next.q, n, s, now, k + 3);
    else for (let c = 0; c < 4; c++) now[k + 3 + c] = part.q[m + c];
  }

  /** Writes the poses of a frame into `now` if they are in memory. */
  sampleLoaded(frame: number): boolean {
    const part = this.parts.find((one) => one && frame >= one.first && frame < one.first + one.frames);
    if (!part) return false;
    const a = frame - part.first;
    for (let body = 0; body < this.bodies; body++) this.samplePose(body, part, a, part, a, 0);
    return true;
  }

  /** One coordinate of a body's centre of mass at all frames. Parts that are not in memory are decoded and not kept. */
  async positions(body: number, axis: number): Promise<Float64Array> {
    const values = new Float64Array(this.times.length).fill(NaN);
    for (const [index, chunk] of this.chunks.entries()) {
      const p = this.parts[index]?.p ?? (await decode(chunk.poses.p));
      for (let frame = 0; frame < chunk.frames; frame++) values[chunk.first + frame] = p[(frame * this.bodies + body) * 3 + axis];
    }
    return values;
  }

  /** Writes the pose of a body at a frame into `out`; false where it is not in memory. */
  poseAt(frame: number, body: number, out: Float64Array): boolean {
    const part = this.partOf(frame);
    if (!part) return false;
    const i = ((frame - part.first) * this.bodies + body) * 3;
    const m = ((frame - part.first) * this.bodies + body) * 4;
    for (let c = 0; c < 3; c++) out[c] = part.p[i + c];
    for (let c = 0; c < 4; c++) out[3 + c] = part.q[m + c];
    return true;
  }
}
