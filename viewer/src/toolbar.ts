// The tools in the head of the page: views, what is shown, comparison, saving, theme, help.

import { button, checkbox, icon, make } from "./dom.ts";
import { choice, Menu, slider } from "./menu.ts";
import type { Layer } from "./parts.ts";
import type { SceneControl } from "./scene_control.ts";

const EYE = "M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z";
const CUBE = "M12 2.5l8.5 4.8v9.4L12 21.5l-8.5-4.8V7.3zM12 12l8.5-4.7M12 12v9.5M12 12L3.5 7.3";
const SAVE = "M12 3v12M7 10.5l5 5 5-5M4 20h16";
const MOON = "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z";
const ARROW = "M5 19L19 5M10 5h9v9";
const TWO = "M9 4h11v11H9zM4 9v11h11";
const FIT = "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5";

const LAYERS: [Layer, string, string][] = [
  ["bodies", "Bodies", ""],
  ["joints", "Joints and contacts", "J"],
  ["forces", "Springs, dampers, cables", ""],
  ["ground", "Ground", ""],
  ["frames", "Frames", "A"],
  ["centres", "Centres of mass", "C"],
  ["ellipsoids", "Inertia ellipsoids", "I"],
  ["reactions", "Reactions as arrows", "R"],
  ["loads", "Applied forces as arrows", "B"],
];

export interface ToolbarActions {
  theme: () => void;
  help: () => void;
  savePicture: () => void;
  saveStrip: () => void;
  saveVideo: () => void;
  saveTable: () => void;
  savePlots: () => void;
  selectRun: (run: number) => void;
  compare: (runs: number[]) => void;
}

export class Toolbar {
  private readonly boxes = new Map<Layer | "grid", HTMLInputElement>();
  private reactionButton: HTMLButtonElement | null = null;

  constructor(
    readonly element: HTMLElement,
    private readonly scene: SceneControl,
    private readonly actions: ToolbarActions,
  ) {
    scene.onLayers = () => this.mark();
  }

  /** Makes the tools for a model and its runs. */
  build(runs: string[], run: number, ghosts: number[], views: { name: string; direction: [number, number, number] }[], withScene: boolean): void {
    const { actions, scene } = this;
    this.reactionButton = null;
    const list: HTMLElement[] = [];
    if (withScene) {
      list.push(button("Fit the mechanism into the picture (F)", icon(FIT), () => scene.fit()), this.viewMenu(views), this.showMenu());
      if (scene.arrows?.available) {
        this.reactionButton = button("Reactions as arrows (R)", icon(ARROW), () => scene.toggleLayer("reactions"));
        list.push(this.reactionButton);
      }
    }
    if (runs.length > 1) list.push(this.runMenu(runs, run, ghosts));
    list.push(this.saveMenu(withScene, runs.length > 0), button("Light or dark (T)", icon(MOON), actions.theme), button("Keys and mouse (?)", "?", actions.help));
    this.element.replaceChildren(...list);
    this.mark();
  }

  private viewMenu(views: { name: string; direction: [number, number, number] }[]): HTMLElement {
    const { scene } = this;
    const menu = new Menu("Views", icon(CUBE), "View");
    menu.sheet.append(
      menu.entry("Isometric", "1", () => scene.look("iso")),
      menu.entry("Along x", "2", () => scene.look("x")),
      menu.entry("Along y", "3", () => scene.look("y")),
      menu.entry("Along z", "4", () => scene.look("z")),
      ...views.map((view) => menu.entry(view.name, "", () => scene.lookFrom(view.direction))),
      make("hr"),
      menu.entry("Perspective or orthographic", "O", () => scene.toggleProjection()),
    );
    return menu.element;
  }

  private showMenu(): HTMLElement {
    const { scene } = this;
    const menu = new Menu("What is shown", icon(EYE), "Show");
    this.boxes.clear();
    for (const [layer, label, key] of LAYERS) {
      if (scene.allArrows.some((one) => one.layer === layer && !one.available)) continue;
      const box = checkbox(label, scene.isVisible(layer), (on) => scene.setLayer(layer, on));
      if (key) box.append(make("kbd", {}, key));
      this.boxes.set(layer, box.querySelector("input") as HTMLInputElement);
      menu.sheet.append(box);
    }
    const grid = checkbox("Grid", true, (on) => scene.setGrid(on));
    grid.append(make("kbd", {}, "G"));
    this.boxes.set("grid", grid.querySelector("input") as HTMLInputElement);
    menu.sheet.append(grid, make("hr"));
    if (scene.allArrows.some((one) => one.available)) {
      menu.sheet.append(
        slider("Length of arrows", 0, -1.5, 1.5, 0.05, (value) => scene.setArrows(10 ** value, null)),
        slider("Smallest arrow", 0.01, 0, 0.6, 0.01, (value) => scene.setArrows(null, value)),
      );
    }
    menu.sheet.append(
      slider("Transparency of bodies", 0, 0, 0.95, 0.05, (value) => scene.setTransparency(value)),
      choice("Cut by a plane", [["", "no"], ["x", "across x"], ["y", "across y"], ["z", "across z"]], "", (axis) => scene.setClip(axis, null)),
      slider("Place of the plane", 0.5, 0, 1, 0.01, (value) => scene.setClip(null, value)),
    );
    return menu.element;
  }

  private runMenu(runs: string[], run: number, ghosts: number[]): HTMLElement {
    const menu = new Menu("Runs", icon(TWO), "Compare");
    const chosen = new Set(ghosts.filter((index) => index < runs.length));
    const boxes = runs.map((name, i) =>
      checkbox(name, chosen.has(i), (on) => {
        if (on) chosen.add(i);
        else chosen.delete(i);
        this.actions.compare([...chosen].sort((a, b) => a - b));
      }),
    );
    const options = runs.map((name, i): [string, string] => [String(i), name]);
    menu.sheet.append(
      choice("Run", options, String(run), (value) => this.actions.selectRun(Number(value))),
      make("p", { class: "hint" }, "Compare with (as ghosts in the scene, dashed in plots):"),
      make("div", { class: "runs" }, ...boxes),
    );
    return menu.element;
  }

  private saveMenu(withScene: boolean, withRuns: boolean): HTMLElement {
    const { actions } = this;
    const menu = new Menu("Save pictures, videos, tables", icon(SAVE), "Save");
    if (withScene) menu.sheet.append(menu.entry("Picture (PNG)", "P", actions.savePicture));
    if (withScene && withRuns) menu.sheet.append(menu.entry("Film strip (PNG)", "", actions.saveStrip), menu.entry("Video (WebM)", "", actions.saveVideo));
    menu.sheet.append(menu.entry("Plots (PNG)", "", actions.savePlots), menu.entry("Plotted curves (CSV)", "", actions.saveTable));
    return menu.element;
  }

  /** Shows which layers are on. */
  private mark(): void {
    this.scene.onArrows();
    for (const [layer, box] of this.boxes) box.checked = layer === "grid" ? this.scene.gridVisible : this.scene.isVisible(layer);
    this.reactionButton?.classList.toggle("on", this.scene.isVisible("reactions"));
  }
}
