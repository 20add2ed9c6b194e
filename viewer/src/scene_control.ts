// What a user does with the scene: views, layers, selection, following, traces, arrows, clip plane.

import * as THREE from "three";
import { Arrows } from "./arrows.ts";
import { firstDirection, namedViews } from "./camera.ts";
import type { Mechanism } from "./mechanism.ts";
import type { Component, Layer } from "./parts.ts";
import type { Playback } from "./playback.ts";
import type { Stage } from "./stage.ts";
import { Traces } from "./traces.ts";

const LEAVES = 0.3; // share of the growth of the extent that a body travels, above which it leaves the mechanism
const TRAVEL = 3; // times its own size: what a mechanism travels before the camera follows it

export class SceneControl {
  stage: Stage | null = null;
  mechanism: Mechanism | null = null;
  arrows: Arrows | null = null; // reactions
  loads: Arrows | null = null;
  traces: Traces | null = null;
  selected: Component | null = null;
  gridVisible = true;
  onLayers: () => void = () => undefined;
  /** Called where arrows were decoded. */
  onArrows: () => void = () => undefined;
  /** Called where components look different: selected, hidden, dim. */
  onComponent: (component: Component) => void = () => undefined;
  onSelect: (component: Component | null) => void = () => undefined;
  /** Called where the camera begins to follow a body by itself. */
  onFollow: (component: Component) => void = () => undefined;
  private followed: Component | null = null;
  private lastPlace = new THREE.Vector3();
  private carrier: Component | null = null; // the heaviest body of a mechanism that travels, with which the camera goes
  private origin = new THREE.Vector3(); // where it is at the start
  private box = new THREE.Box3();
  private points: number[] = []; // that the camera is fitted to; none: the corners of the box
  private clip = { axis: "", share: 0.5 };

  /** Takes a new mechanism. */
  connect(stage: Stage, mechanism: Mechanism, run: () => Playback | null): void {
    this.stage = stage;
    this.mechanism = mechanism;
    this.clip = { axis: "", share: 0.5 };
    stage.setClip(null);
    this.arrows = new Arrows(mechanism, "reactions");
    this.loads = new Arrows(mechanism, "loads");
    for (const arrows of this.allArrows) {
      arrows.onLoad = () => {
        this.onArrows();
        stage.request();
      };
    }
    if (this.traces) stage.scene.remove(this.traces.group);
    this.traces?.clear();
    this.traces = new Traces(run);
    stage.scene.add(this.traces.group);
    this.selected = null;
    this.followed = null;
  }

  get allArrows(): Arrows[] {
    return [this.arrows, this.loads].filter((one) => one !== null);
  }

  /** The arrows of a layer that are shown; null where they are not. */
  shownArrows(): Arrows[] {
    return this.allArrows.filter((one) => one.available && this.isVisible(one.layer));
  }

  /** Takes the forces of a run. */
  openArrows(run: Playback | null): void {
    for (const arrows of this.allArrows) arrows.open(run);
  }

