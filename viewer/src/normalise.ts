// Brings data into the form that the rest of the page relies on: what is missing or of the wrong kind gets a default or is left out.

import type { BodyData, ForceData, GraphData, Information, JointData, ModeData, Pose, Quaternion, RowData, RunData, Shape, ShapeKind, SignalData, Flat, Solid, Stop, Vector, ViewData } from "./types.ts";

type Loose = Record<string, unknown>;

const KINDS: ShapeKind[] = ["box", "sphere", "cylinder", "capsule", "cone", "ellipsoid", "plane", "mesh", "line", "extrusion", "thread"];

const isObject = (value: unknown): value is Loose => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const objects = (value: unknown): Loose[] => list(value).filter(isObject);
const text = (value: unknown, other = ""): string => (typeof value === "string" ? value : typeof value === "number" ? String(value) : other);
const numberOr = <T>(value: unknown, other: T): number | T => (isNumber(value) ? value : other);

function vector(value: unknown, other: Vector = [0, 0, 0]): Vector {
  const given = list(value);
  return given.length === 3 && given.every((c) => isNumber(c) && Math.abs(c) < 1e15) ? (given as Vector) : other;
}

function quaternion(value: unknown): Quaternion {
  const given = list(value) as number[];
  return given.length === 4 && given.every(isNumber) && Math.hypot(...given) > 1e-9 ? (given as Quaternion) : [1, 0, 0, 0];
}

const pose = (value: Loose): Pose => ({ p: vector(value.p), q: quaternion(value.q) });

const flat = (value: unknown): Flat[] => list(value).filter((point): point is Flat => list(point).length === 2 && list(point).every(isNumber));

function shapes(value: unknown): Shape[] {
  return objects(value)
    .filter((shape) => KINDS.includes(shape.kind as ShapeKind))
    .map((shape) => ({
      ...pose(shape),
      kind: shape.kind as ShapeKind,
      size: list(shape.size).filter((size): size is number => isNumber(size) && size >= 0 && size < 1e15),
      colour: list(shape.colour).length >= 3 && list(shape.colour).every(isNumber) ? (shape.colour as number[]) : null,
      made: shape.made === true,
      mesh: numberOr(shape.mesh, undefined),
      points: list(shape.points).map((point) => vector(point)),
      ...(shape.kind === "extrusion" ? { outline: flat(shape.outline), holes: list(shape.holes).map(flat) } : {}),
    }));
}

const solids = (value: unknown): Solid[] => objects(value).flatMap((one) => shapes([one]).map((shape) => ({ ...shape, body: numberOr(one.body, -1) })));

const stop = (value: Loose): Stop => ({ body: numberOr(value.body, -1), wheel: numberOr(value.wheel, -1), p: vector(value.p), rho: numberOr(value.rho, 0), normal: vector(value.normal, [0, 0, 1]) });

function body(value: Loose): BodyData {
  const ellipsoid = isObject(value.ellipsoid) ? { semi: vector(value.ellipsoid.semi), q: quaternion(value.ellipsoid.q) } : null;
  return { ...pose(value), name: text(value.name), mass: numberOr(value.mass, null), ellipsoid, shapes: shapes(value.shapes) };
}

function joint(value: Loose): JointData {
  return {
    name: text(value.name),
    type: text(value.type, "joint"),
    draw: text(value.draw, "other"),
    first: numberOr(value.first, -1),
    second: numberOr(value.second, -1),
    frames: objects(value.frames).map(pose),
    size: numberOr(value.size, null),
    radius: numberOr(value.radius, null),
    redundant: list(value.redundant).map((one) => text(one)),
    switchable: value.switchable === true,
    solids: solids(value.solids),
  };
}

function force(value: Loose): ForceData {
  const points = objects(value.points).map((point) => ({ body: numberOr(point.body, -1), ...pose(point) }));
  return {
    name: text(value.name),
    type: text(value.type, "force"),
    draw: text(value.draw, "none"),
    points,
    natural: numberOr(value.natural, null),
    switchable: value.switchable === true,
    solids: solids(value.solids),
    stops: objects(value.stops).map(stop),
    closed: value.closed === true,
  };
}

