// A double pendulum in the x-z plane with a spring and an end stop, integrated here by Runge–Kutta steps.

import { packD16, packF32, packF64 } from "../pack.ts";
import type { RunData, Vector, ViewData } from "../../src/types.ts";
import { about, zTo } from "./quaternions.ts";

const L = 1;
const G = 9.81;

function rate([a, b, u, v]: number[]): number[] {
  const d = a - b;
  const m = 3 - Math.cos(2 * d);
  const du = (-3 * G * Math.sin(a) - G * Math.sin(a - 2 * b) - 2 * Math.sin(d) * (v * v * L + u * u * L * Math.cos(d))) / (L * m);
  const dv = (2 * Math.sin(d) * (2 * u * u * L + 2 * G * Math.cos(a) + v * v * L * Math.cos(d))) / (L * m);
  return [u, v, du, dv];
}

function step(x: number[], h: number): number[] {
  const add = (y: number[], k: number[], s: number): number[] => y.map((value, i) => value + s * k[i]);
  const k1 = rate(x);
  const k2 = rate(add(x, k1, h / 2));
  const k3 = rate(add(x, k2, h / 2));
  const k4 = rate(add(x, k3, h));
  return x.map((value, i) => value + (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]));
}

function simulate(start: number[], name: string, packing: "f32" | "d16"): RunData {
  const n = 601;
  const h = 1 / 60;
  let x = start;
  const [times, p, q, force]: number[][] = [[], [], [], []];
  const curves: Record<string, number[]> = { "upper angle": [], "lower angle": [], "kinetic energy": [], "potential energy": [], energy: [], "upper rate": [], "lower rate": [] };
  const spans: [number, number][] = [];
  const events: { time: number; name: string }[] = [];
  let since: number | null = null;
  for (let i = 0; i < n; i++) {
    const [a, b, u, v] = x;
    const elbow: Vector = [L * Math.sin(a), 0, -L * Math.cos(a)];
    const tip: Vector = [elbow[0] + L * Math.sin(b), 0, elbow[2] - L * Math.cos(b)];
    times.push(i * h);
    p.push(elbow[0] / 2, 0, elbow[2] / 2, (elbow[0] + tip[0]) / 2, 0, (elbow[2] + tip[2]) / 2);
    q.push(...about([0, 1, 0], -a), ...about([0, 1, 0], -b));
    const kinetic = u * u + 0.5 * v * v + u * v * Math.cos(a - b);
    const potential = -G * (2 * Math.cos(a) + Math.cos(b));
    force.push(5 * Math.sin(a) * u, 0, 20 + 10 * u * u * Math.cos(a), 3 * Math.sin(b), 0, 10 + 4 * v * v, 0, 0, 0);
    curves["upper angle"].push(a);
    curves["lower angle"].push(b);
    curves["upper rate"].push(u);
    curves["lower rate"].push(v);
    curves["kinetic energy"].push(kinetic);
    curves["potential energy"].push(potential);
    curves.energy.push(kinetic + potential);
    const touches = tip[0] > 1.2;
    if (touches && since === null) {
      since = i * h;
      events.push({ time: since, name: "stop engages" });
    }
    if (!touches && since !== null) {
      spans.push([since, i * h]);
      events.push({ time: i * h, name: "stop releases" });
      since = null;
    }
    for (let k = 0; k < 10; k++) x = step(x, h / 10);
  }
  const pose = packing === "f32" ? { p: packF32(p, [n, 2, 3]), q: packF32(q, [n, 2, 4]) } : { p: packD16(p, [n, 2, 3]), q: packD16(q, [n, 2, 4]) };
  const group = (label: string): [string, string] => (label.includes("energy") ? ["energy", "J"] : label.includes("rate") ? ["rate", "rad/s"] : ["coordinate", "rad"]);
  return {
    name,
    times: packF64(times),
    frames: n,
    poses: pose,
    signals: Object.entries(curves).map(([label, values]) => ({ name: label, group: group(label)[0], unit: group(label)[1], label, values: packF32(values) })),
    reactions: { force: packF32(force, [n, 3, 3]) },
    events,
    rows: [{ name: "stop", spans }, { name: "latch", spans: [[0, 2.5], [6, 10]] }, { name: "clutch", spans: [], gaps: [[0, 10]] }],
  };
}

