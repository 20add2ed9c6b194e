// Quaternions (w, x, y, z) for samples.

import type { Quaternion, Vector } from "../../src/types.ts";

export function about(axis: Vector, angle: number): Quaternion {
  const s = Math.sin(angle / 2);
  return [Math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s];
}

export function product(a: Quaternion, b: Quaternion): Quaternion {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

/** Turns z into a direction. */
export function zTo(d: Vector): Quaternion {
  const length = Math.hypot(...d);
  const [x, y, z] = d.map((c) => c / length);
  if (z < -0.999999) return [0, 1, 0, 0];
  const w = Math.sqrt((1 + z) / 2);
  return [w, -y / (2 * w), x / (2 * w), 0];
}
