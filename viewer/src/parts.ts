// Everything solid in the scene is a part: a geometry at a place on a body. Equal geometries are drawn by one call.

import * as THREE from "three";
import type { Geometries } from "./shapes.ts";

/** What parts are fixed to: a body, or the ground. */
export interface Anchor {
  matrix: THREE.Matrix4;
  valid: boolean;
}

/** An element of the model that can be hidden, highlighted and named. */
export interface Component {
  kind: "body" | "joint" | "force" | "ground";
  index: number;
  name: string;
  type: string;
  hidden: boolean;
  alpha: number;
  highlighted: boolean;
}

export type Layer = "bodies" | "ground" | "joints" | "forces" | "frames" | "centres" | "ellipsoids" | "reactions" | "loads" | "ghost";

export interface Part {
  geometry: string;
  anchor: Anchor;
  local: THREE.Matrix4;
  colour: THREE.Color;
  alpha: number;
  component: Component | null;
  layer: Layer;
  /** Not drawn now, for instance an arrow that is too short. */
  off?: boolean;
  /** Does not count to the extent of the mechanism. */
  aside?: boolean;
}

const MANY_PARTS = 4000;
const NOWHERE = new THREE.Matrix4().makeScale(0, 0, 0);
const HIGHLIGHT = new THREE.Color("#ffb020");

interface Batch {
  mesh: THREE.InstancedMesh;
  parts: Part[];
  layer: Layer;
  geometry: string;
  fine: THREE.BufferGeometry;
  coarse: THREE.BufferGeometry;
}

/** Draws parts by one instanced mesh for each geometry, layer and transparency. */
export class Parts {
  readonly group = new THREE.Group();
  private parts: Part[] = [];
  private batches: Batch[] = [];
  private materials = new Map<string, THREE.Material>();
  private off = new Set<Layer>();
  private stale = true;
  private recolour = false;
  private coarse = false;

  constructor(
    readonly geometries: Geometries,
    readonly plain: boolean,
  ) {}

  add(...parts: Part[]): void {
    this.parts.push(...parts);
    this.stale = true;
  }

  remove(test: (part: Part) => boolean): void {
    this.parts = this.parts.filter((part) => !test(part));
    this.stale = true;
  }

  get count(): number {
    return this.parts.length;
  }

  of(component: Component): Part[] {
    return this.parts.filter((part) => part.component === component);
  }

  isVisible(layer: Layer): boolean {
    return !this.off.has(layer);
  }

  setVisible(layer: Layer, visible: boolean): void {
    if (visible) this.off.delete(layer);
    else this.off.add(layer);
    for (const batch of this.batches) if (batch.layer === layer) batch.mesh.visible = this.isDrawn(layer, batch.geometry);
  }

  /** Draws with fewer triangles, or with all. */
  setCoarse(coarse: boolean): void {
    if (coarse === this.coarse) return;
    this.coarse = coarse;
    for (const batch of this.batches) {
      batch.mesh.geometry = coarse ? batch.coarse : batch.fine;
      batch.mesh.visible = this.isDrawn(batch.layer, batch.geometry);
    }
  }

  /** Joints and round ends of thousands of bodies are left out while the picture moves on a slow machine. */
  private isDrawn(layer: Layer, geometry = ""): boolean {
    return !this.off.has(layer) && !(this.coarse && (layer === "joints" || geometry === "dome") && this.parts.length > MANY_PARTS);
  }

  /** To be called where transparency of a component changes. */
  invalidate(): void {
    this.stale = true;
  }

  /** To be called where colours change or components are highlighted. */
  invalidateColours(): void {
    this.recolour = true;
  }

  private material(alpha: number, geometry: string): THREE.Material {
    const twoSided = geometry.startsWith("mesh") || geometry === "plane" || geometry === "dome";
    const key = `${alpha}|${twoSided}`;
    let material = this.materials.get(key);
    if (!material) {
      const common = { transparent: alpha < 1, opacity: alpha, depthWrite: alpha > 0.6, side: twoSided ? THREE.DoubleSide : THREE.FrontSide };
      material = this.plain ? new THREE.MeshLambertMaterial(common) : new THREE.MeshStandardMaterial({ ...common, roughness: 0.55, metalness: 0.08 });
      this.materials.set(key, material);
    }
    return material;
  }