export function doublePendulum(): ViewData {
  const bar = (colour: number[] | null): ViewData["bodies"][number]["shapes"] => [
    { kind: "capsule", size: [0.045, L], p: [0, 0, 0], q: [1, 0, 0, 0], colour },
    { kind: "sphere", size: [0.09], p: [0, 0, -L / 2], q: [1, 0, 0, 0], colour },
  ];
  const turned = zTo([0, 1, 0]);
  const body = (name: string, a: number, x: Vector, colour: number[] | null): ViewData["bodies"][number] => ({
    name,
    p: x,
    q: about([0, 1, 0], -a),
    mass: 1,
    ellipsoid: { semi: [0.09, 0.09, 0.5], q: [1, 0, 0, 0] },
    shapes: bar(colour),
  });
  const runs = [simulate([2, 2.4, 0, 0], "swing", "f32"), simulate([2.02, 2.4, 0, 0], "0.02 rad more", "d16")];
  const [s, c] = [Math.sin(2), Math.cos(2)];
  return {
    format: "torsor-view",
    version: 1,
    name: "Double pendulum",
    subtitle: "sample of the page's tests",
    size: 4,
    up: [0, 0, 1],
    gravity: [0, 0, -G],
    bodies: [body("arm.upper", 2, [s / 2, 0, -c / 2], null), body("arm.lower", 2.4, [s + Math.sin(2.4) / 2, 0, -c - Math.cos(2.4) / 2], null)],
    ground: [{ kind: "box", size: [0.5, 0.3, 0.08], p: [0, 0, 0.14], q: [1, 0, 0, 0], colour: null }],
    meshes: [],
    joints: [
      { name: "shoulder", type: "Revolute", draw: "hinge", first: -1, second: 0, frames: [{ p: [0, 0, 0], q: turned }, { p: [0, 0, L / 2], q: turned }] },
      { name: "elbow", type: "Revolute", draw: "hinge", first: 0, second: 1, frames: [{ p: [0, 0, -L / 2], q: turned }, { p: [0, 0, L / 2], q: turned }], redundant: ["rotation about x"] },
      { name: "stop", type: "Contact", draw: "contact", first: -1, second: 1, frames: [{ p: [1.2, 0, -1], q: zTo([-1, 0, 0]) }, { p: [0, 0, -L / 2], q: [1, 0, 0, 0] }], switchable: true },
    ],
    forces: [
      { name: "return spring", type: "SpringDamper", draw: "coil", points: [{ body: -1, p: [-1.6, 0, 0] }, { body: 0, p: [0, 0, -0.2] }], natural: 1.4 },
      { name: "damper", type: "Damper", draw: "coil-damper", points: [{ body: 0, p: [0, 0, 0] }, { body: 1, p: [0, 0, 0] }], natural: 0.9 },
    ],
    info: {
      degrees_of_freedom: 2,
      redundant: [{ constraint: "elbow", direction: "rotation about x" }],
      notes: ["At t = 4.1 s the arm is stretched: a singular position.", "The reaction torque of elbow about x is not unique."],
      accuracy: { "energy error": "2.1e-9", "position drift": "3e-13 m", "velocity drift": "5e-12 m/s" },
    },
    graph: {
      nodes: [{ name: "ground", x: 0.5, y: 0, ground: true }, { name: "arm.upper", x: 0.2, y: 0.5 }, { name: "arm.lower", x: 0.7, y: 1 }],
      edges: [{ name: "shoulder", first: 0, second: 1 }, { name: "elbow", first: 1, second: 2, redundant: true }, { name: "stop", first: 0, second: 2, loop: true }],
    },
    runs,
  };
}
