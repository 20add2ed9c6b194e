// The page as a whole: opens data, connects scene, time, plots and panels.

import { Card } from "./card.ts";
import { Clock } from "./clock.ts";
import { diagnosisPage } from "./diagnosis.ts";
import { make, Tooltip } from "./dom.ts";
import { factsAt, swatchOf } from "./facts.ts";
import { Engagement } from "./intervals.ts";
import { helpSheet, listenToKeys } from "./keyboard.ts";
import { Layout } from "./layout.ts";
import { Legend } from "./legend.ts";
import { LiveRun } from "./live_run.ts";
import { Mechanism } from "./mechanism.ts";
import { ModeList } from "./mode_list.ts";
import { Mode } from "./modes.ts";
import type { Component, Layer } from "./parts.ts";
import { normalise } from "./normalise.ts";
import { Playback } from "./playback.ts";
import { Plots } from "./plots.ts";
import { Pointing } from "./pointing.ts";
import { Saving } from "./saving.ts";
import { SceneControl } from "./scene_control.ts";
import { Geometries } from "./shapes.ts";
import { SignalList } from "./signal_list.ts";
import { type Signal, Signals, signalsOf } from "./signals.ts";
import { Stage } from "./stage.ts";
import { Timeline } from "./timeline.ts";
import { Toolbar } from "./toolbar.ts";
import { Transport } from "./transport.ts";
import { Tree } from "./tree.ts";
import { Triad } from "./triad.ts";
import type { ViewData } from "./types.ts";

const PERIOD = 2; // seconds in which one period of a mode is shown
const FIRST_GHOSTS = [1, 2, 3]; // runs that are compared with the first one from the beginning
const SELDOM = 90; // milliseconds between two positions of cursors, where the processor draws the page
const IMPACT = 0.12; // seconds that an impact is shown
const LAYERS: Layer[] = ["bodies", "ground", "joints", "forces", "frames", "centres", "ellipsoids", "reactions", "loads"];

export class App {
  readonly clock = new Clock();
  readonly scene = new SceneControl();
  readonly stats = { firstPictureMs: 0 };
  data: ViewData | null = null;
  stage: Stage | null = null;
  runs: Playback[] = [];
  run = 0;
  private readonly layout: Layout;
  private readonly tooltip = new Tooltip();
  readonly transport = new Transport(this.clock);
  readonly timeline = new Timeline(this.clock, this.tooltip);
  readonly plots = new Plots(this.clock);
  private readonly card = new Card(
    () => this.scene.select(null),
    (component) => this.factsNow(component),
    (component) => this.drop(`component:${component.name}`, null),
  );
  private readonly legend = new Legend();
  private readonly triad = new Triad((axis) => this.scene.look(axis));
  readonly help = helpSheet();
  readonly saving = new Saving(this);
  private readonly tree: Tree;
  private readonly signalList = new SignalList((signal) => this.toggleSignal(signal));
  private readonly toolbar: Toolbar;
  private signals: Signals | null = null;
  private pointing: Pointing | null = null;
  private stale: Mechanism | null = null; // what was shown before
  private modes: Mode[] = [];
  private mode = -1;
  private modeList: ModeList | null = null;
  readonly live = new LiveRun(this);
  private ghosts: number[] = [];
  private engagement = new Engagement();
  private poses = new Float64Array(0);
  dark = matchMedia("(prefers-color-scheme: dark)").matches;

  constructor(root: HTMLElement) {
    this.layout = new Layout(root);
    const { layout, scene, clock } = this;
    root.append(this.tooltip.element, this.help);
    layout.bottom.append(this.transport.element, this.timeline.element);
    layout.stage.append(this.card.element, this.triad.element, this.legend.element);
    this.tree = new Tree({
      select: (component) => scene.select(component),
      changed: (component) => scene.componentChanged(component),
      follow: (component) => scene.follow(component),
      trace: (component) => component && scene.trace(component),
      swatch: (component) => swatchOf(component, this.mechanism),
    });
    this.toolbar = new Toolbar(layout.tools, scene, {
      theme: () => this.setDark(!this.dark),
      help: () => this.help.showModal(),
      selectRun: (run) => void this.selectRun(run),
      compare: (runs) => void this.compare(runs),
      ...this.saving.actions,
    });
    scene.onArrows = () => this.showLegend();
    scene.onComponent = (component) => this.tree.mark(component);
    scene.onFollow = (component) => this.tree.showFollowed(component);
    scene.onSelect = (component) => {
      this.card.show(this.data, component);
      if (component) this.tree.mark(component, true);
    };
    this.plots.onChange = () => this.signalList.mark(this.plots.names);
    this.plots.onDrop = (name, chart) => this.drop(name, chart);
    clock.onTime((t) => this.show(t));
    clock.onState(() => this.stage?.setMoving(clock.playing));
    this.setDark(this.dark);
    listenToKeys(this);
  }