  private build(): void {
    for (const batch of this.batches) {
      this.group.remove(batch.mesh);
      batch.mesh.dispose();
    }
    const sorted = new Map<string, Part[]>();
    for (const part of this.parts) {
      const alpha = Math.round(part.alpha * (part.component?.alpha ?? 1) * 20) / 20;
      const key = `${part.layer}|${part.geometry}|${alpha}`;
      const list = sorted.get(key);
      if (list) list.push(part);
      else sorted.set(key, [part]);
    }
    this.batches = [...sorted].map(([key, parts]) => {
      const [layer, geometry, alpha] = key.split("|");
      const fine = this.geometries.find(geometry);
      const coarse = this.geometries.findCoarse(geometry);
      const mesh = new THREE.InstancedMesh(this.coarse ? coarse : fine, this.material(Number(alpha), geometry), parts.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = Number(alpha) > 0.6 && layer !== "ellipsoids";
      mesh.receiveShadow = mesh.castShadow;
      mesh.visible = this.isDrawn(layer as Layer, geometry);
      mesh.renderOrder = Number(alpha) < 1 ? 2 : 0;
      this.group.add(mesh);
      return { mesh, parts, layer: layer as Layer, geometry, fine, coarse };
    });
    this.stale = false;
    this.recolour = true;
  }

  /** Moves all parts to where their bodies are. */
  update(): void {
    if (this.stale) this.build();
    const matrix = new THREE.Matrix4();
    for (const { mesh, parts } of this.batches) {
      if (!mesh.visible) continue;
      const values = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i];
        if (part.off || !part.anchor.valid || part.component?.hidden) NOWHERE.toArray(values, i * 16);
        else matrix.multiplyMatrices(part.anchor.matrix, part.local).toArray(values, i * 16);
      }
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    if (this.recolour) this.paint();
  }

  private paint(): void {
    const colour = new THREE.Color();
    for (const { mesh, parts } of this.batches) {
      parts.forEach((part, i) => {
        colour.copy(part.colour);
        if (part.component?.highlighted) colour.lerp(HIGHLIGHT, 0.75);
        mesh.setColorAt(i, colour);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    this.recolour = false;
  }

  /** The nearest part of a component along a ray, and where the ray meets it. */
  pick(raycaster: THREE.Raycaster): { part: Part; point: THREE.Vector3 } | null {
    let best: { part: Part; point: THREE.Vector3 } | null = null;
    let nearest = Infinity;
    for (const { mesh, parts, layer } of this.batches) {
      if (!mesh.visible || layer === "ghost" || layer === "ellipsoids") continue;
      for (const hit of raycaster.intersectObject(mesh, false)) {
        const part = parts[hit.instanceId ?? 0];
        if (!part.component || part.component.hidden || hit.distance >= nearest) continue;
        nearest = hit.distance;
        best = { part, point: hit.point };
      }
    }
    return best;
  }

  /** Extent of what is drawn now on the given layers, besides some components. `points`, where given, gets the corners of all parts. */
  extent(layers: Layer[], box: THREE.Box3, points: number[] | null = null, without: Set<Component> | null = null): THREE.Box3 {
    const matrix = new THREE.Matrix4();
    const one = new THREE.Box3();
    const corner = new THREE.Vector3();
    for (const part of this.parts) {
      if (!layers.includes(part.layer) || part.off || part.aside || !part.anchor.valid || part.component?.hidden) continue;
      if (part.component && without?.has(part.component)) continue;
      const geometry = this.geometries.find(part.geometry);
      if (!geometry.boundingBox) geometry.computeBoundingBox();
      if (!geometry.boundingBox) continue;
      const { min, max } = geometry.boundingBox;
      one.copy(geometry.boundingBox).applyMatrix4(matrix.multiplyMatrices(part.anchor.matrix, part.local));
      if (!Number.isFinite(one.min.x + one.max.x + one.min.y + one.max.y + one.min.z + one.max.z)) continue;
      box.union(one);
      for (let i = 0; points && i < 8; i++) {
        corner.set(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).applyMatrix4(matrix);
        points.push(corner.x, corner.y, corner.z);
      }
    }
    return box;
  }

  dispose(): void {
    for (const batch of this.batches) batch.mesh.dispose();
    for (const material of this.materials.values()) material.dispose();
    this.group.clear();
  }
}
