// Matrices of places: poses, scales, and rods between two points.

import * as THREE from "three";
import type { Quaternion, Vector } from "./types.ts";

const ONE: Vector = [1, 1, 1];

/** The matrix of a place p with quaternion q (w, x, y, z) and scales. */
export function place(p: Vector = [0, 0, 0], q: Quaternion = [1, 0, 0, 0], scale: Vector = ONE): THREE.Matrix4 {
  return new THREE.Matrix4().compose(
    new THREE.Vector3(...p),
    new THREE.Quaternion(q[1], q[2], q[3], q[0]).normalize(),
    new THREE.Vector3(...scale),
  );
}

/** A place inside a frame: shifted along z of the frame and scaled. */
export function inside(frame: THREE.Matrix4, shift: Vector, scale: Vector, turn?: THREE.Euler): THREE.Matrix4 {
  const rotation = turn ? new THREE.Quaternion().setFromEuler(turn) : new THREE.Quaternion();
  const local = new THREE.Matrix4().compose(new THREE.Vector3(...shift), rotation, new THREE.Vector3(...scale));
  return frame.clone().multiply(local);
}

const Z = new THREE.Vector3(0, 0, 1);
const direction = new THREE.Vector3();
const middle = new THREE.Vector3();
const rotation = new THREE.Quaternion();
const size = new THREE.Vector3();

/** Writes the matrix that puts z from 0 to 1 of a geometry between two points, or from −½ to ½ where `centred`. Returns the distance. */
export function span(a: THREE.Vector3, b: THREE.Vector3, radius: number, centred: boolean, out: THREE.Matrix4): number {
  direction.subVectors(b, a);
  const length = direction.length();
  if (!(length > 1e-12)) {
    out.makeScale(0, 0, 0);
    return 0;
  }
  rotation.setFromUnitVectors(Z, direction.divideScalar(length));
  middle.copy(a);
  if (centred) middle.addScaledVector(direction, length / 2);
  out.compose(middle, rotation, size.set(radius, radius, length));
  return length;
}
