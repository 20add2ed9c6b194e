// The page as a whole: opens data, connects scene, time, plots and panels.

import * as THREE from "three";
import { firstDirection } from "./camera.ts";
import { Clock } from "./clock.ts";
import { make, Tooltip } from "./dom.ts";
import { engagedAt } from "./intervals.ts";
import { History } from "./history.ts";
import { Layout } from "./layout.ts";
import { Mechanism } from "./mechanism.ts";
import { Playback } from "./playback.ts";
import { Geometries } from "./shapes.ts";
import { Stage } from "./stage.ts";
import { Timeline } from "./timeline.ts";
import { Transport } from "./transport.ts";
import type { RowData, ViewData } from "./types.ts";

export class App {
  readonly layout: Layout;
  readonly clock = new Clock();
  readonly tooltip = new Tooltip();
  readonly transport = new Transport(this.clock);
  readonly timeline = new Timeline(this.clock, this.tooltip);
  readonly stats = { firstPictureMs: 0, fps: 0 };
  data: ViewData | null = null;
  stage: Stage | null = null;
  mechanism: Mechanism | null = null;
  runs: Playback[] = [];
  run = 0;
  live: History | null = null;
  private rows = new Map<string, RowData>();
  private poses = new Float64Array(0);

  constructor(readonly root: HTMLElement) {
    this.layout = new Layout(root);
    this.layout.bottom.append(this.transport.element, this.timeline.element);
    root.append(this.tooltip.element);
    this.clock.onTime((t) => this.show(t));
    this.clock.onState(() => this.stage?.setMoving(this.clock.playing));
  }

  get current(): Playback | null {
    return this.runs[this.run] ?? null;
  }

  async open(data: ViewData, again = false): Promise<void> {
    if (data.format !== "torsor-view" || data.version !== 1) throw new Error(`format ${data.format} ${data.version} is not torsor-view 1`);
    this.data = data;
    this.layout.setTitle(data.name, data.subtitle ?? "");
    if (data.info?.warning) this.warn(data.info.warning);
    this.runs = (data.runs ?? []).map((run) => new Playback(run, data.bodies.length));
    for (const run of this.runs) run.onArrival = () => this.show(this.clock.time);
    await this.runs[0]?.open();
    await this.openScene(data, again);
    this.selectRun(0);
    this.clock.chooseSpeed();
    this.transport.setTimes(this.current?.times ?? []);
    this.frame(again);
    this.stage?.draw();
    this.stats.firstPictureMs ||= performance.now();
  }

  private async openScene(data: ViewData, again: boolean): Promise<void> {
    const solids = data.bodies.reduce((sum, body) => sum + (body.shapes?.length ?? 0), (data.joints?.length ?? 0) * 3);
    const heavy = solids > 1500;
    const geometries = new Geometries(heavy ? 0.1 : solids > 400 ? 0.5 : 1);
    const problems = await geometries.addMeshes(data.meshes ?? []);
    if (problems.length) this.warn(problems[0]);
    this.mechanism?.dispose();
    this.mechanism?.geometries.dispose();
    try {
      if (!this.stage || !again) {
        this.stage?.dispose();
        this.stage = new Stage(this.layout.stage, data.up ?? [0, 0, 1], heavy);
        this.stage.beforeDraw = () => this.mechanism?.update();
      }
      this.mechanism = new Mechanism(data, geometries, this.stage.software || heavy, this.stage.scene);
      this.stage.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
    } catch (error) {
      this.stage = null;
      this.mechanism = null;
      this.layout.stage.append(make("p", { class: "no-scene" }, `The scene cannot be drawn: ${(error as Error).message}. Plots and time line still work.`));
    }
  }

  selectRun(index: number): void {
    this.run = index;
    const run = this.current;
    this.rows = new Map((run?.data.rows ?? []).map((row) => [row.name, row]));
    this.clock.setRange(run?.start ?? 0, run?.end ?? 0);
    this.timeline.setRun(run?.data ?? null);
    this.clock.seek(this.clock.time);
  }

  /** Shows all bodies as they are at a time. */
  private show(t: number): void {
    const { mechanism } = this;
    if (!mechanism) return;
    if (this.current?.sample(t)) mechanism.move(this.current.now);
    mechanism.setEngaged((name) => {
      const row = this.rows.get(name);
      return row ? engagedAt(row, t) : null;
    });
    this.stage?.request();
  }

  /** Fits camera, light and ground to the whole motion. */
  frame(keepCamera = false): void {
    const { stage, mechanism } = this;
    if (!stage || !mechanism) return;
    const box = mechanism.extent(this.current);
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 0.02 * mechanism.size);
    const { up } = stage.cameras;
    const low = Math.min(box.min.dot(up), box.max.dot(up));
    stage.illuminate(sphere.center, radius, low >= -0.03 * radius ? Math.min(0, low) : low - 0.04 * radius);
    if (!keepCamera) stage.cameras.fit(sphere.center, 0.92 * radius, firstDirection(box.getSize(new THREE.Vector3()), up));
    stage.request();
  }

  warn(text: string): void {
    this.layout.warn(text);
  }

  setConnection(text: string): void {
    this.layout.connection.textContent = text;
    this.layout.connection.dataset.state = text;
  }

  /** Poses that the server sends while a simulation runs. */
  receive(time: number, poses: number[], signals: Record<string, number>): void {
    this.live ??= new History(this.data?.bodies.length ?? 0);
    this.live.add(time, poses, signals);
    this.poses = Float64Array.from(poses);
    this.mechanism?.move(this.poses);
    this.stage?.request();
  }

  private pose(name: string): { p: number[]; q: number[] } | null {
    const frame = this.mechanism?.frames.find((one) => one.data.name === name);
    if (!frame?.valid) return null;
    const p = new THREE.Vector3();
    const q = new THREE.Quaternion();
    frame.group.matrixWorld.decompose(p, q, new THREE.Vector3());
    return { p: [p.x, p.y, p.z], q: [q.w, q.x, q.y, q.z] };
  }

  /** What tests and notebooks may call as window.torsor. */
  api(): Record<string, unknown> {
    const { clock, stats } = this;
    const app = this;
    return {
      get state() {
        return { time: clock.time, frame: app.current?.frame(clock.time) ?? 0, playing: clock.playing, speed: clock.speed, run: app.run };
      },
      get stats() {
        return { ...stats, fps: clock.stats.fps };
      },
      seek: (t: number) => clock.seek(t),
      play: () => clock.play(),
      pause: () => clock.pause(),
      setSpeed: (speed: number) => clock.setSpeed(speed),
      pose: (name: string) => this.pose(name),
      rows: () => this.timeline.statesAt(clock.time),
      cursorTime: () => clock.time,
    };
  }
}