function information(value: unknown): Information {
  const info = isObject(value) ? value : {};
  return {
    degrees_of_freedom: numberOr(info.degrees_of_freedom, null),
    redundant: objects(info.redundant).map((one) => ({ constraint: text(one.constraint), direction: text(one.direction) })),
    notes: list(info.notes).map((one) => text(one)),
    warning: typeof info.warning === "string" ? info.warning : null,
    accuracy: isObject(info.accuracy) ? Object.fromEntries(Object.entries(info.accuracy).map(([key, one]) => [key, text(one, "–")])) : {},
  };
}

function graph(value: unknown): GraphData | null {
  if (!isObject(value)) return null;
  const nodes = objects(value.nodes).map((node) => ({ name: text(node.name), x: numberOr(node.x, undefined), y: numberOr(node.y, undefined), ground: node.ground === true }));
  const edges = objects(value.edges).map((edge) => ({ name: text(edge.name), first: numberOr(edge.first, -1), second: numberOr(edge.second, -1), loop: edge.loop === true, redundant: edge.redundant === true }));
  return { nodes, edges };
}

function row(value: Loose): RowData {
  const spans = (given: unknown): [number, number][] =>
    (list(given).filter((span) => list(span).length === 2 && list(span).every(isNumber)) as [number, number][]).sort((a, b) => a[0] - b[0]);
  return { name: text(value.name), spans: spans(value.spans), gaps: spans(value.gaps) };
}

function signal(value: Loose): SignalData {
  return { name: text(value.name), group: text(value.group), unit: text(value.unit), label: text(value.label), values: value.values as SignalData["values"] };
}

function run(value: Loose): RunData {
  return {
    name: text(value.name),
    times: value.times as RunData["times"],
    poses: isObject(value.poses) ? (value.poses as unknown as RunData["poses"]) : undefined,
    chunks: value.chunks ? (objects(value.chunks) as unknown as RunData["chunks"]) : undefined,
    signals: objects(value.signals).filter((one) => isObject(one.values)).map(signal),
    reactions: isObject(value.reactions) && isObject(value.reactions.force) ? (value.reactions as unknown as RunData["reactions"]) : null,
    loads: isObject(value.loads) && isObject(value.loads.force) ? (value.loads as unknown as RunData["loads"]) : null,
    motion: isObject(value.motion) && isObject(value.motion.velocity) && isObject(value.motion.angular_velocity) ? (value.motion as unknown as RunData["motion"]) : null,
    events: objects(value.events).filter((event) => isNumber(event.time)).map((event) => ({ time: event.time as number, name: text(event.name) })),
    rows: objects(value.rows).map(row),
  };
}

function mode(value: Loose): ModeData {
  return { name: text(value.name), frequency: numberOr(value.frequency, null), damping: numberOr(value.damping, null), shape: value.shape as ModeData["shape"] };
}

/** Data as the page needs them. Refuses what is of another format. */
export function normalise(given: unknown): ViewData {
  const data = isObject(given) ? given : {};
  if (data.format !== "torsor-view" || data.version !== 1) throw new Error(`its format is ${text(data.format, "unknown")} ${text(data.version)}, this page reads torsor-view 1`);
  const up = vector(data.up, [0, 0, 1]);
  return {
    format: "torsor-view",
    version: 1,
    name: text(data.name, "torsor"),
    subtitle: text(data.subtitle),
    size: isNumber(data.size) && data.size > 0 && data.size < 1e15 ? data.size : 1,
    up: Math.hypot(...up) > 0 ? up : [0, 0, 1],
    gravity: vector(data.gravity),
    bodies: objects(data.bodies).map(body),
    ground: shapes(data.ground),
    meshes: objects(data.meshes).map((mesh) => ({ ...mesh, name: text(mesh.name) })) as ViewData["meshes"],
    joints: objects(data.joints).map(joint),
    forces: objects(data.forces).map(force),
    info: information(data.info),
    graph: graph(data.graph),
    runs: objects(data.runs).filter((one) => isObject(one.times)).map(run),
    modes: objects(data.modes).filter((one) => isObject(one.shape)).map(mode),
    views: objects(data.views).map((view) => ({ name: text(view.name), direction: vector(view.direction, [1, 1, 1]) })),
  };
}
