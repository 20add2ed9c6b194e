// Joints, drawn as what they are. z of a joint's frame is its axis, or the normal of a contact.

import * as THREE from "three";
import { inside, place, span } from "./placement.ts";
import type { Anchor, Component, Part } from "./parts.ts";
import type { JointData, Vector } from "./types.ts";

const STEEL = new THREE.Color("#5b6472");
const BRIGHT = new THREE.Color("#aab4c0");
const REDUNDANT = new THREE.Color("#e0338f");
const ENGAGED = new THREE.Color("#f0841a");
const RELEASED = new THREE.Color("#9aa5b1");

/** A joint in the scene. `update` moves what spans between the two bodies. */
export interface JointView {
  parts: Part[];
  update?: () => void;
  /** Takes note of the present position, so that a rail covers the whole motion. */
  observe?: () => void;
  setEngaged?: (engaged: boolean) => boolean;
}

const DRIVE = new THREE.Color("#2f7dd1");

type Piece = [side: 0 | 1, geometry: string, shift: Vector, scale: Vector, colour?: THREE.Color, turn?: THREE.Euler, alpha?: number];

const ACROSS = new THREE.Euler(Math.PI / 2, 0, 0);
const OVER = new THREE.Euler(Math.PI, 0, 0);

/** The pieces of each way to draw, in units of the joint's size. */
const PIECES: Record<string, Piece[]> = {
  hinge: [
    [0, "cylinder", [0, 0, 0], [0.3, 0.3, 0.5]],
    [1, "cylinder", [0, 0, 0], [0.17, 0.17, 0.95], BRIGHT],
    [0, "thin", [0, 0, 0], [0.025, 0.025, 2.4]],
  ],
  screw: [
    [0, "cylinder", [0, 0, 0], [0.34, 0.34, 0.5]],
    [1, "cylinder", [0, 0, 0], [0.14, 0.14, 2.2], BRIGHT],
    [1, "coil-8-8", [0, 0, -1.1], [0.2, 0.2, 2.2]],
  ],
  ball: [
    [1, "sphere", [0, 0, 0], [0.28, 0.28, 0.28], BRIGHT],
    [0, "dome", [0, 0, 0], [0.36, 0.36, 0.36], STEEL, OVER],
  ],
  universal: [
    [0, "cylinder", [0, 0, 0], [0.13, 0.13, 1.1]],
    [1, "cylinder", [0, 0, 0], [0.13, 0.13, 1.1], BRIGHT],
    [0, "sphere", [0, 0, 0], [0.22, 0.22, 0.22]],
  ],
  plane: [
    [0, "box", [0, 0, 0], [2.2, 2.2, 0.05], STEEL, undefined, 0.45],
    [1, "cylinder", [0, 0, 0.06], [0.3, 0.3, 0.12], BRIGHT],
  ],
  fixed: [
    [0, "box", [0, 0, 0], [0.42, 0.42, 0.42]],
    [1, "box", [0, 0, 0], [0.36, 0.36, 0.36], BRIGHT, new THREE.Euler(0, 0, Math.PI / 4)],
  ],
  contact: [[0, "cylinder", [0, 0, 0], [0.4, 0.4, 0.06]]],
  rolling: [
    [0, "ring", [0, 0, 0], [0.5, 0.5, 0.5]],
    [1, "sphere", [0, 0, 0], [0.14, 0.14, 0.14], BRIGHT],
  ],
  point: [
    [1, "sphere", [0, 0, 0], [0.17, 0.17, 0.17], BRIGHT],
    [0, "ring", [0, 0, 0], [0.32, 0.32, 0.32]],
  ],
  other: [
    [0, "box", [0, 0, 0], [0.34, 0.34, 0.34], STEEL, new THREE.Euler(Math.PI / 4, 0.6, 0)],
    [1, "cylinder", [0, 0, 0], [0.07, 0.07, 0.9], BRIGHT, ACROSS],
  ],
  gear: [[0, "tube", [0, 0, 0], [0.42, 0.42, 0.6]]],
  drive: [[0, "ring", [0, 0, 0], [0.55, 0.55, 0.8], DRIVE], [0, "cone", [0.55, 0, 0], [0.16, 0.16, 0.36], DRIVE, ACROSS]],
  limit: [[0, "ring", [0, 0, 0], [0.48, 0.48, 0.5]]],
  lock: [[0, "box", [0, 0, 0], [0.62, 0.62, 0.3]]],
  friction: [[0, "ring", [0, 0, 0], [0.38, 0.38, 1.4], BRIGHT]],
  free: [],
  distance: [],
};

