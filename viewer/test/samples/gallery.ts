// One of everything: shapes, joints, springs, a mesh; and odd data.

import { packF32, packF64, packU32 } from "../pack.ts";
import type { BodyData, ForceData, JointData, MeshData, Packed, Quaternion, RunData, Shape, Vector, ViewData } from "../../src/types.ts";
import { about, zTo } from "./quaternions.ts";

const DRAWINGS = ["hinge", "slider", "cylinder", "screw", "ball", "universal", "plane", "fixed", "free", "contact", "distance", "point", "rolling", "other"];
const FORCES = ["coil", "damper", "coil-damper", "torsion", "cable", "arrow", "torque", "friction"];
const ONE: Quaternion = [1, 0, 0, 0];

/** A wheel with spokes as triangles. */
function starMesh(): MeshData {
  const points: number[] = [];
  const triangles: number[] = [];
  const n = 12;
  for (const z of [-0.1, 0.1]) for (let i = 0; i < n; i++) points.push((i % 2 ? 0.25 : 0.45) * Math.cos((2 * Math.PI * i) / n), (i % 2 ? 0.25 : 0.45) * Math.sin((2 * Math.PI * i) / n), z);
  points.push(0, 0, -0.1, 0, 0, 0.1);
  for (let i = 0; i < n; i++) {
    const j = (i + 1) % n;
    triangles.push(j, i, 2 * n, n + i, n + j, 2 * n + 1, i, j, n + j, i, n + j, n + i);
  }
  return { name: "star.stl", positions: packF32(points, [points.length / 3, 3]), indices: packU32(triangles, [triangles.length / 3, 3]) };
}

function oscillation(bodies: BodyData[], frames: number): RunData {
  const [p, q]: number[][] = [[], []];
  for (let frame = 0; frame < frames; frame++) {
    const s = 0.25 * Math.sin((2 * Math.PI * frame) / 100);
    for (const body of bodies) {
      p.push(body.p[0], body.p[1], body.p[2] + s);
      q.push(...about([0, 0, 1], 4 * s));
    }
  }
  return {
    name: "up and down",
    times: packF64(Array.from({ length: frames }, (_, i) => 0.02 * i)),
    frames,
    poses: { p: packF32(p, [frames, bodies.length, 3]), q: packF32(q, [frames, bodies.length, 4]) },
    rows: [{ name: "contact", spans: [[0.5, 1.5], [2.5, 3.5]] }],
    events: [{ time: 0.5, name: "contact closes" }],
  };
}

export function gallery(): ViewData {
  const bodies: BodyData[] = [];
  const joints: JointData[] = [];
  const forces: ForceData[] = [];
  const add = (name: string, p: Vector, shapes: Shape[]): number => bodies.push({ name, p, q: ONE, mass: 1, ellipsoid: { semi: [0.1, 0.15, 0.2], q: ONE }, shapes }) - 1;
  DRAWINGS.forEach((draw, i) => {
    const p: Vector = [(i % 7) * 1.5, Math.floor(i / 7) * 2, 1];
    const body = add(`joints.${draw}`, p, [{ kind: "box", size: [0.3, 0.3, 0.3], p: [0, 0.35, 0] }]);
    joints.push({ name: draw, type: draw, draw, first: -1, second: body, frames: [{ p: draw === "distance" ? [p[0], p[1], 0.2] : p, q: ONE }, { p: [0, 0, 0], q: ONE }], switchable: draw === "contact" });
  });
  FORCES.forEach((draw, i) => {
    const p: Vector = [i * 1.3, -2, 1];
    const body = add(`forces.${draw}`, p, [{ kind: "sphere", size: [0.15] }]);
    forces.push({ name: draw, type: draw, draw, points: draw === "arrow" || draw === "torque" ? [{ body, p: [0, 0, 0] }] : [{ body: -1, p: [p[0], p[1], 0] }, { body, p: [0, 0, 0] }], natural: 1 });
  });
  const shapes: Shape[] = [
    { kind: "box", size: [0.6, 0.4, 0.8] },
    { kind: "sphere", size: [0.4] },
    { kind: "cylinder", size: [0.3, 0.9] },
    { kind: "capsule", size: [0.25, 0.6] },
    { kind: "cone", size: [0.4, 0.9] },
    { kind: "ellipsoid", size: [0.5, 0.3, 0.2] },
    { kind: "mesh", mesh: 0 },
    { kind: "line", points: [[-0.4, 0, 0], [0, 0, 0.4], [0.4, 0, 0], [0, 0.4, -0.3]] },
  ];
  shapes.forEach((shape, i) => add(`shapes.${shape.kind}`, [i * 1.3, -4, 1], [shape]));
  return {
    format: "torsor-view",
    version: 1,
    name: "One of everything",
    subtitle: "shapes, joints, forces",
    size: 6,
    up: [0, 0, 1],
    bodies,
    ground: [{ kind: "plane", size: [12, 9], p: [4.5, -1, 0] }],
    meshes: [starMesh()],
    joints,
    forces,
    runs: [oscillation(bodies, 200)],
  };
}

