// Traces: the paths of points of bodies, bright up to the present time and faint beyond it.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import type { Playback } from "./playback.ts";

const MOST = 4000; // points of one trace

interface Trace {
  body: number;
  point: THREE.Vector3;
  colour: THREE.Color;
  frames: number[];
  past: Line2 | null;
  future: Line2 | null;
}

export class Traces {
  readonly group = new THREE.Group();
  private traces: Trace[] = [];

  constructor(private readonly run: () => Playback | null) {}

  /** Traces a point of a body, or stops doing so. */
  toggle(body: number, point: THREE.Vector3, colour: THREE.Color): void {
    const old = this.traces.find((trace) => trace.body === body && trace.point.distanceTo(point) < 1e-12);
    if (old) {
      this.erase(old);
      this.traces = this.traces.filter((trace) => trace !== old);
      return;
    }
    const trace: Trace = { body, point: point.clone(), colour, frames: [], past: null, future: null };
    this.traces.push(trace);
    this.build(trace);
  }

  clear(): void {
    for (const trace of this.traces) this.erase(trace);
    this.traces = [];
  }

  get count(): number {
    return this.traces.length;
  }

  private erase(trace: Trace): void {
    for (const line of [trace.past, trace.future]) {
      if (!line) continue;
      this.group.remove(line);
      line.geometry.dispose();
      line.material.dispose();
    }
    trace.past = trace.future = null;
  }

  /** Builds all traces anew, for another run. */
  rebuild(): void {
    for (const trace of this.traces) {
      this.erase(trace);
      this.build(trace);
    }
  }

  private build(trace: Trace): void {
    const run = this.run();
    if (!run || run.times.length < 2) return;
    const step = Math.max(1, Math.ceil(run.times.length / MOST));
    const positions: number[] = [];
    const pose = new Float64Array(7);
    const turn = new THREE.Quaternion();
    const place = new THREE.Vector3();
    trace.frames = [];
    for (let frame = 0; frame < run.times.length; frame += step) {
      if (!run.poseAt(frame, trace.body, pose) || !Number.isFinite(pose[0] + pose[3])) continue;
      turn.set(pose[4], pose[5], pose[6], pose[3]);
      place.copy(trace.point).applyQuaternion(turn);
      positions.push(place.x + pose[0], place.y + pose[1], place.z + pose[2]);
      trace.frames.push(frame);
    }
    if (trace.frames.length < 2) return;
    const line = (opacity: number): Line2 => {
      const geometry = new LineGeometry();
      geometry.setPositions(positions);
      const material = new LineMaterial({ color: trace.colour, linewidth: 2.2, transparent: true, opacity, depthWrite: false });
      const result = new Line2(geometry, material);
      result.frustumCulled = false;
      this.group.add(result);
      return result;
    };
    trace.future = line(0.22);
    trace.past = line(1);
  }

  /** Shows the traces up to a frame. */
  update(frame: number): void {
    for (const trace of this.traces) {
      if (!trace.past) continue;
      let count = 0;
      while (count < trace.frames.length && trace.frames[count] <= frame) count++;
      trace.past.geometry.instanceCount = Math.max(0, count - 1);
      trace.past.visible = count > 1;
    }
  }
}
