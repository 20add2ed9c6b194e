// Cameras: perspective and orthographic, turned around the model by the pointer; named views; fit.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Vector } from "./types.ts";

const ANGLE = 35; // degrees, of the perspective camera

export class Cameras {
  readonly perspective = new THREE.PerspectiveCamera(ANGLE, 1, 0.01, 1000);
  readonly orthographic = new THREE.OrthographicCamera(-1, 1, 1, -1, 0.01, 1000);
  active: THREE.PerspectiveCamera | THREE.OrthographicCamera = this.perspective;
  readonly controls: OrbitControls;
  readonly up: THREE.Vector3;
  /** Whether a user has turned, shifted or zoomed since the last fit. */
  isMoved = false;
  private aspect = 1;
  private centre = new THREE.Vector3();
  private radius = 1;

  constructor(element: HTMLElement, up: Vector, onChange: () => void) {
    this.up = new THREE.Vector3(...up).normalize();
    this.perspective.up.copy(this.up);
    this.orthographic.up.copy(this.up);
    this.controls = new OrbitControls(this.perspective, element);
    this.controls.zoomToCursor = true;
    this.controls.rotateSpeed = 0.8;
    this.controls.addEventListener("change", onChange);
    this.controls.addEventListener("start", () => (this.isMoved = true));
  }

  get isOrthographic(): boolean {
    return this.active === this.orthographic;
  }

  resize(aspect: number): void {
    this.aspect = aspect;
    this.perspective.aspect = aspect;
    this.perspective.updateProjectionMatrix();
    this.frameOrthographic();
  }

  /** Gives the orthographic camera the extent that the perspective one has at the point it looks at. */
  private frameOrthographic(): void {
    const camera = this.orthographic;
    const height = camera.userData.height ?? 1;
    camera.left = (-height * this.aspect) / 2;
    camera.right = (height * this.aspect) / 2;
    camera.top = height / 2;
    camera.bottom = -height / 2;
    camera.updateProjectionMatrix();
  }

  setOrthographic(on: boolean): void {
    if (on === this.isOrthographic) return;
    const from = this.active;
    const to = on ? this.orthographic : this.perspective;
    const distance = from.position.distanceTo(this.controls.target);
    const tangent = 2 * Math.tan((ANGLE * Math.PI) / 360);
    to.position.copy(from.position);
    if (on) {
      to.userData.height = distance * tangent;
      to.zoom = 1;
      this.frameOrthographic();
    } else {
      const height = (this.orthographic.userData.height ?? 1) / this.orthographic.zoom;
      to.position.sub(this.controls.target).setLength(height / tangent).add(this.controls.target);
    }
    this.active = to;
    this.controls.object = to;
    this.controls.update();
  }

