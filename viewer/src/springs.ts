// Springs, dampers, cables and other forces between points of bodies.

import * as THREE from "three";
import { pathView } from "./paths.ts";
import { inside, place, span } from "./placement.ts";
import type { Anchor, Component, Part } from "./parts.ts";
import type { ForceData, Vector } from "./types.ts";

const COIL = new THREE.Color("#3f9b8f");
const HOUSING = new THREE.Color("#56606e");
const ROD = new THREE.Color("#b4bdc8");
export const CABLE = new THREE.Color("#6b5a45");
const RAM = new THREE.Color("#d9a521");
const LOAD = new THREE.Color("#d0463b");
const OFF = new THREE.Color("#9aa5b1");
const COIL_LENGTH = 0.25; // of a spring on a slider without a length of its own / size of the mechanism

export interface ForceView {
  parts: Part[];
  update: () => void;
  /** Colours it by what is known of constraints and switches, by name; true where something changed. */
  setEngaged?: (engaged: (name: string) => boolean | null) => boolean;
}

export type Maker = (geometry: string, colour: THREE.Color, anchor?: Anchor, local?: THREE.Matrix4) => Part;

/** The length that decides how many windings a spring has: its natural one, or its first one. */
function lengthOf(data: ForceData, first: number, size: number): number {
  const natural = data.natural;
  return natural && natural > 0 && Number.isFinite(natural) ? natural : first > 0 ? first : 0.3 * size;
}

function between(data: ForceData, ends: THREE.Vector3[], size: number, make: Maker, positions: () => boolean): ForceView {
  positions();
  const length = lengthOf(data, ends[0].distanceTo(ends[1]), size);
  const radius = Math.min(0.028 * size, 0.16 * length);
  const parts: Part[] = [];
  const movers: (() => void)[] = [];
  const middle = new THREE.Vector3();
  const ram = data.draw === "ram";
  if (data.draw !== "damper" && !ram) {
    const turns = Math.min(14, Math.max(5, Math.round(length / radius / 1.4)));
    const ratio = Math.max(2, Math.round(length / radius));
    const wide = data.draw === "coil-damper" ? 1.25 * radius : radius;
    const wire = make(`coil-${turns}-${ratio}`, COIL);
    parts.push(wire);
    movers.push(() => span(ends[0], ends[1], wide, false, wire.local));
  }
  if (data.draw !== "coil") {
    const housing = make("cylinder", ram ? RAM : HOUSING);
    const piston = make("cylinder", ROD);
    parts.push(housing, piston);
    movers.push(() => {
      const now = ends[0].distanceTo(ends[1]);
      middle.lerpVectors(ends[0], ends[1], now > 0 ? Math.min(0.9, (0.5 * length) / now) : 0.5);
      if (ram) middle.lerpVectors(ends[0], ends[1], now > 0 ? Math.min(0.92, (0.9 * length) / now) : 0.9);
      span(ends[0], middle, (ram ? 1.15 : 0.62) * radius, true, housing.local);
      span(ends[0], ends[1], (ram ? 0.5 : 0.24) * radius, true, piston.local);
    });
  }
  return { parts, update: () => movers.forEach((move) => move()) };
}

function cable(ends: THREE.Vector3[], size: number, make: Maker): ForceView {
  const parts = ends.slice(1).map(() => make("cylinder", CABLE));
  return {
    parts,
    update: () => parts.forEach((part, i) => span(ends[i], ends[i + 1], 0.006 * size, true, part.local)),
  };
}

