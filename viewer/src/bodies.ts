// Bodies: their frames in the scene graph and the parts that show their shapes, centres of mass, axes and inertia.

import * as THREE from "three";
import { inside, place, span } from "./placement.ts";
import type { Anchor, Component, Layer, Part } from "./parts.ts";
import type { Geometries } from "./shapes.ts";
import type { BodyData, Shape, Solid, Vector } from "./types.ts";

const PALETTE = ["#4a86c5", "#e08a3c", "#5aa772", "#c9605a", "#8d78c4", "#c9a63a", "#45a0a6", "#c27a9e", "#7f93a8", "#a37c5b"];

const FARTHEST = 1e15; // metres: numbers of 32 bits, of which squares are formed, hold no more

/** A body in the scene: a group whose world transform is the body's pose. */
export class BodyFrame implements Anchor {
  readonly group = new THREE.Group();
  valid = true;

  constructor(readonly data: BodyData) {
    this.group.name = data.name;
    this.group.matrixAutoUpdate = false;
    this.group.matrixWorldAutoUpdate = false;
    this.move([...data.p, ...data.q], 0);
  }

  get matrix(): THREE.Matrix4 {
    return this.group.matrixWorld;
  }

  /** Takes the pose at values[k…k+6] = x, y, z, w, x, y, z. A body whose pose is not finite, or too far away to be drawn, is left out. */
  move(values: ArrayLike<number>, k: number): void {
    let largest = 0;
    for (let c = 0; c < 7; c++) largest += Math.abs(values[k + c]);
    this.valid = largest < FARTHEST; // false for NaN
    if (!this.valid) return;
    const { group } = this;
    group.position.set(values[k], values[k + 1], values[k + 2]);
    group.quaternion.set(values[k + 4], values[k + 5], values[k + 6], values[k + 3]);
    group.matrix.compose(group.position, group.quaternion, group.scale);
    group.matrixWorld.copy(group.matrix);
  }
}

export const GROUND: Anchor = { matrix: new THREE.Matrix4(), valid: true };

function colourOf(shape: Shape, fallback: THREE.Color): THREE.Color {
  const c = shape.colour;
  return c ? new THREE.Color().setRGB(c[0], c[1], c[2], THREE.SRGBColorSpace) : fallback;
}

const ELEMENT = new THREE.Color("#8d97a5");
const MADE_BOX = 0.35; // opacity
const MANY = 14; // bodies: above this, those with similar names have similar colours

/** Colours of bodies without one of their own: different ones, or where bodies are many one for each family of names. */
export function bodyColours(names: string[]): THREE.Color[] {
  if (names.length <= MANY) return names.map((_, i) => new THREE.Color(PALETTE[i % PALETTE.length]));
  const families = new Map<string, number>();
  return names.map((name, i) => {
    const family = name.replace(/[\d\s_\-[\]().]*\d[\d\s_\-[\]().]*/g, "");
    if (!families.has(family)) families.set(family, families.size);
    const colour = new THREE.Color(PALETTE[(families.get(family) ?? 0) % PALETTE.length]);
    return colour.offsetHSL(0, 0, (((i * 0.618034) % 1) - 0.5) * 0.14);
  });
}

function lineSegments(points: Vector[], thickness: number, frame: THREE.Matrix4): { geometry: string; local: THREE.Matrix4 }[] {
  const step = Math.max(1, Math.ceil(points.length / 400));
  const kept = points.filter((_, i) => i % step === 0 || i === points.length - 1);
  const list: { geometry: string; local: THREE.Matrix4 }[] = [];
  for (let i = 0; i + 1 < kept.length; i++) {
    const local = new THREE.Matrix4();
    span(new THREE.Vector3(...kept[i]), new THREE.Vector3(...kept[i + 1]), thickness, true, local);
    list.push({ geometry: kept.length > 60 ? "thin" : "cylinder", local: frame.clone().multiply(local) });
    if (i > 0 && kept.length <= 60) list.push({ geometry: "sphere", local: inside(frame, kept[i], [thickness, thickness, thickness]) });
  }
  return list;
}

