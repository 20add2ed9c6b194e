// Reactions of joints as arrows at the points where they act, on the second body.

import * as THREE from "three";
import { decode } from "./decode.ts";
import type { Mechanism } from "./mechanism.ts";
import { span } from "./placement.ts";
import type { Part } from "./parts.ts";
import type { Playback } from "./playback.ts";
import type { NumberArray } from "./types.ts";

const FORCE = new THREE.Color("#d3362d");
const TORQUE = new THREE.Color("#7b4fd0");

interface Arrow {
  column: number;
  values: NumberArray;
  largest: number;
  point: THREE.Vector3;
  body: number;
  shaft: Part;
  heads: Part[];
}

export class Arrows {
  /** Length of the largest arrow relative to what it is by default. */
  scale = 1;
  /** Arrows below this share of the largest one are not drawn. */
  threshold = 0.01;
  largestForce = 0;
  largestTorque = 0;
  onLoad: () => void = () => undefined;
  private run: Playback | null = null;
  private loading: Promise<void> | null = null;
  private arrows: Arrow[] = [];
  private joints = 0;
  private frames = 0;

  constructor(private readonly mechanism: Mechanism) {}

  /** Whether the run has reactions. */
  get available(): boolean {
    return Boolean(this.run?.data.reactions);
  }

  /** Takes the reactions of a run; old arrows go. They are decoded when they are needed first. */
  open(run: Playback | null): void {
    this.mechanism.parts.remove((part) => part.layer === "reactions");
    this.arrows = [];
    this.run = run;
    this.loading = null;
  }

  /** Decodes the reactions and makes their arrows. */
  load(): Promise<void> {
    this.loading ??= this.decode();
    return this.loading;
  }

  private async decode(): Promise<void> {
    const { run } = this;
    const reactions = run?.data.reactions;
    if (!reactions) return;
    const order = reactions.joint_index ?? this.mechanism.joints.map((_, i) => i);
    const force = await decode(reactions.force);
    const torque = reactions.torque ? await decode(reactions.torque) : null;
    if (run !== this.run) return;
    this.joints = order.length;
    this.frames = this.joints ? Math.floor(force.length / (3 * this.joints)) : 0;
    this.largestForce = largestNorm(force);
    this.largestTorque = torque ? largestNorm(torque) : 0;
    order.forEach((joint, column) => {
      if (this.largestForce > 0) this.add(joint, column, force, this.largestForce, FORCE, 1);
      if (torque && this.largestTorque > 0) this.add(joint, column, torque, this.largestTorque, TORQUE, 2);
    });
    this.onLoad();
  }

  private add(joint: number, column: number, values: NumberArray, largest: number, colour: THREE.Color, heads: number): void {
    const data = this.mechanism.data.joints?.[joint];
    const frame = data?.frames[1] ?? data?.frames[0];
    if (!data || !frame) return;
    const anchor = this.mechanism.anchorOf(-1);
    const part = (geometry: string): Part => ({ geometry, anchor, local: new THREE.Matrix4(), colour, alpha: 1, component: this.mechanism.joints[joint], layer: "reactions", off: true });
    const arrow: Arrow = { column, values, largest, point: new THREE.Vector3(...frame.p), body: data.frames[1] ? data.second : data.first, shaft: part("cylinder"), heads: Array.from({ length: heads }, () => part("cone")) };
    this.arrows.push(arrow);
    this.mechanism.parts.add(arrow.shaft, ...arrow.heads);
  }

  /** Shows the reactions of a frame. */
  update(frame: number): void {
    const { mechanism } = this;
    if (!mechanism.parts.isVisible("reactions")) return;
    if (!this.loading) void this.load();
    if (!this.arrows.length) return;
    const row = Math.min(frame, this.frames - 1);
    const reach = 0.3 * mechanism.size * this.scale;
    const thick = 0.006 * mechanism.size;
    const [start, vector, end, base] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    for (const arrow of this.arrows) {
      const i = (row * this.joints + arrow.column) * 3;
      vector.set(arrow.values[i], arrow.values[i + 1], arrow.values[i + 2]);
      const share = vector.length() / arrow.largest;
      const anchor = mechanism.anchorOf(arrow.body);
      const off = !(share >= Math.max(this.threshold, 1e-6)) || !anchor.valid;
      arrow.shaft.off = off;
      for (const head of arrow.heads) head.off = off;
      if (off) continue;
      const length = share * reach;
      const tip = Math.min(7 * thick, 0.6 * length);
      vector.setLength(1);
      start.copy(arrow.point).applyMatrix4(anchor.matrix);
      span(start, end.copy(start).addScaledVector(vector, length - tip), thick, true, arrow.shaft.local);
      arrow.heads.forEach((head, k) => {
        const from = length - tip * (1 + 0.8 * k);
        span(base.copy(start).addScaledVector(vector, from), end.copy(start).addScaledVector(vector, from + tip), 2.6 * thick, true, head.local);
      });
    }
  }

  /** The reaction force and torque of a joint at a frame, as lengths. */
  valuesOf(joint: number, frame: number): { force: number | null; torque: number | null } {
    if (!this.loading) void this.load();
    const component = this.mechanism.joints[joint];
    const row = Math.min(frame, this.frames - 1);
    const find = (heads: number): number | null => {
      const arrow = this.arrows.find((one) => one.shaft.component === component && one.heads.length === heads);
      if (!arrow) return null;
      const i = (row * this.joints + arrow.column) * 3;
      return Math.hypot(arrow.values[i], arrow.values[i + 1], arrow.values[i + 2]);
    };
    return { force: find(1), torque: find(2) };
  }
}

/** The largest length of vectors; a few extreme ones, as at impacts, do not count. */
function largestNorm(values: NumberArray): number {
  const norms: number[] = [];
  for (let i = 0; i + 2 < values.length; i += 3) {
    const norm = Math.hypot(values[i], values[i + 1], values[i + 2]);
    if (Number.isFinite(norm)) norms.push(norm);
  }
  norms.sort((a, b) => a - b);
  return norms.length ? norms[Math.floor((norms.length - 1) * 0.998)] : 0;
}
