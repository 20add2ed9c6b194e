// The mechanism in the scene: components, their parts, and their motion.

import * as THREE from "three";
import { axesParts, bodyColours, BodyFrame, GROUND, inertiaParts, shapeParts, solidParts } from "./bodies.ts";
import { type JointView, jointView } from "./joints.ts";
import { type Anchor, type Component, type Layer, Parts } from "./parts.ts";
import { type Playback } from "./playback.ts";
import type { Geometries } from "./shapes.ts";
import { type ForceView, forceView } from "./springs.ts";
import type { JointData, Shape, Vector, ViewData } from "./types.ts";

const GHOSTS = ["#8fa3bd", "#d0a86a", "#82b894", "#b493c4"];
const LARGEST_SHARE = 0.45; // of a body: size of a joint at it
const LARGEST_RAIL = 0.06; // of the mechanism: size of a slider
const LARGEST_GROUND = 1.2; // of the mechanism: size of a ground that the camera shows as a whole
const MOST_CORNERS = 60_000; // numbers, of parts that the camera is fitted to
const SHOWN: Layer[] = ["bodies", "joints", "forces"];

function component(kind: Component["kind"], index: number, name: string, type: string): Component {
  return { kind, index, name, type, hidden: false, alpha: 1, highlighted: false };
}

/** The largest size of shapes; 0 where they have none. */
function lengthOf(shapes: Shape[]): number {
  const sizes = shapes.flatMap((shape) => (shape.kind === "mesh" || shape.kind === "line" ? [] : (shape.size ?? []).map((size) => (shape.kind === "sphere" ? 2 * size : size))));
  return sizes.reduce((a, b) => Math.max(a, b), 0);
}

/** The radius of a bar that ends or passes at a point; 0 where the shape is no bar or is elsewhere. */
function barRadius(shape: Shape, point: Vector): number {
  if (shape.kind !== "capsule" && shape.kind !== "cylinder") return 0;
  const [radius = 0, length = 0] = shape.size ?? [];
  const centre = shape.p ?? [0, 0, 0];
  const distance = Math.hypot(point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]);
  return radius < 0.5 * length && distance < 0.55 * length + 2 * radius ? radius : 0;
}

export class Mechanism {
  readonly frames: BodyFrame[];
  readonly ghosts: BodyFrame[][] = []; // one list of bodies for each run that is compared
  readonly bodies: Component[];
  readonly joints: Component[];
  readonly forces: Component[];
  readonly ground = component("ground", 0, "ground", "ground");
  readonly parts: Parts;
  readonly colours: THREE.Color[];
  readonly size: number;
  private readonly jointViews: JointView[] = [];
  private readonly forceViews: ForceView[] = [];

  constructor(
    readonly data: ViewData,
    readonly geometries: Geometries,
    plain: boolean,
    readonly scene: THREE.Scene,
  ) {
    const size = data.size && data.size > 0 && Number.isFinite(data.size) ? data.size : 1;
    this.size = size;
    this.parts = new Parts(geometries, plain);
    this.colours = bodyColours(data.bodies.map((body) => body.name));
    this.frames = data.bodies.map((body) => new BodyFrame(body));
    this.bodies = data.bodies.map((body, i) => component("body", i, body.name, "body"));
    this.joints = (data.joints ?? []).map((joint, i) => component("joint", i, joint.name, joint.type));
    this.forces = (data.forces ?? []).map((force, i) => component("force", i, force.name, force.type));
    scene.add(this.parts.group, ...this.frames.map((frame) => frame.group));
    this.addBodies();
    this.addJoints();
    this.addForces();
    for (const layer of ["frames", "centres", "ellipsoids", "reactions", "loads"] as Layer[]) this.parts.setVisible(layer, false);
  }

  get components(): Component[] {
    return [this.ground, ...this.bodies, ...this.joints, ...this.forces];
  }

  anchorOf = (body: number): Anchor => this.frames[body] ?? GROUND;

  private addBodies(): void {
    const { data, geometries, size } = this;
    this.parts.add(...shapeParts(data.ground ?? [], GROUND, this.ground, new THREE.Color("#9aa3ae"), "ground", geometries, size));
    this.parts.add(...axesParts(GROUND, new THREE.Matrix4(), 0.16 * size, null));
    this.frames.forEach((frame, i) => {
      this.parts.add(...shapeParts(frame.data.shapes ?? [], frame, this.bodies[i], this.colours[i], "bodies", geometries, size));
      this.parts.add(...inertiaParts(frame, this.bodies[i], size));
    });
  }