/** The geometries that make up a shape, each with its matrix in the frame of its owner. */
function solidsOf(shape: Shape, geometries: Geometries, size: number): { geometry: string; local: THREE.Matrix4 }[] {
  const frame = place(shape.p, shape.q);
  const [a = 0.1 * size, b = a, c = a] = shape.size ?? [];
  const scaled = (x: number, y: number, z: number): THREE.Matrix4 => inside(frame, [0, 0, 0], [x, y, z]);
  switch (shape.kind) {
    case "sphere":
      return [{ geometry: "sphere", local: scaled(a, a, a) }];
    case "ellipsoid":
      return [{ geometry: "sphere", local: scaled(a, b, c) }];
    case "cylinder":
    case "cone":
      return [{ geometry: shape.kind, local: scaled(a, a, b) }];
    case "capsule":
      return [
        { geometry: "cylinder", local: scaled(a, a, b) },
        { geometry: "dome", local: inside(frame, [0, 0, b / 2], [a, a, a]) },
        { geometry: "dome", local: inside(frame, [0, 0, -b / 2], [a, a, a], new THREE.Euler(Math.PI, 0, 0)) },
      ];
    case "plane":
      return [{ geometry: "plane", local: scaled(a, b, 1) }];
    case "mesh": {
      const key = `mesh-${shape.mesh ?? -1}`;
      if (geometries.has(key)) return [{ geometry: key, local: frame }];
      return [{ geometry: "box", local: scaled(0.1 * size, 0.1 * size, 0.1 * size) }];
    }
    case "extrusion":
      return [{ geometry: geometries.extrusion(shape.outline ?? [], shape.holes ?? []), local: scaled(1, 1, a) }];
    case "thread":
      return [{ geometry: `coil-${Math.round(c)}-${Math.max(2, Math.round(b / a))}`, local: inside(frame, [0, 0, -b / 2], [a, a, b]) }];
    case "line":
      return lineSegments(shape.points ?? [], 0.006 * size, frame);
    default:
      return [{ geometry: "box", local: scaled(a, b, c) }];
  }
}

/** Parts for the shapes of a body or of the ground. */
export function shapeParts(shapes: Shape[], anchor: Anchor, component: Component, fallback: THREE.Color, layer: Layer, geometries: Geometries, size: number): Part[] {
  // A box made from the inertia alone must not hide the bars between the joints.
  const hasBars = shapes.some((shape) => shape.made && shape.kind === "capsule");
  return shapes.flatMap((shape) =>
    solidsOf(shape, geometries, size).map(({ geometry, local }) => ({
      geometry,
      anchor,
      local,
      colour: layer === "ghost" ? fallback : colourOf(shape, fallback),
      alpha: layer === "ghost" ? 0.3 : (shape.colour?.[3] ?? (shape.kind === "plane" ? 0.42 : hasBars && shape.made && shape.kind === "box" ? MADE_BOX : 1)),
      component,
      layer,
    })),
  );
}

/** Parts for the solids that show an element. */
export function solidParts(solids: Solid[], anchorOf: (body: number) => Anchor, component: Component, layer: Layer, geometries: Geometries, size: number): Part[] {
  return solids.flatMap((solid) => shapeParts([solid], anchorOf(solid.body), component, ELEMENT, layer, geometries, size));
}

const AXES: [string, THREE.Euler][] = [
  ["#e0483e", new THREE.Euler(0, Math.PI / 2, 0)],
  ["#3fa34d", new THREE.Euler(-Math.PI / 2, 0, 0)],
  ["#3b7dd8", new THREE.Euler(0, 0, 0)],
];

/** Three arrows along the axes of a frame. */
export function axesParts(anchor: Anchor, frame: THREE.Matrix4, length: number, component: Component | null): Part[] {
  return AXES.flatMap(([colour, turn]) => {
    const axis = frame.clone().multiply(new THREE.Matrix4().makeRotationFromEuler(turn));
    const common = { anchor, colour: new THREE.Color(colour), alpha: 1, component, layer: "frames" as Layer };
    return [
      { ...common, geometry: "cylinder", local: inside(axis, [0, 0, 0.4 * length], [0.022 * length, 0.022 * length, 0.8 * length]) },
      { ...common, geometry: "cone", local: inside(axis, [0, 0, 0.9 * length], [0.065 * length, 0.065 * length, 0.2 * length]) },
    ];
  });
}

/** Parts that show the centre of mass, the axes and the inertia ellipsoid of a body. */
export function inertiaParts(body: BodyFrame, component: Component, size: number): Part[] {
  const centre = (geometry: string, scale: number, colour: string): Part => ({
    geometry,
    anchor: body,
    local: inside(new THREE.Matrix4(), [0, 0, 0], [scale, scale, scale]),
    colour: new THREE.Color(colour),
    alpha: 1,
    component,
    layer: "centres",
  });
  const parts = [centre("sphere", 0.013 * size, "#f2c230"), ...axesParts(body, new THREE.Matrix4(), 0.09 * size, component)];
  const ellipsoid = body.data.ellipsoid;
  if (ellipsoid && ellipsoid.semi.every(Number.isFinite)) {
    const local = place([0, 0, 0], ellipsoid.q, ellipsoid.semi.map((s) => Math.max(s, 1e-4 * size)) as Vector);
    parts.push({ geometry: "sphere", anchor: body, local, colour: new THREE.Color("#9a7fd1"), alpha: 0.35, component, layer: "ellipsoids" });
  }
  return parts;
}
