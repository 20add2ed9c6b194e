// What torsor found out about the mechanism: degrees of freedom, redundant constraints, notes, accuracy, topology.

import { make } from "./dom.ts";
import { drawGraph, graphOf } from "./graph.ts";
import type { ViewData } from "./types.ts";

const MOST_NODES = 300;

export interface DiagnosisActions {
  choose: (name: string) => void;
  seek: (time: number) => void;
}

/** A note whose times can be clicked. */
function note(text: string, seek: (time: number) => void): HTMLElement {
  const item = make("li");
  let from = 0;
  for (const match of text.matchAll(/\bt\s*=\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*s\b)?/gi)) {
    item.append(text.slice(from, match.index));
    item.append(make("button", { type: "button", class: "link", title: "Go to this time", onclick: () => seek(Number(match[1])) }, match[0]));
    from = match.index + match[0].length;
  }
  item.append(text.slice(from));
  return item;
}

export function diagnosisPage(data: ViewData, actions: DiagnosisActions): HTMLElement {
  const info = data.info ?? {};
  const page = make("div", { class: "diagnosis" });
  const joints = data.joints ?? [];
  const numbers = make("div", { class: "numbers" });
  const number = (value: string, label: string, kind = ""): HTMLElement => make("div", { class: `number ${kind}` }, make("b", {}, value), make("span", {}, label));
  const redundant = info.redundant ?? [];
  if (info.degrees_of_freedom !== null && info.degrees_of_freedom !== undefined) numbers.append(number(String(info.degrees_of_freedom), info.degrees_of_freedom === 1 ? "degree of freedom" : "degrees of freedom"));
  numbers.append(number(String(data.bodies.length), data.bodies.length === 1 ? "body" : "bodies"), number(String(joints.length), joints.length === 1 ? "joint" : "joints"));
  numbers.append(number(String(redundant.length), redundant.length === 1 ? "redundant row" : "redundant rows", redundant.length ? "bad" : ""));
  page.append(numbers);
  if (redundant.length) {
    const list = make("ul", { class: "redundant-list" });
    for (const one of redundant) list.append(make("li", {}, make("button", { type: "button", class: "link", title: "Show it in the scene", onclick: () => actions.choose(one.constraint) }, one.constraint), `: ${one.direction}`));
    page.append(make("h2", {}, "Redundant constraints"), make("p", { class: "hint" }, "Drawn in magenta. Their reactions are not unique."), list);
  }
  const notes = info.notes ?? [];
  if (notes.length) page.append(make("h2", {}, "Notes"), make("ul", {}, ...notes.slice(0, 200).map((text) => note(text, actions.seek))));
  const accuracy = Object.entries(info.accuracy ?? {});
  if (accuracy.length) {
    const rows = accuracy.map(([label, value]) => make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, String(value))));
    page.append(make("h2", {}, "Accuracy"), make("table", {}, make("tbody", {}, ...rows)));
  }
  const graph = graphOf(data);
  if (graph.nodes.length > 1 && graph.nodes.length <= MOST_NODES) page.append(make("h2", {}, "Topology"), make("div", { class: "graph-host" }, drawGraph(graph, actions.choose)));
  return page;
}
