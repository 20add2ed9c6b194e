// Keys of the page, and the sheet that lists them.

import type { App } from "./app.ts";
import { button, make } from "./dom.ts";

/** Connects keys to what they do, except where text is written. */
export function listenToKeys(app: App): void {
  const { clock, scene, transport } = app;
  const keys: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => clock.toggle(),
    ArrowRight: (event) => transport.step(event.shiftKey ? 10 : 1),
    ArrowLeft: (event) => transport.step(event.shiftKey ? -10 : -1),
    Home: () => clock.seek(clock.start),
    End: () => clock.seek(clock.end),
    l: () => clock.setLoop(!clock.loop),
    "+": () => transport.changeSpeed(1),
    "=": () => transport.changeSpeed(1),
    "-": () => transport.changeSpeed(-1),
    f: () => scene.fit(),
    "1": () => scene.look("iso"),
    "2": () => scene.look("x"),
    "3": () => scene.look("y"),
    "4": () => scene.look("z"),
    o: () => scene.toggleProjection(),
    j: () => scene.toggleLayer("joints"),
    a: () => scene.toggleLayer("frames"),
    c: () => scene.toggleLayer("centres"),
    i: () => scene.toggleLayer("ellipsoids"),
    r: () => scene.toggleLayer("reactions"),
    b: () => scene.toggleLayer("loads"),
    g: () => scene.setGrid(!scene.gridVisible),
    t: () => app.setDark(!app.dark),
    p: () => app.saving.actions.savePicture(),
    "?": () => (app.help.open ? app.help.close() : app.help.showModal()),
    Escape: () => scene.selected && scene.select(null),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.matches("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    if (event.key === " " && target.matches("button, summary, [role=treeitem]")) return;
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

const HELP: [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "one frame back or on; with Shift ten"],
  ["Home, End", "start, end"],
  ["+ −", "faster, slower"],
  ["L", "begin again at the end"],
  ["F", "fit the mechanism into the picture"],
  ["1 2 3 4", "isometric view, along x, y, z"],
  ["O", "perspective or orthographic"],
  ["R B J", "reactions, applied forces on bodies, joints"],
  ["A C I G", "frames, centres of mass, inertia ellipsoids, grid"],
  ["P", "save a picture"],
  ["T", "light or dark"],
  ["Drag, wheel, right button", "turn, zoom, shift"],
  ["Click, double click", "select a component, let the camera follow a body"],
  ["Shift and click", "trace this point of a body"],
  ["Time line", "click: go there; Ctrl and wheel: zoom; double click: all"],
  ["Plots", "click: go there; drag: zoom; double click: all"],
];

/** A sheet with all keys. */
export function helpSheet(): HTMLDialogElement {
  const dialog = make("dialog", { class: "help" });
  const rows = HELP.map(([key, text]) => make("tr", {}, make("th", {}, make("kbd", {}, key)), make("td", {}, text)));
  dialog.append(make("div", { class: "card-head" }, make("b", {}, "Keys and mouse"), button("Close", "×", () => dialog.close())), make("table", {}, make("tbody", {}, ...rows)));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}