function rod(data: JointData, anchors: [Anchor, Anchor], size: number, make: (side: 0 | 1, geometry: string, local: THREE.Matrix4, colour: THREE.Color) => Part, ground: Anchor): JointView {
  const ends = data.frames.slice(0, 2).map((frame) => new THREE.Vector3(...frame.p));
  const balls = ends.map((_, i) => make(i as 0 | 1, "sphere", inside(place(data.frames[i].p), [0, 0, 0], [0.16 * size, 0.16 * size, 0.16 * size]), STEEL));
  const bar = make(0, "cylinder", new THREE.Matrix4(), BRIGHT);
  bar.anchor = ground;
  const [a, b] = [new THREE.Vector3(), new THREE.Vector3()];
  return {
    parts: [...balls, bar],
    update: () => {
      bar.off = !(anchors[0].valid && anchors[1].valid);
      if (!bar.off) span(a.copy(ends[0]).applyMatrix4(anchors[0].matrix), b.copy(ends[1]).applyMatrix4(anchors[1].matrix), 0.07 * size, true, bar.local);
    },
  };
}

/** A rail along z on one side, as long as the motion asks for, and a sleeve on the other side. */
function rail(data: JointData, anchors: [Anchor, Anchor], size: number, make: (side: 0 | 1, geometry: string, local: THREE.Matrix4, colour: THREE.Color) => Part): JointView {
  // What stands still, or else the first body, carries the rail.
  const side = data.second < 0 ? 1 : 0;
  const other = side === 0 ? 1 : 0;
  const frames = data.frames.map((frame) => place(frame.p, frame.q));
  const box = data.draw === "slider";
  const sleeve = box ? make(other, "box", inside(frames[other], [0, 0, 0], [0.5 * size, 0.5 * size, 0.8 * size]), STEEL) : make(other, "cylinder", inside(frames[other], [0, 0, 0], [0.3 * size, 0.3 * size, 0.9 * size]), STEEL);
  const bar = make(side, box ? "box" : "cylinder", new THREE.Matrix4(), BRIGHT);
  const ends = [make(side, "cone", new THREE.Matrix4(), STEEL), make(side, "cone", new THREE.Matrix4(), STEEL)];
  for (const part of [bar, ...ends]) part.aside = true;
  const inverse = frames[side].clone().invert();
  const toRail = new THREE.Matrix4();
  const at = new THREE.Vector3();
  const range = { low: 0, high: 0, seen: false };
  const thick = (box ? 0.2 : 0.17) * size;
  const update = (): void => {
    const low = range.low - 1.25 * size;
    const high = range.high + 1.25 * size;
    bar.local.copy(inside(frames[side], [0, 0, (low + high) / 2], [thick, thick, high - low]));
    ends[0].local.copy(inside(frames[side], [0, 0, high + 0.15 * size], [0.18 * size, 0.18 * size, 0.3 * size]));
    ends[1].local.copy(inside(frames[side], [0, 0, low - 0.15 * size], [0.18 * size, 0.18 * size, 0.3 * size], OVER));
  };
  return {
    parts: [sleeve, bar, ...ends],
    observe: () => {
      if (!anchors[0].valid || !anchors[1].valid) return;
      toRail.copy(anchors[side].matrix).invert().premultiply(inverse);
      at.set(...data.frames[other].p).applyMatrix4(anchors[other].matrix).applyMatrix4(toRail);
      if (!Number.isFinite(at.z)) return;
      range.low = range.seen ? Math.min(range.low, at.z) : at.z;
      range.high = range.seen ? Math.max(range.high, at.z) : at.z;
      range.seen = true;
      update();
    },
    update,
  };
}