/** Marks at the points of a force that has no line: a ring for torques, a small cone for forces. */
function marks(data: ForceData, anchors: Anchor[], size: number, make: Maker): ForceView {
  const s = 0.035 * size;
  const parts = data.points.slice(0, data.draw === "torsion" || data.draw === "joint-damper" ? 1 : 2).flatMap((point, i) => {
    const frame = place(point.p, point.q);
    const scale: Vector = [s, s, s];
    if (data.draw === "thrust") return i === 0 ? [] : [make("cylinder", LOAD, anchors[i], inside(frame, [0, 0, s], [0.12 * s, 0.12 * s, 2 * s])), make("cone", LOAD, anchors[i], inside(frame, [0, 0, 2.4 * s], [0.35 * s, 0.35 * s, 0.8 * s]))];
    if (data.draw === "joint-damper") return [make("tube", HOUSING, anchors[i], inside(frame, [0, 0, 0], [0.45 * s, 0.45 * s, 0.6 * s]))];
    if (data.draw === "torsion") return [make("spiral", COIL, anchors[i], inside(frame, [0, 0, 0], scale))];
    if (data.draw === "torque")
      return [
        make("ring", LOAD, anchors[i], inside(frame, [0, 0, 0], scale)),
        make("cone", LOAD, anchors[i], inside(frame, [s, 0, 0], [0.3 * s, 0.3 * s, 0.7 * s], new THREE.Euler(-Math.PI / 2, 0, 0))),
      ];
    return [make("cone", LOAD, anchors[i], inside(frame, [0, 0, 0.5 * s], [0.4 * s, 0.4 * s, s], new THREE.Euler(Math.PI, 0, 0)))];
  });
  return { parts, update: () => undefined };
}

/** A force that events switch is grey while it is off. */
function switchedColours(parts: Part[], name: string): (engaged: (name: string) => boolean | null) => boolean {
  const own = parts.map((part) => part.colour);
  let before: boolean | null = null;
  return (engaged) => {
    const now = engaged(name);
    if (now === null || now === before) return false;
    before = now;
    parts.forEach((part, i) => (part.colour = now ? own[i] : OFF));
    return true;
  };
}

/** Makes the parts of a force. `anchorOf` finds a body by its index (-1: ground). */
export function forceView(data: ForceData, anchorOf: (body: number) => Anchor, component: Component, size: number, ground: Anchor, solids: Part[] = []): ForceView | null {
  const points = data.points.filter((point) => point && Array.isArray(point.p));
  if (!points.length || data.draw === "none" || data.draw === "friction") return null;
  const anchors = points.map((point) => anchorOf(point.body));
  const make: Maker = (geometry, colour, anchor = ground, local = new THREE.Matrix4()) => ({ geometry, anchor, local, colour, alpha: 1, component, layer: "forces" });
  const ends = points.map(() => new THREE.Vector3());
  const positions = (): boolean => {
    points.forEach((point, i) => ends[i].set(...point.p).applyMatrix4(anchors[i].matrix));
    return anchors.every((anchor) => anchor.valid);
  };
  let view: ForceView;
  if (points.length > 1 && ["coil", "damper", "coil-damper", "ram"].includes(data.draw)) view = between(data, ends, size, make, positions);
  else if (points.length > 1 && data.draw === "slide-coil") {
    // The spring is on the side of the first body's centre of mass, so that it is between the two bodies.
    const back = new THREE.Vector3(0, 0, -COIL_LENGTH * size).applyMatrix4(place([0, 0, 0], points[0].q));
    if (points[0].body >= 0 && back.dot(new THREE.Vector3(...points[0].p)) > 1e-6 * size * back.length()) back.negate();
    points[0] = { ...points[0], p: points[0].p.map((x, k) => x + back.getComponent(k)) as Vector };
    view = between({ ...data, draw: "coil", natural: COIL_LENGTH * size }, ends, size, make, positions);
  } else if (points.length > 1 && data.draw === "cable") view = cable(ends, size, make);
  else if (data.draw === "path") view = pathView(data, anchorOf, size, make);
  else view = solids.length || data.draw === "touch" ? { parts: [], update: () => undefined } : marks(data, anchors, size, make);
  const setEngaged = view.setEngaged ?? (data.switchable ? switchedColours([...view.parts, ...solids], data.name) : undefined);
  if (!["coil", "damper", "coil-damper", "ram", "slide-coil", "cable"].includes(data.draw)) return { parts: [...view.parts, ...solids], update: view.update, setEngaged };
  return {
    setEngaged,
    parts: view.parts,
    update: () => {
      const there = positions();
      for (const part of view.parts) part.off = !there;
      if (there) view.update();
    },
  };
}
