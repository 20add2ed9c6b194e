// Many frames and many bodies: chains that swing, particles that bounce.

import { packD16, packF32, packF64 } from "../pack.ts";
import type { BodyData, JointData, RowData, ViewData } from "../../src/types.ts";
import { about } from "./quaternions.ts";

/** A hanging chain of bodies, with as many frames. */
export function chain(bodies = 60, frames = 10_000): ViewData {
  const [p, q] = [new Float64Array(frames * bodies * 3), new Float64Array(frames * bodies * 4)];
  const length = 0.2;
  for (let frame = 0; frame < frames; frame++) {
    const t = frame * 0.002;
    let [x, z] = [0, 0];
    for (let body = 0; body < bodies; body++) {
      const angle = 0.9 * Math.sin(2.1 * t - 0.13 * body) * (0.3 + (0.7 * body) / bodies) + 0.3 * Math.sin(5.3 * t + 0.4 * body);
      const i = frame * bodies + body;
      p[3 * i] = x + (length / 2) * Math.sin(angle);
      p[3 * i + 2] = z - (length / 2) * Math.cos(angle);
      q.set(about([0, 1, 0], -angle), 4 * i);
      x += length * Math.sin(angle);
      z -= length * Math.cos(angle);
    }
  }
  const list: BodyData[] = Array.from({ length: bodies }, (_, i) => ({
    name: `chain.link ${i + 1}`,
    p: [p[3 * i], 0, p[3 * i + 2]],
    q: [q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]],
    mass: 0.2,
    shapes: [{ kind: "capsule", size: [0.03, length], colour: i % 2 ? [0.35, 0.55, 0.8, 1] : [0.9, 0.6, 0.3, 1] }],
  }));
  const joints: JointData[] = list.map((_, i) => ({
    name: `chain.hinge ${i + 1}`,
    type: "Revolute",
    draw: "hinge",
    first: i - 1,
    second: i,
    frames: [{ p: i ? [0, 0, -length / 2] : [0, 0, 0], q: about([1, 0, 0], -Math.PI / 2) }, { p: [0, 0, length / 2], q: about([1, 0, 0], -Math.PI / 2) }],
  }));
  const angle = Float64Array.from({ length: frames }, (_, i) => Math.sin(2.1 * 0.002 * i));
  return {
    format: "torsor-view",
    version: 1,
    name: `Chain of ${bodies}`,
    subtitle: `${frames} frames`,
    size: bodies * length,
    up: [0, 0, 1],
    bodies: list,
    joints,
    runs: [
      {
        name: "run",
        times: packF64(Float64Array.from({ length: frames }, (_, i) => i * 0.002)),
        frames,
        poses: { p: packD16(p, [frames, bodies, 3]), q: packD16(q, [frames, bodies, 4]) },
        signals: [{ name: "chain.hinge 1", group: "coordinate", unit: "rad", label: "first angle", values: packF32(angle) }],
      },
    ],
  };
}

/** The same chain with its poses in parts. */
export function chunked(bodies = 20, frames = 100_000, part = 10_000): ViewData {
  const data = chain(bodies, part);
  const poses = data.runs![0].poses!;
  const chunks = Array.from({ length: frames / part }, (_, i) => ({ first: i * part, frames: part, poses }));
  const run = { ...data.runs![0], poses: undefined, signals: [], chunks, frames, times: packF64(Float64Array.from({ length: frames }, (_, i) => i * 0.002)) };
  return { ...data, name: "Chain in parts", subtitle: `${frames} frames`, runs: [run] };
}

/** Balls and boxes that jump on a floor, with a row for each contact and very many events. */
export function jumping(bodies = 2000, frames = 1000, eventCount = 100_000): ViewData {
  const across = Math.ceil(Math.sqrt(bodies));
  const [p, q] = [new Float32Array(frames * bodies * 3), new Float32Array(frames * bodies * 4)];
  for (let frame = 0; frame < frames; frame++) {
    const t = frame * 0.01;
    for (let body = 0; body < bodies; body++) {
      const i = frame * bodies + body;
      p[3 * i] = (body % across) * 0.3;
      p[3 * i + 1] = Math.floor(body / across) * 0.3;
      p[3 * i + 2] = 0.1 + Math.abs(Math.sin(1.5 * t + 0.37 * body)) * (0.4 + 0.3 * Math.sin(body));
      q.set(about([0, 0, 1], t + body), 4 * i);
    }
  }
  const rows: RowData[] = Array.from({ length: bodies }, (_, i) => ({
    name: `contact.${i + 1}`,
    spans: Array.from({ length: 5 }, (_unused, k): [number, number] => [2 * k + 0.3 * Math.abs(Math.sin(i)), 2 * k + 0.4 + 0.5 * Math.abs(Math.sin(i))]),
  }));
  const events = Array.from({ length: eventCount }, (_, i) => ({ time: 10 * ((i * 0.6180339887) % 1), name: `contact.${(i % bodies) + 1} closes` }));
  return {
    format: "torsor-view",
    version: 1,
    name: `${bodies} bodies`,
    subtitle: `${frames} frames, ${eventCount} events`,
    size: across * 0.3,
    up: [0, 0, 1],
    bodies: Array.from({ length: bodies }, (_, i) => ({
      name: `grain.${i + 1}`,
      p: [p[3 * i], p[3 * i + 1], p[3 * i + 2]],
      q: [1, 0, 0, 0],
      mass: 1,
      shapes: [i % 3 ? { kind: "sphere", size: [0.1] } : { kind: "box", size: [0.17, 0.17, 0.17] }],
    })),
    ground: [{ kind: "plane", size: [across * 0.36, across * 0.36], p: [across * 0.15, across * 0.15, 0], colour: null }],
    joints: [],
    runs: [
      {
        name: "run",
        times: packF64(Float64Array.from({ length: frames }, (_, i) => i * 0.01)),
        frames,
        poses: { p: packF32(p, [frames, bodies, 3]), q: packF32(q, [frames, bodies, 4]) },
        events,
        rows,
      },
    ],
  };
}
