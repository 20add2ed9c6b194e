// Cables and belts over pulleys, points and drums: straight parts and arcs, as they are at each moment.

import * as THREE from "three";
import { span } from "./placement.ts";
import type { Anchor, Part } from "./parts.ts";
import { CABLE, type ForceView, type Maker } from "./springs.ts";
import type { ForceData, Stop } from "./types.ts";

const ARC = 16; // straight pieces of an arc
const WIDTH = 0.006; // radius of a rope / size of the mechanism
const SLACK = new THREE.Color("#c9bda9");

/** Unit vector along the straight part between two pulleys: (l D − (ρ₂ − ρ₁) n × D)/D·D. False where they overlap. */
export function tangent(from: THREE.Vector3, to: THREE.Vector3, normal: THREE.Vector3, step: number, out: THREE.Vector3): boolean {
  const D = to.clone().sub(from);
  const square = D.lengthSq();
  if (!(square > step * step)) return false;
  const across = normal.clone().cross(D);
  out.copy(D).multiplyScalar(Math.sqrt(square - step * step)).addScaledVector(across, -step).divideScalar(square);
  return true;
}

/** Angle from one direction to another about an axis, from 0 to 2π; −0 counts as 0. */
export function turnBetween(a: THREE.Vector3, b: THREE.Vector3, axis: THREE.Vector3): number {
  const angle = Math.atan2(axis.dot(a.clone().cross(b)), a.dot(b));
  return angle < -1e-6 ? angle + 2 * Math.PI : Math.max(angle, 0);
}

interface Place {
  stop: Stop;
  anchor: Anchor;
  center: THREE.Vector3;
  normal: THREE.Vector3;
}

/** The points of the rope, in its order; none where it cannot be laid. */
function pointsOf(places: Place[], closed: boolean): THREE.Vector3[] | null {
  const count = places.length;
  const pairs = closed ? count : count - 1;
  const along: THREE.Vector3[] = [];
  for (let i = 0; i < pairs; i++) {
    const [a, b] = [places[i], places[(i + 1) % count]];
    const t = new THREE.Vector3();
    if (!tangent(a.center, b.center, a.normal, b.stop.rho - a.stop.rho, t)) return null;
    along.push(t);
  }
  const points: THREE.Vector3[] = [];
  places.forEach((place, i) => {
    const { rho } = place.stop;
    const before = along[closed ? (i - 1 + pairs) % pairs : i - 1];
    const after = along[i];
    if (!rho) {
      points.push(place.center.clone());
      return;
    }
    const axis = place.normal.clone().multiplyScalar(Math.sign(rho));
    // At an end the rope is wound on a drum: one turn of it is drawn.
    const angle = before && after ? turnBetween(before, after, axis) : 2 * Math.PI;
    const first = before ?? after;
    for (let k = 0; k <= ARC; k++) {
      const t = first.clone().applyAxisAngle(axis, (angle * k) / ARC);
      points.push(place.center.clone().addScaledVector(t.cross(place.normal), rho));
    }
  });
  if (closed) points.push(points[0].clone());
  return points;
}

export function pathView(data: ForceData, anchorOf: (body: number) => Anchor, size: number, make: Maker): ForceView {
  const places = (data.stops ?? []).map((stop) => ({ stop, anchor: anchorOf(stop.body), center: new THREE.Vector3(), normal: new THREE.Vector3() }));
  const pieces = places.reduce((sum, { stop }) => sum + (stop.rho ? ARC + 1 : 1), data.closed ? 0 : -1);
  const parts: Part[] = Array.from({ length: Math.max(0, pieces) }, () => make("cylinder", CABLE));
  const update = (): void => {
    for (const { stop, anchor, center, normal } of places) {
      center.set(...stop.p).applyMatrix4(anchor.matrix);
      normal.set(...stop.normal).transformDirection(anchor.matrix);
    }
    const points = places.length > 1 && places.every(({ anchor }) => anchor.valid) ? pointsOf(places, data.closed === true) : null;
    parts.forEach((part, i) => {
      part.off = !points;
      if (points) span(points[i], points[i + 1], WIDTH * size, true, part.local);
    });
  };
  let taut: boolean | null = null;
  return {
    parts,
    update,
    setEngaged: (engaged) => {
      const states = [];
      for (let k = 0; k < places.length; k++) states.push(engaged(`${data.name}.part${k}`));
      const known = states.filter((state) => state !== null);
      const now = known.length ? known.every(Boolean) : null;
      if (now === null || now === taut) return false;
      taut = now;
      for (const part of parts) part.colour = taut ? CABLE : SLACK;
      return true;
    },
  };
}