  /** Fits camera, light and ground to the whole motion of a run. Bodies are to be moved to the present time afterwards. */
  frame(run: Playback | null, keepCamera = false): void {
    const { stage, mechanism } = this;
    if (!stage || !mechanism) return;
    const [every, atStart]: [number[], number[]] = [[], []];
    const whole = mechanism.extent(run, every);
    const start = run && run.sampleLoaded(0) ? mechanism.extentNow(run.now, new THREE.Box3(), atStart) : whole;
    const lengthOf = (box: THREE.Box3): number => box.getSize(new THREE.Vector3()).length();
    // A mechanism that travels far is seen as it starts, and the camera goes with it.
    const travels = !start.isEmpty() && lengthOf(whole) > TRAVEL * lengthOf(start);
    // … with its heaviest body, unless this stays and another one leaves, as a stone that is thrown.
    const distances = travels && run ? mechanism.travels(run) : [];
    const gone = new Set(distances.flatMap((distance, i) => (distance > LEAVES * (lengthOf(whole) - lengthOf(start)) ? [i] : [])));
    const heaviest = travels ? this.heaviest() : null;
    this.carrier = heaviest && (gone.has(heaviest.index) || !gone.size) ? heaviest : null;
    this.box = whole;
    this.points = every;
    if (travels) {
      const besides: number[] = [];
      const seen = mechanism.extent(run, besides, this.carrier?.index ?? -1, this.carrier ? null : mechanism.componentsAt(gone));
      if (!this.carrier) {
        seen.union(start); // with what leaves later
        besides.push(...atStart);
      }
      const together = lengthOf(seen) <= TRAVEL * lengthOf(start);
      this.box = together ? seen : start;
      this.points = together ? besides : atStart;
      if (run?.sampleLoaded(0)) mechanism.move(run.now);
    }
    this.origin.setFromMatrixPosition(mechanism.anchorOf(this.carrier?.index ?? -1).matrix);
    const sphere = this.box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 0.02 * mechanism.size);
    const { up } = stage.cameras;
    const low = Math.min(this.box.min.dot(up), this.box.max.dot(up));
    stage.illuminate(sphere.center, radius, low >= -0.03 * radius ? Math.min(0, low) : low - 0.04 * radius, whole.getBoundingSphere(new THREE.Sphere()).radius);
    if (!keepCamera) this.fit(firstDirection(this.box.getSize(new THREE.Vector3()), up));
    if (travels && !keepCamera) this.followHeaviest();
  }

  private heaviest(): Component | null {
    const mass = (component: Component): number => this.mechanism?.data.bodies[component.index].mass ?? 0;
    return (this.mechanism?.bodies ?? []).reduce((best: Component | null, one) => (!best || mass(one) > mass(best) ? one : best), null);
  }

  private followHeaviest(): void {
    const heaviest = this.carrier;
    const frame = heaviest && this.mechanism?.frames[heaviest.index];
    if (!heaviest || !frame?.valid) return;
    this.followed = heaviest;
    this.lastPlace.setFromMatrixPosition(frame.matrix);
    this.onFollow(heaviest);
  }

  /** Fits the camera to the whole motion; where the mechanism travels, to its motion around where it is now. */
  fit(direction?: THREE.Vector3): void {
    const { stage, mechanism, carrier } = this;
    if (!stage) return;
    const anchor = carrier && mechanism?.anchorOf(carrier.index);
    const shift = anchor?.valid ? new THREE.Vector3().setFromMatrixPosition(anchor.matrix).sub(this.origin) : new THREE.Vector3();
    const shifted = [shift.x, shift.y, shift.z];
    stage.cameras.fit(this.box.clone().translate(shift), shift.lengthSq() ? this.points.map((x, i) => x + shifted[i % 3]) : this.points, direction);
    stage.request();
  }

  /** Where the picture shows a body: x to the right and y upwards, from −1 to 1 at its edges. */
  placeInPicture(name: string): number[] | null {
    const pose = this.mechanism?.poseOf(name);
    if (!pose || !this.stage) return null;
    const { active } = this.stage.cameras;
    active.updateMatrixWorld();
    return new THREE.Vector3(...pose.p).project(active).toArray().slice(0, 2);
  }

  /** Fits anew where bodies have left what the camera was fitted to, unless a user has moved the camera. */
  followExtent(): void {
    const { stage, mechanism } = this;
    if (!stage || !mechanism || stage.cameras.isMoved || this.followed) return;
    const before = this.box.getSize(new THREE.Vector3()).length();
    mechanism.extentNow(null, this.box);
    this.points = [];
    if (this.box.getSize(new THREE.Vector3()).length() > 1.05 * before) this.fit();
  }

  look(name: string): void {
    if (this.stage) this.fit(namedViews(this.stage.cameras.up)[name]);
  }

  lookFrom(direction: [number, number, number]): void {
    this.fit(new THREE.Vector3(...direction));
  }

  toggleProjection(): void {
    const cameras = this.stage?.cameras;
    cameras?.setOrthographic(!cameras.isOrthographic);
    this.stage?.request();
  }

  isVisible(layer: Layer): boolean {
    return this.mechanism?.parts.isVisible(layer) ?? false;
  }

  setLayer(layer: Layer, visible: boolean): void {
    this.mechanism?.parts.setVisible(layer, visible);
    this.onLayers();
    this.stage?.request();
  }

  toggleLayer(layer: Layer): void {
    const arrows = this.allArrows.find((one) => one.layer === layer);
    if (!arrows || arrows.available) this.setLayer(layer, !this.isVisible(layer));
  }

  setGrid(visible: boolean): void {
    this.gridVisible = visible;
    if (this.stage) this.stage.ground.group.visible = visible;
    this.onLayers();
    this.stage?.request();
  }

  setArrows(scale: number | null, threshold: number | null): void {
    for (const arrows of this.allArrows) {
      if (scale !== null) arrows.scale = scale;
      if (threshold !== null) arrows.threshold = threshold;
    }
    const first = this.allArrows.find((one) => one.available);
    if (first && !this.shownArrows().length) this.setLayer(first.layer, true);
    this.stage?.request();
  }

  setTransparency(share: number): void {
    for (const component of this.mechanism?.bodies ?? []) {
      component.alpha = 1 - share;
      this.onComponent(component);
    }
    this.mechanism?.parts.invalidate();
    this.stage?.request();
  }

  /** Cuts what is on one side of a plane across an axis. */
  setClip(axis: string | null, share: number | null): void {
    if (axis !== null) this.clip.axis = axis;
    if (share !== null) this.clip.share = share;
    const index = ["x", "y", "z"].indexOf(this.clip.axis);
    if (index < 0) return this.stage?.setClip(null);
    const normal = new THREE.Vector3().setComponent(index, -1);
    const [low, high] = [this.box.min.getComponent(index), this.box.max.getComponent(index)];
    const margin = 0.02 * (high - low) + 1e-9;
    this.stage?.setClip(new THREE.Plane(normal, low - margin + (high - low + 2 * margin) * this.clip.share));
  }

  select(component: Component | null): void {
    const before = this.selected;
    this.selected = component === before ? null : component;
    if (before) before.highlighted = false;
    if (this.selected) this.selected.highlighted = true;
    for (const one of [before, this.selected]) if (one) this.onComponent(one);
    this.mechanism?.parts.invalidateColours();
    this.onSelect(this.selected);
    this.stage?.request();
  }

  selectName(name: string): void {
    const component = this.mechanism?.components.find((one) => one.name === name);
    if (component && component !== this.selected) this.select(component);
  }

  /** To be called where a component was hidden or made transparent. */
  componentChanged(component: Component): void {
    this.mechanism?.parts.invalidate();
    this.onComponent(component);
    this.stage?.request();
  }

  follow(component: Component | null): void {
    this.followed = component;
    const frame = component && this.mechanism?.frames[component.index];
    if (!frame || !this.stage) return;
    this.lastPlace.setFromMatrixPosition(frame.matrix);
    this.stage.cameras.shift(this.lastPlace.clone().sub(this.stage.cameras.controls.target));
    this.stage.request();
  }

  trace(component: Component, at?: THREE.Vector3): void {
    const frame = this.mechanism?.frames[component.index];
    if (component.kind !== "body" || !frame) return;
    const point = at ? at.clone().applyMatrix4(frame.matrix.clone().invert()) : new THREE.Vector3();
    this.traces?.toggle(component.index, point, this.mechanism?.colours[component.index] ?? new THREE.Color());
    this.stage?.request();
  }

  /** Moves everything to the present frame; called before each picture. */
  update(frame: number): void {
    const { mechanism, stage } = this;
    if (!mechanism || !stage) return;
    const followed = this.followed && mechanism.frames[this.followed.index];
    if (followed?.valid) {
      const place = new THREE.Vector3().setFromMatrixPosition(followed.matrix);
      const by = place.clone().sub(this.lastPlace);
      if (by.lengthSq() > 0) stage.cameras.shift(by);
      this.lastPlace.copy(place);
    }
    mechanism.parts.setCoarse(stage.heavy && stage.isCoarse);
    for (const arrows of this.allArrows) arrows.update(frame);
    this.traces?.update(frame);
    mechanism.update();
  }
}
