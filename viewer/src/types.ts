// The data that the package hands to the page. See viewer/README.md for the meaning of every field.

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number]; // w, x, y, z
export type NumberArray = Float64Array | Float32Array | Uint32Array | Uint16Array;

/** An array of numbers: base64 of its compressed bytes, or an address of the live server that returns these bytes. */
export interface Packed {
  type: "f64" | "f32" | "f16" | "u32" | "u16" | "d16";
  shape: number[];
  data?: string;
  url?: string;
  scale?: number[];
  offset?: number[];
}

export interface Pose {
  p: Vector;
  q: Quaternion;
}

export type ShapeKind = "box" | "sphere" | "cylinder" | "capsule" | "cone" | "ellipsoid" | "plane" | "mesh" | "line" | "extrusion" | "thread";

export interface Shape {
  kind: ShapeKind;
  size?: number[];
  p?: Vector;
  q?: Quaternion;
  colour?: number[] | null;
  made?: boolean;
  mesh?: number;
  points?: Vector[];
  /** Of an extrusion along z: its outline and the outlines of its holes. */
  outline?: Flat[];
  holes?: Flat[][];
}

export type Flat = [number, number];

/** A shape that shows an element, fixed in a body. */
export interface Solid extends Shape {
  body: number;
}

/** A point or a pulley of a cable. */
export interface Stop {
  /** That carries the axis; `wheel`: that turns about it. */
  body: number;
  wheel: number;
  p: Vector;
  /** Radius, positive where the rope runs anticlockwise about `normal`, which is in axes of `body`. */
  rho: number;
  normal: Vector;
}

export interface BodyData extends Pose {
  name: string;
  mass?: number | null;
  ellipsoid?: { semi: Vector; q: Quaternion } | null;
  shapes: Shape[];
}

export interface MeshData {
  name: string;
  positions: Packed;
  indices: Packed;
}

export interface JointData {
  name: string;
  type: string;
  draw: string;
  first: number;
  second: number;
  frames: Pose[];
  size?: number | null;
  /** Of a contact or a rolling wheel. */
  radius?: number | null;
  redundant?: string[];
  switchable?: boolean;
  rows?: string[];
  solids?: Solid[];
}

export interface ForceData {
  name: string;
  type: string;
  draw: string;
  points: { body: number; p: Vector; q?: Quaternion }[];
  natural?: number | null;
  switchable?: boolean;
  solids?: Solid[];
  stops?: Stop[];
  closed?: boolean;
}

export interface Information {
  degrees_of_freedom?: number | null;
  redundant?: { constraint: string; direction: string }[];
  notes?: string[];
  warning?: string | null;
  accuracy?: Record<string, string | number>;
}

export interface GraphData {
  nodes: { name: string; x?: number; y?: number; ground?: boolean }[];
  edges: { name: string; first: number; second: number; loop?: boolean; redundant?: boolean }[];
}

export interface Poses {
  p: Packed;
  q: Packed;
}

export interface Chunk {
  first: number;
  frames: number;
  poses: Poses;
}

export interface SignalData {
  name: string;
  group?: string;
  unit?: string;
  label?: string;
  values: Packed;
}

/** Forces and torques over time for each joint or body, or for those in `index`. */
export interface VectorData {
  force: Packed;
  torque?: Packed;
  index?: number[];
}

export interface RunData {
  name: string;
  times: Packed;
  frames?: number;
  poses?: Poses;
  chunks?: Chunk[];
  signals?: SignalData[];
  reactions?: VectorData | null;
  /** What acts on bodies besides gravity and reactions, at their centres of mass. */
  loads?: VectorData | null;
  /** Of bodies: velocities of centres of mass in world axes, angular velocities in body axes. */
  motion?: { velocity: Packed; angular_velocity: Packed } | null;
  events?: { time: number; name: string }[];
  rows?: RowData[];
}

export interface RowData {
  name: string;
  spans: [number, number][];
  /** Times at which nothing is known about it. */
  gaps?: [number, number][];
}

export interface ModeData {
  name: string;
  frequency?: number | null;
  damping?: number | null;
  shape: { p: Packed; r: Packed };
}

export interface ViewData {
  format: string;
  version: number;
  name: string;
  subtitle?: string;
  size?: number;
  up?: Vector;
  gravity?: Vector;
  bodies: BodyData[];
  ground?: Shape[];
  meshes?: MeshData[];
  joints?: JointData[];
  forces?: ForceData[];
  info?: Information;
  graph?: GraphData | null;
  runs?: RunData[];
  modes?: ModeData[] | null;
  views?: { name: string; direction: Vector }[];
}

/** What the page holds instead of data where a server sends them. */
export interface LiveTag {
  live: true;
  token: string;
}
