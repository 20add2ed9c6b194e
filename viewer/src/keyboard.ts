// Keys of the page, and the sheet that lists them.

import { button, make } from "./dom.ts";

export interface KeyActions {
  toggle: () => void;
  step: (count: number) => void;
  start: () => void;
  end: () => void;
  loop: () => void;
  speed: (way: number) => void;
  fit: () => void;
  look: (name: string) => void;
  projection: () => void;
  layer: (name: "joints" | "frames" | "centres" | "ellipsoids" | "reactions") => void;
  grid: () => void;
  theme: () => void;
  picture: () => void;
  unselect: () => void;
  help: () => void;
}

/** Calls actions for keys, except where text is written. */
export function listenToKeys(actions: KeyActions): void {
  const keys: Record<string, (event: KeyboardEvent) => void> = {
    " ": actions.toggle,
    ArrowRight: (event) => actions.step(event.shiftKey ? 10 : 1),
    ArrowLeft: (event) => actions.step(event.shiftKey ? -10 : -1),
    Home: actions.start,
    End: actions.end,
    l: actions.loop,
    "+": () => actions.speed(1),
    "=": () => actions.speed(1),
    "-": () => actions.speed(-1),
    f: actions.fit,
    "1": () => actions.look("iso"),
    "2": () => actions.look("x"),
    "3": () => actions.look("y"),
    "4": () => actions.look("z"),
    o: actions.projection,
    j: () => actions.layer("joints"),
    a: () => actions.layer("frames"),
    c: () => actions.layer("centres"),
    i: () => actions.layer("ellipsoids"),
    r: () => actions.layer("reactions"),
    g: actions.grid,
    t: actions.theme,
    p: actions.picture,
    "?": actions.help,
    Escape: actions.unselect,
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
  ["R J A C I G", "reactions, joints, frames, centres of mass, inertia ellipsoids, grid"],
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