/** A disc in the plane of a contact, under the point of the second body; larger while the contact is closed. */
function footprint(data: JointData, anchors: [Anchor, Anchor], size: number, make: (side: 0 | 1, geometry: string, local: THREE.Matrix4, colour: THREE.Color) => Part): JointView {
  const frame = place(data.frames[0].p, data.frames[0].q);
  const disc = make(0, "cylinder", new THREE.Matrix4(), RELEASED);
  const toFrame = new THREE.Matrix4();
  const inverse = frame.clone().invert();
  const point = new THREE.Vector3();
  let radius = 0.25 * size;
  const view: JointView = {
    parts: [disc],
    update: () => {
      disc.off = !(anchors[0].valid && anchors[1].valid);
      if (disc.off) return;
      toFrame.copy(anchors[0].matrix).invert().premultiply(inverse);
      point.set(...data.frames[1].p).applyMatrix4(anchors[1].matrix).applyMatrix4(toFrame);
      disc.local.copy(inside(frame, [point.x, point.y, 0], [radius, radius, 0.06 * size]));
    },
  };
  addEngagement(view, (data.redundant?.length ?? 0) > 0, (engaged) => (radius = (engaged ? 0.6 : 0.25) * size));
  return view;
}

/** Makes the parts of a joint between two anchors. */
export function jointView(data: JointData, anchors: [Anchor, Anchor], component: Component, size: number, ground: Anchor, solids: Part[] = []): JointView {
  const redundant = (data.redundant?.length ?? 0) > 0;
  const make = (side: 0 | 1, geometry: string, local: THREE.Matrix4, colour: THREE.Color, alpha = 1): Part => ({
    geometry,
    anchor: anchors[side],
    local,
    colour: redundant ? REDUNDANT : colour,
    alpha,
    component,
    layer: "joints",
  });
  let view: JointView;
  if (solids.length) {
    for (const part of solids) if (redundant) part.colour = REDUNDANT;
    view = { parts: solids };
    if (data.switchable) addEngagement(view, redundant);
    return view;
  }
  if (data.draw === "contact" && data.frames.length > 1) return footprint(data, anchors, size, make);
  if ((data.draw === "slider" || data.draw === "cylinder") && data.frames.length > 1) view = rail(data, anchors, size, make);
  else if (data.draw === "distance" && data.frames.length > 1) view = rod(data, anchors, size, make, ground);
  else {
    const pieces = PIECES[data.draw] ?? PIECES.other;
    const frames = data.frames.map((frame) => place(frame.p, frame.q));
    const parts = pieces
      .filter(([side]) => frames[side])
      .map(([side, geometry, shift, scale, colour, turn, alpha]) => {
        const sized = (v: Vector): Vector => v.map((x) => x * size) as Vector;
        return make(side, geometry, inside(frames[side], sized(shift), sized(scale), turn), colour ?? STEEL, alpha);
      });
    view = { parts };
  }
  if (data.switchable || data.draw === "contact") addEngagement(view, redundant);
  return view;
}

/** A switchable constraint has the colour of what it does now. */
function addEngagement(view: JointView, redundant: boolean, changed: (engaged: boolean) => void = () => undefined): void {
  const own = view.parts.map((part) => part.colour);
  let before: boolean | null = null;
  view.setEngaged = (engaged) => {
    if (engaged === before) return false;
    before = engaged;
    changed(engaged);
    view.parts.forEach((part, i) => {
      part.colour = redundant && engaged ? own[i] : engaged ? ENGAGED : RELEASED;
    });
    return true;
  };
}