  get mechanism(): Mechanism | null {
    return this.scene.mechanism;
  }

  get current(): Playback | null {
    return this.runs[this.run] ?? null;
  }

  setDark(dark: boolean): void {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.stage?.setTheme(dark);
    this.timeline.request();
    void this.plots.rebuild();
  }

  /** Shows data in place of what was shown. `again`: the same model changed, so camera and time stay. */
  async open(given: unknown, again = false): Promise<void> {
    const data = normalise(given);
    this.clock.pause();
    this.data = data;
    this.live.clear();
    this.mode = -1;
    this.ghosts = [];
    this.poses = new Float64Array(data.bodies.length * 7);
    this.layout.setTitle(data.name, data.subtitle ?? "");
    this.layout.clearWarnings();
    if (data.info?.warning) this.warn(data.info.warning);
    this.runs = (data.runs ?? []).map((run) => new Playback(run, data.bodies.length));
    for (const run of this.runs) {
      run.onArrival = () => this.show(this.clock.time);
      run.onTrouble = (text) => this.warn(text);
    }
    await this.openFirstRun();
    await this.openScene(data, again);
    this.signals = new Signals(this.runs, data.joints ?? [], data.bodies, () => this.live.history);
    this.plots.signals = this.signals;
    this.run = 0;
    this.takeRun();
    if (!again) this.clock.chooseSpeed();
    this.transport.setTimes(this.current?.times ?? []);
    this.scene.frame(this.current, again);
    this.clock.seek(this.clock.time);
    this.stage?.draw();
    this.disposeStale();
    this.stats.firstPictureMs ||= performance.now();
    await this.openPanels(data, again);
  }

  /** Opens the first run that can be opened; those before it are left out with a warning. */
  private async openFirstRun(): Promise<void> {
    while (this.runs.length) {
      try {
        return await this.runs[0].open();
      } catch (error) {
        this.warn(`The run ${this.runs[0].name} cannot be played: ${(error as Error).message}.`);
        this.runs.shift();
      }
    }
  }

  private async openScene(data: ViewData, again: boolean): Promise<void> {
    const solids = data.bodies.reduce((sum, body) => sum + (body.shapes?.length ?? 0), (data.joints?.length ?? 0) * 3);
    const heavy = solids > 1500;
    const before = this.mechanism;
    before?.remove();
    this.stale = before;
    try {
      if (!this.stage?.suits(data.up ?? [0, 0, 1], heavy)) this.makeStage(data, heavy);
      else if (!again) this.stage?.cameras.setOrthographic(false);
    } catch (error) {
      this.stage = null;
      this.triad.element.remove();
      this.layout.stage.append(make("p", { class: "no-scene" }, `The scene cannot be drawn: ${(error as Error).message}. Plots and time line still work.`));
      return;
    }
    const stage = this.stage as unknown as Stage;
    this.clock.seldom = stage.software ? SELDOM : 0;
    const geometries = new Geometries(Math.min(1, Math.max(0.15, (stage.software ? 60 : 600) / solids)));
    for (const problem of await geometries.addMeshes(data.meshes ?? [])) this.warn(problem);
    const mechanism = new Mechanism(data, geometries, stage.software || heavy, stage.scene);
    if (again && before) for (const layer of LAYERS) mechanism.parts.setVisible(layer, before.parts.isVisible(layer));
    this.scene.connect(stage, mechanism, () => this.current);
  }