  /**
   * Looks from a direction, or from where the camera is now, so that points (x, y, z one after the other) fill the picture; without points the
   * corners of the box. The camera at c sees a point p within the slope s of one side where
   *
   *     p·r + s p·f ≤ c·r + s c·f,       r: across the picture, f: from the picture to the camera
   *
   * so that the largest left sides of opposite edges give c·r, by their difference, and c·f, by their sum.
   */
  fit(box: THREE.Box3, points: number[], direction?: THREE.Vector3): void {
    this.isMoved = false;
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    this.centre.copy(sphere.center);
    this.radius = sphere.radius > 0 && Number.isFinite(sphere.radius) ? sphere.radius : 1;
    const from = direction ? direction.clone() : this.active.position.clone().sub(this.controls.target);
    if (from.lengthSq() < 1e-12) from.set(1, -1, 1);
    from.normalize();
    // A direction along "up" has no horizon; a small tilt gives it one.
    if (Math.abs(from.dot(this.up)) > 0.9999) from.addScaledVector(Math.abs(this.up.y) > 0.9 ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(0, -1, 0), 1e-3).normalize();
    const right = new THREE.Vector3().crossVectors(this.up, from).normalize();
    const above = new THREE.Vector3().crossVectors(from, right);
    const slope = Math.tan((ANGLE * Math.PI) / 360) * 0.88; // leaves a margin
    const corner = new THREE.Vector3();
    const reach = { right: -Infinity, left: -Infinity, top: -Infinity, bottom: -Infinity };
    const flat = { right: -Infinity, left: -Infinity, top: -Infinity, bottom: -Infinity };
    const count = points.length ? points.length / 3 : 8;
    for (let i = 0; i < count; i++) {
      if (points.length) corner.fromArray(points, 3 * i);
      else corner.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z);
      const [x, y, z] = [corner.sub(this.centre).dot(right), corner.dot(above), corner.dot(from)];
      for (const [sides, depth] of [[reach, z], [flat, 0]] as const) {
        sides.right = Math.max(sides.right, x + slope * this.aspect * depth);
        sides.left = Math.max(sides.left, -x + slope * this.aspect * depth);
        sides.top = Math.max(sides.top, y + slope * depth);
        sides.bottom = Math.max(sides.bottom, -y + slope * depth);
      }
    }
    const distance = Math.max((reach.right + reach.left) / (2 * slope * this.aspect), (reach.top + reach.bottom) / (2 * slope), 0.4 * this.radius);
    this.controls.target.copy(this.centre).addScaledVector(right, (reach.right - reach.left) / 2).addScaledVector(above, (reach.top - reach.bottom) / 2);
    this.active.position.copy(this.controls.target).addScaledVector(from, distance);
    this.orthographic.userData.height = 1.15 * Math.max(flat.top + flat.bottom, (flat.right + flat.left) / this.aspect) || 2.3 * this.radius;
    this.orthographic.zoom = 1;
    this.range();
    this.frameOrthographic();
    this.controls.update();
  }

  /** Depths that hold the model wherever the camera goes. */
  range(): void {
    const far = Math.max(this.radius * 60, this.active.position.distanceTo(this.centre) + this.radius * 30);
    this.perspective.near = this.radius / 300;
    this.perspective.far = far;
    this.orthographic.near = -far;
    this.orthographic.far = far;
    this.perspective.updateProjectionMatrix();
    this.orthographic.updateProjectionMatrix();
  }

  /** Moves with a point: the camera keeps its direction and distance. */
  shift(by: THREE.Vector3): void {
    this.controls.target.add(by);
    this.active.position.add(by);
    this.controls.update();
  }

  dispose(): void {
    this.controls.dispose();
  }
}

/** Directions of named views for a given "up": from where the camera looks. */
export function namedViews(up: THREE.Vector3): Record<string, THREE.Vector3> {
  const forward = Math.abs(up.y) > 0.9 ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(0, -1, 0);
  const side = new THREE.Vector3().crossVectors(up, forward).negate().normalize();
  const iso = new THREE.Vector3().addScaledVector(side, 0.75).add(forward).addScaledVector(up, 0.62);
  const along = (x: number, y: number, z: number): THREE.Vector3 => {
    const axis = new THREE.Vector3(x, y, z);
    return axis.dot(up) < -0.5 ? axis.negate() : axis; // never from below
  };
  return { iso, x: along(1, 0, 0), y: Math.abs(up.y) > 0.5 ? along(0, 1, 0) : along(0, -1, 0), z: along(0, 0, 1) };
}

/** A good first direction: a mechanism that is flat along one axis is seen from that axis, a little from the side. */
export function firstDirection(extent: THREE.Vector3, up: THREE.Vector3): THREE.Vector3 {
  const { iso } = namedViews(up);
  const horizontal = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, -1, 0), new THREE.Vector3(0, 0, 1)].filter((axis) => Math.abs(axis.dot(up)) < 0.5);
  const sizes = horizontal.map((axis) => Math.abs(extent.x * axis.x) + Math.abs(extent.y * axis.y) + Math.abs(extent.z * axis.z));
  const thin = sizes[0] < sizes[1] ? 0 : 1;
  if (sizes[thin] > 0.45 * sizes[1 - thin]) return iso;
  return horizontal[thin].clone().addScaledVector(horizontal[1 - thin], thin === 1 ? 0.42 : -0.42).addScaledVector(up, 0.3);
}