  private addJoints(): void {
    (this.data.joints ?? []).forEach((joint, i) => {
      const solids = solidParts(joint.solids ?? [], this.anchorOf, this.joints[i], "joints", this.geometries, this.size);
      const view = jointView(joint, [this.anchorOf(joint.first), this.anchorOf(joint.second)], this.joints[i], this.jointSize(joint), GROUND, solids);
      this.jointViews.push(view);
      this.parts.add(...view.parts);
    });
  }

  /** How large a joint is drawn: as the data say, or up to twice that so that its sleeve encloses the thinner of the bars it connects. */
  private jointSize(joint: JointData): number {
    const { size } = this;
    if ((joint.draw === "contact" || joint.draw === "rolling") && joint.radius && joint.radius > 0) return 1.5 * joint.radius;
    const radii = [joint.first, joint.second].flatMap((body, side) => {
      const frame = joint.frames[side];
      return frame && this.data.bodies[body] ? this.data.bodies[body].shapes.map((shape) => barRadius(shape, frame.p)) : [];
    });
    const thin = radii.filter((radius) => radius > 0).reduce((a, b) => Math.min(a, b), Infinity);
    const given = joint.size && joint.size > 0 ? Math.min(joint.size, 0.12 * size) : 0.05 * size;
    const wanted = Math.min(2 * given, Math.max(given, Number.isFinite(thin) ? 4.3 * thin : 0));
    // Not larger than a share of the smaller body, however large the mechanism is.
    const lengths = [joint.first, joint.second].map((body) => lengthOf(this.data.bodies[body]?.shapes ?? [])).filter((length) => length > 0);
    const share = joint.draw === "distance" ? Infinity : joint.first < 0 || joint.second < 0 ? 2 * LARGEST_SHARE : LARGEST_SHARE;
    const rails = ["slider", "cylinder"].includes(joint.draw) ? LARGEST_RAIL * size : Infinity;
    return Math.max(0.008 * size, Math.min(wanted, rails, share * lengths.reduce((a, b) => Math.min(a, b), Number.MAX_VALUE)));
  }

  private addForces(): void {
    (this.data.forces ?? []).forEach((force, i) => {
      const solids = solidParts(force.solids ?? [], this.anchorOf, this.forces[i], "forces", this.geometries, this.size);
      const view = forceView(force, this.anchorOf, this.forces[i], this.size, GROUND, solids);
      if (!view) return;
      this.forceViews.push(view);
      this.parts.add(...view.parts);
    });
  }

  /** The pose of a body as the scene graph has it; null where it has none. */
  poseOf(name: string): { p: number[]; q: number[] } | null {
    const frame = this.frames.find((one) => one.data.name === name);
    if (!frame?.valid) return null;
    const [p, q] = [new THREE.Vector3(), new THREE.Quaternion()];
    frame.group.matrixWorld.decompose(p, q, new THREE.Vector3());
    return { p: [p.x, p.y, p.z], q: [q.w, q.x, q.y, q.z] };
  }

  /** Adds sets of bodies that show other runs, or takes them away. */
  setGhosts(count: number): void {
    for (const frame of this.ghosts.flat()) this.scene.remove(frame.group);
    this.ghosts.length = 0;
    this.parts.remove((part) => part.layer === "ghost");
    for (let number = 0; number < count; number++) {
      const colour = new THREE.Color(GHOSTS[number % GHOSTS.length]);
      const frames = this.data.bodies.map((body) => new BodyFrame(body));
      frames.forEach((frame, i) => this.parts.add(...shapeParts(frame.data.shapes ?? [], frame, this.bodies[i], colour, "ghost", this.geometries, this.size)));
      if (frames.length) this.scene.add(...frames.map((frame) => frame.group));
      this.ghosts.push(frames);
    }
  }

  /** Takes poses (x, y, z, w, x, y, z for each body). */
  move(poses: ArrayLike<number>, frames = this.frames): void {
    for (let i = 0; i < frames.length; i++) frames[i].move(poses, i * 7);
  }

  /** Colours switchable constraints by what they do now. */
  setEngaged(engaged: (name: string) => boolean | null): void {
    let changed = false;
    this.jointViews.forEach((view, i) => {
      if (!view.setEngaged) return;
      const state = engaged(this.joints[i].name);
      if (state !== null && view.setEngaged(state)) changed = true;
    });
    for (const view of this.forceViews) if (view.setEngaged?.(engaged)) changed = true;
    if (changed) this.parts.invalidateColours();
  }

  /** Moves parts to their bodies. */
  update(): void {
    for (const view of this.jointViews) view.update?.();
    for (const view of this.forceViews) view.update();
    this.parts.update();
  }

