// Forces and torques as arrows: reactions at the points where they act, on the second body; loads at the centres of mass.

import * as THREE from "three";
import { decode } from "./decode.ts";
import type { Mechanism } from "./mechanism.ts";
import { span } from "./placement.ts";
import type { Component, Part } from "./parts.ts";
import type { Playback } from "./playback.ts";
import type { NumberArray } from "./types.ts";

interface Arrow {
  column: number;
  values: NumberArray;
  largest: number;
  point: THREE.Vector3;
  body: number;
  shaft: Part;
  heads: Part[];
}

/** What the arrows of a layer show: joints have reactions, bodies have loads. */
const KINDS = {
  reactions: { force: new THREE.Color("#d3362d"), torque: new THREE.Color("#7b4fd0") },
  loads: { force: new THREE.Color("#1f9d55"), torque: new THREE.Color("#1b87b8") },
};

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
  private columns = 0;
  private frames = 0;

  constructor(
    private readonly mechanism: Mechanism,
    readonly layer: "reactions" | "loads",
  ) {}

  get colours(): { force: THREE.Color; torque: THREE.Color } {
    return KINDS[this.layer];
  }

  /** Whether the run has these forces. */
  get available(): boolean {
    return Boolean(this.run?.data[this.layer]);
  }

  /** Takes the forces of a run; old arrows go. They are decoded when they are needed first. */
  open(run: Playback | null): void {
    this.mechanism.parts.remove((part) => part.layer === this.layer);
    this.arrows = [];
    this.run = run;
    this.loading = null;
    this.largestForce = this.largestTorque = 0;
  }

  /** Decodes the forces and makes their arrows. */
  load(): Promise<void> {
    this.loading ??= this.decode();
    return this.loading;
  }

  private async decode(): Promise<void> {
    const { run } = this;
    const data = run?.data[this.layer];
    if (!data) return;
    const components = this.layer === "reactions" ? this.mechanism.joints : this.mechanism.bodies;
    const order = data.index ?? components.map((_, i) => i);
    const force = await decode(data.force);
    const torque = data.torque ? await decode(data.torque) : null;
    if (run !== this.run) return;
    this.columns = order.length;
    this.frames = this.columns ? Math.floor(force.length / (3 * this.columns)) : 0;
    this.largestForce = largestNorm(force);
    this.largestTorque = torque ? largestNorm(torque) : 0;
    order.forEach((index, column) => {
      if (!components[index]) return;
      if (this.largestForce > 0) this.add(components[index], column, force, this.largestForce, this.colours.force, 1);
      if (torque && this.largestTorque > 0) this.add(components[index], column, torque, this.largestTorque, this.colours.torque, 2);
    });
    this.onLoad();
  }

  /** Where a force acts: of a joint on its second body, of a body at its centre of mass. */
  private placeOf(component: Component): { body: number; point: THREE.Vector3 } | null {
    if (component.kind === "body") return { body: component.index, point: new THREE.Vector3() };
    const data = this.mechanism.data.joints?.[component.index];
    const frame = data?.frames[1] ?? data?.frames[0];
    return data && frame ? { body: data.frames[1] ? data.second : data.first, point: new THREE.Vector3(...frame.p) } : null;
  }

  private add(component: Component, column: number, values: NumberArray, largest: number, colour: THREE.Color, heads: number): void {
    const place = this.placeOf(component);
    if (!place) return;
    const anchor = this.mechanism.anchorOf(-1);
    const part = (geometry: string): Part => ({ geometry, anchor, local: new THREE.Matrix4(), colour, alpha: 1, component, layer: this.layer, off: true });
    const arrow: Arrow = { ...place, column, values, largest, shaft: part("cylinder"), heads: Array.from({ length: heads }, () => part("cone")) };
    this.arrows.push(arrow);
    this.mechanism.parts.add(arrow.shaft, ...arrow.heads);
  }

  /** Shows the forces of a frame. */
  update(frame: number): void {
    const { mechanism } = this;
    if (!mechanism.parts.isVisible(this.layer)) return;
    if (!this.loading) void this.load();
    if (!this.arrows.length) return;
    const row = Math.min(frame, this.frames - 1);
    const reach = 0.3 * mechanism.size * this.scale;
    const thick = 0.006 * mechanism.size;
    const [start, vector, end, base] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    for (const arrow of this.arrows) {
      const i = (row * this.columns + arrow.column) * 3;
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

  /** Force and torque of a joint or a body at a frame, as lengths. */
  valuesOf(component: Component, frame: number): { force: number | null; torque: number | null } {
    if (!this.loading) void this.load();
    const row = Math.min(frame, this.frames - 1);
    const find = (heads: number): number | null => {
      const arrow = this.arrows.find((one) => one.shaft.component === component && one.heads.length === heads);
      if (!arrow) return null;
      const i = (row * this.columns + arrow.column) * 3;
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