/** A beam with two modes. */
export function modes(): ViewData {
  const n = 12;
  const bodies: BodyData[] = Array.from({ length: n }, (_, i) => ({ name: `beam.part ${i + 1}`, p: [0.3 * i + 0.15, 0, 0], q: ONE, mass: 1, shapes: [{ kind: "box", size: [0.28, 0.12, 0.12], colour: [0.3, 0.55, 0.8, 1] }] }));
  const shape = (waves: number): { p: Packed; r: Packed } => {
    const p: number[] = [];
    const r: number[] = [];
    bodies.forEach((body) => {
      const k = (waves * Math.PI) / (0.3 * n);
      p.push(0, 0, 0, 0, Math.sin(k * body.p[0]), 0);
      r.push(0, 0, -k * Math.cos(k * body.p[0]), 0, 0, 0);
    });
    return { p: packF64(p, [n, 3, 2]), r: packF64(r, [n, 3, 2]) };
  };
  return {
    format: "torsor-view",
    version: 1,
    name: "Beam",
    subtitle: "linear model",
    size: 3.6,
    up: [0, 0, 1],
    bodies,
    joints: [],
    runs: [],
    modes: [1, 2, 3].map((waves) => ({ name: `mode ${waves}`, frequency: 4.2 * waves * waves, damping: 0.01 * waves, shape: shape(waves) })),
  };
}

const NAMES = ["<img src=x onerror=alert(1)>", "</script><script>window.hacked=1</script>", "\"quotes\" 'and' `ticks`", "مفصل الركبة", "🤖.arm.👩‍🔧", "a.b..c", "", "__proto__", "constructor", "x".repeat(300), "javascript:alert(1)", "ε\u202Eabc"];

/** Names that no one should use, poses that are no numbers, one frame only, graphs with errors. */
export function odd(): ViewData {
  const bodies: BodyData[] = NAMES.map((name, i) => ({ name, p: [i, 0, 0.5], q: ONE, mass: NaN as unknown as null, shapes: [{ kind: "box", size: [0.6, 0.6, 0.6] }] }));
  const p = bodies.flatMap((body, i) => (i === 3 ? [NaN, NaN, NaN] : body.p));
  const q = bodies.flatMap((_, i) => (i === 3 ? [NaN, NaN, NaN, NaN] : ONE));
  return {
    format: "torsor-view",
    version: 1,
    name: NAMES[0],
    subtitle: NAMES[1],
    size: 4,
    up: [0, 1, 0],
    bodies,
    meshes: [{ name: NAMES[1], positions: { type: "f32", shape: [3, 3], data: "!!" }, indices: packU32([0, 1, 2], [1, 3]) }],
    joints: NAMES.map((name, i) => ({ name, type: NAMES[0], draw: "unheard of", first: -1, second: i, frames: [{ p: [i, 0, 0], q: zTo([0, 1, 0]) }, { p: [0, -0.5, 0], q: ONE }], redundant: [NAMES[0]] })),
    forces: NAMES.map((name, i) => ({ name, type: name, draw: i % 2 ? "coil" : "what", points: [{ body: -1, p: [i, 2, 0] }, { body: i, p: [0, 0, 0] }], natural: null })),
    info: { degrees_of_freedom: null, redundant: NAMES.map((name) => ({ constraint: name, direction: name })), notes: NAMES, warning: NAMES[0], accuracy: { [NAMES[0]]: NAMES[1] } },
    runs: [
      {
        name: NAMES[0],
        times: packF64([0]),
        frames: 1,
        poses: { p: packF32(p, [1, NAMES.length, 3]), q: packF32(q, [1, NAMES.length, 4]) },
        signals: NAMES.map((name) => ({ name, group: name, unit: name, label: name, values: packF32([NaN]) })),
        events: NAMES.map((name) => ({ time: 0, name })),
        rows: NAMES.map((name) => ({ name, spans: [[0, 0]] })),
      },
    ],
  };
}

/** No body at all. */
export function empty(): ViewData {
  return { format: "torsor-view", version: 1, name: "Nothing", bodies: [], runs: [] };
}