  /** What was shown before is disposed of after the first picture: until then its shaders are compiled, and are used again. */
  private disposeStale(): void {
    this.stale?.dispose();
    this.stale?.geometries.dispose();
    this.stale = null;
  }

  private makeStage(data: ViewData, heavy: boolean): void {
    this.pointing?.dispose();
    this.stage?.dispose();
    const stage = new Stage(this.layout.stage, data.up ?? [0, 0, 1], heavy);
    this.stage = stage;
    stage.beforeDraw = () => this.scene.update(this.current?.frame(this.clock.time) ?? 0);
    let seen = "";
    stage.afterDraw = () => {
      const camera = stage.cameras.active;
      const now = camera.quaternion.toArray().join();
      if (now !== seen) this.triad.update(camera);
      seen = now;
    };
    stage.setTheme(this.dark);
    this.pointing = new Pointing(stage, () => this.mechanism?.parts ?? null, this.tooltip, {
      select: (component) => this.scene.select(component),
      trace: (component, point) => this.scene.trace(component, point),
      follow: (component) => {
        this.scene.follow(component);
        this.tree.showFollowed(component);
      },
    });
  }

  private async openPanels(data: ViewData, again: boolean): Promise<void> {
    const { layout, scene } = this;
    const components = this.mechanism?.components ?? [];
    this.tree.setComponents(data.ground?.length ? components : components.slice(1));
    this.card.show(data, null);
    layout.left.set("Components", this.tree.element);
    layout.left.set("Signals", this.signalList.element);
    layout.right.set("Plots", this.plots.element);
    layout.right.set("Diagnosis", diagnosisPage(data, { choose: (name) => scene.selectName(name), seek: (t) => this.clock.seek(t) }));
    this.openModes(data);
    this.listSignals();
    scene.openArrows(this.current);
    this.legend.open(data);
    this.toolbar.build(this.runs.map((run, i) => run.name || `run ${i + 1}`), this.run, FIRST_GHOSTS, data.views ?? [], this.stage !== null);
    if (again) await this.plots.rebuild();
    else await this.plotFirst();
    if (!again && !this.modes.length) layout.right.open(this.runs.length ? "Plots" : "Diagnosis"); // Diagnosis: a model as it starts
    this.plots.others = [];
    if (this.runs.length > 1) await this.compare(FIRST_GHOSTS.filter((index) => index < this.runs.length));
    this.stage?.request();
  }

  private openModes(data: ViewData): void {
    const list = data.modes ?? [];
    this.modes = list.map((mode) => new Mode(mode, data.bodies, data.size ?? 1));
    this.modeList = list.length ? new ModeList(list, (number) => void this.showMode(number), () => this.show(this.clock.time)) : null;
    this.layout.right.set("Modes", this.modeList?.element ?? null);
    if (!list.length || this.runs.length) return;
    this.layout.right.open("Modes");
    void this.showMode(0);
    this.modeList?.choose(0);
  }

  /** Animates a mode; −1 goes back to the run. */
  async showMode(number: number): Promise<void> {
    this.clock.pause();
    if (this.modes[number] && !(await this.tryTo(this.modes[number].open()))) return;
    this.mode = number;
    if (number < 0) {
      this.takeRun();
      this.mechanism?.move(this.data?.bodies.flatMap((body) => [...body.p, ...body.q]) ?? []);
      this.clock.seek(this.clock.start);
      return;
    }
    this.clock.setRange(0, PERIOD);
    this.clock.speed = 1;
    this.transport.setTimes(Array.from({ length: 41 }, (_, i) => (i / 40) * PERIOD));
    this.timeline.setRun(null);
    this.clock.seek(0);
    this.clock.play();
  }

  listSignals(): void {
    this.signalList.setSignals(this.signals?.list(this.run) ?? []);
    this.signalList.mark(this.plots.names);
  }

  /** Plots what says most at first sight: own signals, coordinates that move, and energies. */
  private async plotFirst(): Promise<void> {
    this.plots.clear();
    this.plots.run = this.run;
    for (const signals of (await this.signals?.choose(this.run)) ?? []) await this.plots.add(signals);
  }