  /**
   * The extent of the mechanism over a run, from some of its frames, and corners of its parts; where a carrier is given, as seen by somebody
   * who travels with this body; besides some components. Leaves bodies where the run was sampled last.
   */
  extent(run: Playback | null, points: number[], carrier = -1, without: Set<Component> | null = null): THREE.Box3 {
    const box = new THREE.Box3();
    const first = carrier >= 0 && run?.sampleLoaded(0) ? Array.from(run.now.slice(7 * carrier, 7 * carrier + 3)) : null;
    const frames = this.someFrames(run);
    for (const frame of frames) {
      if (!run?.sampleLoaded(frame)) continue;
      if (!first) this.extentNow(run.now, box, points.length < MOST_CORNERS ? points : null, without);
      else this.addTravelling(run.now, first, carrier, box, points);
    }
    if (!frames.length) this.extentNow(null, box, points, without);
    this.addGround(box, points);
    if (box.isEmpty()) box.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3().setScalar(this.size));
    return box;
  }

  /** Numbers of some frames of a run, in an order that covers it early. */
  private someFrames(run: Playback | null): number[] {
    const frames = run?.times.length ?? 0;
    const count = Math.min(frames, Math.max(2, Math.round(40_000 / (this.parts.count + 1))), 120);
    const divisor = (a: number, b: number): number => (b ? divisor(b, a % b) : a);
    let stride = Math.max(1, Math.round(0.618 * count));
    while (count > 1 && divisor(stride, count) > 1) stride++;
    return Array.from({ length: count }, (_, i) => Math.round((((i * stride) % count) * (frames - 1)) / Math.max(1, count - 1)));
  }

  /** For each body how far it gets from where a run begins. */
  travels(run: Playback): number[] {
    const far = this.bodies.map(() => 0);
    if (!run.sampleLoaded(0)) return far;
    const first = Array.from(run.now);
    for (const frame of this.someFrames(run)) {
      if (!run.sampleLoaded(frame)) continue;
      const { now } = run;
      far.forEach((known, i) => {
        const distance = Math.hypot(now[7 * i] - first[7 * i], now[7 * i + 1] - first[7 * i + 1], now[7 * i + 2] - first[7 * i + 2]);
        if (distance > known) far[i] = distance;
      });
    }
    return far;
  }

  /** Bodies of these numbers, and the joints and forces at them. */
  componentsAt(bodies: Set<number>): Set<Component> {
    const { data } = this;
    return new Set([
      ...this.bodies.filter((_, i) => bodies.has(i)),
      ...this.joints.filter((_, i) => [data.joints?.[i].first, data.joints?.[i].second].some((body) => bodies.has(body ?? -1))),
      ...this.forces.filter((_, i) => data.forces?.[i].points.some((point) => bodies.has(point.body))),
    ]);
  }

  private addTravelling(now: ArrayLike<number>, first: number[], carrier: number, box: THREE.Box3, points: number[]): void {
    const corners: number[] = [];
    const one = this.extentNow(now, new THREE.Box3(), corners);
    const back = first.map((x, k) => x - now[7 * carrier + k]);
    if (!back.every(Number.isFinite)) return;
    box.union(one.translate(new THREE.Vector3(...back)));
    if (points.length < MOST_CORNERS) points.push(...corners.map((x, i) => x + back[i % 3]));
  }

  /** Adds a ground that is not much larger than the mechanism, as the foot of a robot; floors and walls are cut off by the picture. */
  private addGround(box: THREE.Box3, points: number[]): void {
    const corners: number[] = [];
    const ground = this.parts.extent(["ground"], new THREE.Box3(), corners);
    const lengthOf = (one: THREE.Box3): number => one.getSize(new THREE.Vector3()).length();
    if (ground.isEmpty() || lengthOf(ground) > LARGEST_GROUND * lengthOf(box)) return;
    box.union(ground);
    points.push(...corners);
  }

  /** The extent with bodies at the given poses. */
  extentNow(poses: ArrayLike<number> | null, box = new THREE.Box3(), points: number[] | null = null, without: Set<Component> | null = null): THREE.Box3 {
    if (poses) this.move(poses);
    for (const view of this.jointViews) view.observe?.();
    for (const view of this.jointViews) view.update?.();
    for (const view of this.forceViews) view.update();
    return this.parts.extent(SHOWN, box, points, without);
  }

  /** Takes everything out of the scene. */
  remove(): void {
    this.scene.remove(this.parts.group, ...this.frames.map((frame) => frame.group), ...this.ghosts.flat().map((frame) => frame.group));
  }

  dispose(): void {
    this.remove();
    this.parts.dispose();
  }
}
