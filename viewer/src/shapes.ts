// Geometries that parts share. All have unit size; a part's matrix gives them their own.

import * as THREE from "three";
import { decode } from "./decode.ts";
import type { Flat, MeshData } from "./types.ts";

function alongZ(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return geometry.rotateX(Math.PI / 2);
}

/** A wire that winds around z from 0 to 1 with radius 1; `ratio` is the length of the spring over its radius where the wire is round. */
function coil(turns: number, ratio: number, around: number, along: number): THREE.BufferGeometry {
  const lead = 0.09; // straight share at each end, on the axis
  const wire = 0.13;
  const rings = turns * along;
  const positions: number[] = [];
  const normals: number[] = [];
  const indices: number[] = [];
  const centre = (s: number, out: THREE.Vector3): THREE.Vector3 => {
    const u = Math.min(1, Math.max(0, (s - lead) / (1 - 2 * lead)));
    const radius = Math.min(1, Math.min(s, 1 - s) / lead);
    const angle = 2 * Math.PI * turns * u;
    return out.set(radius * Math.cos(angle), radius * Math.sin(angle), s * ratio);
  };
  const p = new THREE.Vector3();
  const ahead = new THREE.Vector3();
  const side = new THREE.Vector3();
  const up = new THREE.Vector3();
  for (let i = 0; i <= rings; i++) {
    const s = i / rings;
    centre(Math.max(0, s - 1e-4), p);
    centre(Math.min(1, s + 1e-4), ahead).sub(p).normalize();
    centre(s, p);
    side.set(0, 0, 1).cross(ahead);
    if (side.lengthSq() < 1e-6) side.set(1, 0, 0);
    side.normalize();
    up.crossVectors(ahead, side);
    for (let k = 0; k < around; k++) {
      const angle = (2 * Math.PI * k) / around;
      const n = side.clone().multiplyScalar(Math.cos(angle)).addScaledVector(up, Math.sin(angle));
      positions.push(p.x + wire * n.x, p.y + wire * n.y, (p.z + wire * n.z) / ratio);
      normals.push(n.x, n.y, n.z * ratio);
      if (i === rings) continue;
      const a = i * around + k;
      const b = i * around + ((k + 1) % around);
      indices.push(a, b, a + around, b, b + around, a + around);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  geometry.setIndex(indices);
  return geometry;
}

/** A flat spiral around z for springs that twist. */
function spiral(): THREE.BufferGeometry {
  const points = Array.from({ length: 60 }, (_, i) => {
    const angle = (2 * Math.PI * 3 * i) / 59;
    const radius = 0.25 + (0.75 * i) / 59;
    return new THREE.Vector3(radius * Math.cos(angle), radius * Math.sin(angle), 0);
  });
  return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 96, 0.06, 6);
}

/** Geometries by key: box, sphere, dome, cylinder, cone, plane, ring, spiral, coil-TURNS-RATIO, mesh-NUMBER. */
export class Geometries {
  private readonly known = new Map<string, THREE.BufferGeometry>();
  private readonly extrusions = new Map<string, string>();

  /** `detail` from 0 (many parts) to 1 (few parts). */
  constructor(readonly detail: number) {}

  async addMeshes(meshes: MeshData[]): Promise<string[]> {
    const problems: string[] = [];
    await Promise.all(
      meshes.map(async (mesh, number) => {
        try {
          const [positions, indices] = await Promise.all([decode(mesh.positions), decode(mesh.indices)]);
          this.known.set(`mesh-${number}`, meshGeometry(positions as Float32Array, indices as Uint32Array));
        } catch (error) {
          problems.push(`The mesh ${mesh.name} is drawn as a box: ${(error as Error).message}`);
        }
      }),
    );
    return problems;
  }

  /** The key of a flat solid of thickness 1 along z. */
  extrusion(outline: Flat[], holes: Flat[][]): string {
    const text = JSON.stringify([outline, holes]);
    let key = this.extrusions.get(text);
    if (!key) {
      key = `extrusion-${this.extrusions.size}`;
      this.extrusions.set(text, key);
      const path = (points: Flat[]): THREE.Vector2[] => points.map(([x, y]) => new THREE.Vector2(x, y));
      const shape = new THREE.Shape(path(outline));
      shape.holes.push(...holes.filter((hole) => hole.length > 2).map((hole) => new THREE.Path(path(hole))));
      const geometry = outline.length > 2 ? new THREE.ExtrudeGeometry(shape, { depth: 1, bevelEnabled: false }) : new THREE.BoxGeometry(1, 1, 1);
      this.known.set(key, outline.length > 2 ? geometry.translate(0, 0, -0.5) : geometry);
    }
    return key;
  }

  has(key: string): boolean {
    return this.known.has(key);
  }

  find(key: string): THREE.BufferGeometry {
    let geometry = this.known.get(key);
    if (!geometry) {
      geometry = key.startsWith("coarse ") ? this.build(key.slice(7), 6) : this.build(key);
      this.known.set(key, geometry);
    }
    return geometry;
  }

  /** A geometry for pictures that move where many parts are drawn by the processor. */
  findCoarse(key: string): THREE.BufferGeometry {
    return ["sphere", "dome", "cylinder", "cone"].includes(key) ? this.find(`coarse ${key}`) : this.find(key);
  }

  private build(key: string, around = Math.round(7 + 29 * this.detail)): THREE.BufferGeometry {
    const [kind, ...numbers] = key.split("-");
    switch (kind) {
      case "sphere":
        return alongZ(new THREE.SphereGeometry(1, around, Math.round(around * 0.6)));
      case "dome":
        return alongZ(new THREE.SphereGeometry(1, around, Math.round(around * 0.3), 0, 2 * Math.PI, 0, Math.PI / 2));
      case "cylinder":
        return alongZ(new THREE.CylinderGeometry(1, 1, 1, around));
      case "thin":
        return alongZ(new THREE.CylinderGeometry(1, 1, 1, 6, 1, true));
      case "cone":
        return alongZ(new THREE.ConeGeometry(1, 1, around));
      case "plane":
        return new THREE.PlaneGeometry(1, 1);
      case "ring":
        return new THREE.TorusGeometry(1, 0.09, 8, around);
      case "tube":
        return new THREE.TorusGeometry(1, 0.28, 10, around);
      case "spiral":
        return spiral();
      case "coil":
        return coil(Number(numbers[0]), Number(numbers[1]), this.detail > 0.5 ? 7 : 4, this.detail > 0.5 ? 18 : 9);
      default:
        return new THREE.BoxGeometry(1, 1, 1);
    }
  }

  dispose(): void {
    for (const geometry of this.known.values()) geometry.dispose();
    this.known.clear();
  }
}

/** Triangles with flat shading where faces meet at an angle: vertices are not shared. */
function meshGeometry(positions: Float32Array, indices: Uint32Array): THREE.BufferGeometry {
  if (!positions.every(Number.isFinite)) throw new Error("its points are not all finite");
  const points = positions.length / 3;
  if (!indices.every((index) => index < points)) throw new Error("its triangles have points that do not exist");
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setIndex(new THREE.BufferAttribute(indices, 1));
  if (indices.length > 300_000) {
    geometry.computeVertexNormals();
    return geometry;
  }
  const flat = geometry.toNonIndexed();
  geometry.dispose();
  flat.computeVertexNormals();
  return smoothWhereFlat(flat);
}

/** Averages the normals of triangles that meet at one corner with less than 40 degrees between them. */
function smoothWhereFlat(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  const positions = geometry.getAttribute("position").array;
  const normals = geometry.getAttribute("normal").array as Float32Array;
  geometry.computeBoundingSphere();
  const { center, radius } = geometry.boundingSphere ?? new THREE.Sphere(new THREE.Vector3(), 1);
  const grid = 6e4 / (radius || 1);
  const corners = new Map<number, number[]>();
  // Corners at one place of a grid of 2^17 cells along each axis: three numbers in the 51 bits of one.
  const cell = (value: number, middle: number): number => Math.round((value - middle) * grid) + 65536;
  for (let i = 0; i < positions.length; i += 3) {
    const key = (cell(positions[i], center.x) * 131072 + cell(positions[i + 1], center.y)) * 131072 + cell(positions[i + 2], center.z);
    const list = corners.get(key);
    if (list) list.push(i);
    else corners.set(key, [i]);
  }
  const result = new Float32Array(normals);
  for (const list of corners.values()) {
    if (list.length > 40) continue;
    for (const i of list) {
      let [x, y, z] = [0, 0, 0];
      for (const j of list) {
        if (normals[i] * normals[j] + normals[i + 1] * normals[j + 1] + normals[i + 2] * normals[j + 2] < 0.77) continue;
        x += normals[j];
        y += normals[j + 1];
        z += normals[j + 2];
      }
      const length = Math.hypot(x, y, z) || 1;
      result[i] = x / length;
      result[i + 1] = y / length;
      result[i + 2] = z / length;
    }
  }
  normals.set(result);
  return geometry;
}