  private takeRun(): void {
    const run = this.current;
    const contacts = (this.data?.joints ?? []).filter((joint) => joint.draw === "contact").map((joint) => joint.name);
    this.engagement = new Engagement(run?.data.rows, run?.data.events, contacts);
    this.clock.setRange(run?.start ?? 0, run?.end ?? 0);
    this.timeline.setRun(run ? run.data : null);
    this.transport.setTimes(run?.times ?? []);
    this.clock.seek(this.clock.time);
  }

  async selectRun(index: number): Promise<void> {
    const run = this.runs[index];
    if (!run) return;
    this.mode = -1;
    if (!(await this.tryTo(run.open()))) return;
    this.run = index;
    this.takeRun();
    this.scene.traces?.rebuild();
    this.scene.openArrows(run);
    this.plots.run = index;
    this.listSignals();
    await this.plots.rebuild();
  }

  /** Shows other runs as ghosts and dashed in plots. */
  async compare(runs: number[]): Promise<void> {
    const open: number[] = [];
    for (const index of runs) {
      const run = this.runs[index];
      if (run && (run.times.length || (await this.tryTo(run.open())))) open.push(index);
    }
    this.ghosts = open;
    this.mechanism?.setGhosts(open.length);
    this.plots.others = open;
    this.show(this.clock.time);
    await this.plots.rebuild();
  }

  private toggleSignal(signal: Signal): void {
    if (this.plots.names.has(signal.name)) this.plots.remove(signal.name);
    else {
      this.openPlots();
      void this.plots.add([signal]);
    }
  }

  /** Adds the curves of what was dragged: "signal:NAME" or "component:NAME". */
  private drop(dragged: string, chart: number | null): void {
    const list = this.signals?.list(this.run) ?? [];
    const [kind, ...rest] = dragged.split(":");
    const text = rest.join(":");
    if (kind === "signal") void this.plots.add(list.filter((signal) => signal.name === text), chart);
    if (kind !== "component") return;
    const found = signalsOf(text, list);
    if (!found.length) return this.warn(`Nothing is recorded of ${text}.`);
    this.openPlots();
    void this.plots.add(found, null);
  }

  private openPlots(): void {
    if (!this.layout.right.visible) this.layout.toggle("right");
    this.layout.right.open("Plots");
  }

  private showLegend(): void {
    this.legend.show(this.scene.shownArrows());
    if (this.card.component) this.card.refresh();
  }

  /** Shows all bodies as they are at a time. */
  private show(t: number): void {
    const { mechanism, poses } = this;
    if (mechanism && this.mode >= 0) {
      this.modes[this.mode]?.sample((2 * Math.PI * t) / PERIOD, this.modeList?.amplitude ?? 1, poses);
      mechanism.move(poses);
    } else if (mechanism && this.live.history?.sample(t, poses)) mechanism.move(poses);
    else if (mechanism && this.current?.sample(t)) mechanism.move(this.current.now);
    this.ghosts.forEach((index, i) => {
      const run = this.runs[index];
      if (mechanism?.ghosts[i] && run.sample(t)) mechanism.move(run.now, mechanism.ghosts[i]);
    });
    mechanism?.setEngaged((name) => this.engagement.at(name, t, IMPACT * this.clock.speed));
    this.live.note(t);
    if (this.card.component) this.card.update();
    this.stage?.request();
  }

  private factsNow(component: Component): [string, string][] {
    const { mechanism, engagement, scene, clock } = this;
    return factsAt(component, { mechanism, engagement, arrows: scene.arrows, loads: scene.loads, time: clock.time, frame: this.current?.frame(clock.time) ?? 0 });
  }

  /** Waits for data; false and a warning where they cannot be read. */
  private async tryTo(work: Promise<unknown>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      this.warn(`These data cannot be read: ${(error as Error).message}.`);
      return false;
    }
  }

  warn(text: string): void {
    this.layout.warn(text);
  }

  setConnection(text: string): void {
    this.layout.connection.textContent = text;
    this.layout.connection.dataset.state = text;
  }

  async plot(names: string[]): Promise<void> {
    await this.plots.add((this.signals?.list(this.run) ?? []).filter((signal) => names.includes(signal.name)));
  }
}
