// The topology graph: bodies as nodes, joints as edges.

import { makeSvg } from "./dom.ts";
import type { GraphData, ViewData } from "./types.ts";

const WIDTH = 320;

interface Placed {
  x: number;
  y: number;
}

/** The graph of the data, or one made from the joints: the ground above, bodies below by their distance from it. */
export function graphOf(data: ViewData): GraphData {
  if (data.graph?.nodes?.length) return data.graph;
  const nodes = [{ name: "ground", ground: true }, ...data.bodies.map((body) => ({ name: body.name, ground: false }))];
  const edges = (data.joints ?? []).map((joint) => ({ name: joint.name, first: joint.first + 1, second: joint.second + 1, redundant: (joint.redundant?.length ?? 0) > 0, loop: false }));
  return { nodes, edges };
}

/** Places of nodes from 0 to 1: as given, or in layers by the distance from the ground. */
export function placeNodes(graph: GraphData): Placed[] {
  const given = graph.nodes.every((node) => Number.isFinite(node.x) && Number.isFinite(node.y));
  if (given && graph.nodes.length > 1) {
    const xs = graph.nodes.map((node) => node.x as number);
    const ys = graph.nodes.map((node) => node.y as number);
    const scale = (list: number[]): ((value: number) => number) => {
      const low = list.reduce((a, b) => Math.min(a, b));
      const high = list.reduce((a, b) => Math.max(a, b));
      return (value) => (high > low ? (value - low) / (high - low) : 0.5);
    };
    const [sx, sy] = [scale(xs), scale(ys)];
    return graph.nodes.map((_, i) => ({ x: sx(xs[i]), y: sy(ys[i]) }));
  }
  const depth: number[] = graph.nodes.map((node) => (node.ground ? 0 : -1));
  if (!depth.includes(0) && depth.length) depth[0] = 0;
  let wave = depth.flatMap((d, i) => (d === 0 ? [i] : []));
  while (wave.length) {
    const next: number[] = [];
    for (const edge of graph.edges) {
      for (const [a, b] of [[edge.first, edge.second], [edge.second, edge.first]]) {
        if (wave.includes(a) && depth[b] === -1) {
          depth[b] = depth[a] + 1;
          next.push(b);
        }
      }
    }
    wave = next;
  }
  const deepest = depth.reduce((a, b) => Math.max(a, b), 0) + (depth.includes(-1) ? 1 : 0);
  const layers = depth.map((d) => (d < 0 ? deepest : d));
  const counts = new Map<number, number>();
  const order = layers.map((layer) => {
    const number = counts.get(layer) ?? 0;
    counts.set(layer, number + 1);
    return number;
  });
  return layers.map((layer, i) => ({ x: (order[i] + 0.5) / (counts.get(layer) ?? 1), y: deepest ? layer / deepest : 0.5 }));
}

function shorten(name: string, most = 14): string {
  const letters = [...name];
  return letters.length > most ? `…${letters.slice(1 - most).join("")}` : name;
}

const MOST_LABELS = 24; // edges of a graph whose names are written
const SHORTEST = 4; // letters of a label
const LETTER = 5.2; // pixels: about the width of a letter of a label
const LINE = 9; // and its height

/** Places of labels that do not cover each other. */
class Labels {
  private taken: { x: number; y: number; half: number }[] = [];

  take(text: string, place: Placed): boolean {
    const half = (LETTER * text.length) / 2;
    if (this.taken.some((one) => Math.abs(one.x - place.x) < one.half + half && Math.abs(one.y - place.y) < LINE)) return false;
    this.taken.push({ ...place, half });
    return true;
  }

  /** The first free place along a line, near its middle before near its ends. */
  find(text: string, along: (share: number) => Placed): Placed | null {
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]) if (this.take(text, along(share))) return along(share);
    return null;
  }
}

/** Draws the graph; a click on a node or an edge calls `choose` with its name. */
export function drawGraph(graph: GraphData, choose: (name: string) => void): SVGElement {
  const places = placeNodes(graph);
  const layers = new Set(places.map((place) => place.y.toFixed(3))).size;
  const height = Math.max(120, Math.min(520, layers * 74));
  const at = (i: number): Placed => ({ x: 46 + (places[i]?.x ?? 0.5) * (WIDTH - 92), y: 24 + (places[i]?.y ?? 0.5) * (height - 52) });
  const edges: SVGElement[] = [];
  const labels = new Labels();
  const names = graph.nodes.map((node, i) => {
    const apart = places.reduce((least, place, k) => (k !== i && Math.abs(place.y - places[i].y) < 1e-3 ? Math.min(least, Math.abs(at(k).x - at(i).x)) : least), Infinity);
    const name = shorten(node.name, Math.max(SHORTEST, Math.min(14, Math.floor(apart / LETTER) - 1)));
    return graph.nodes.length <= 60 && labels.take(name, { x: at(i).x, y: at(i).y + 21 }) ? name : null;
  });
  const together = new Map<string, number>();
  for (const edge of graph.edges) {
    if (!places[edge.first] || !places[edge.second]) continue;
    const [a, b] = [at(edge.first), at(edge.second)];
    const key = [edge.first, edge.second].sort((p, q) => p - q).join("-");
    const number = together.get(key) ?? 0;
    together.set(key, number + 1);
    const bend = (number % 2 ? 1 : -1) * Math.ceil(number / 2) * 22;
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const middle = { x: (a.x + b.x) / 2 + (bend * (b.y - a.y)) / length, y: (a.y + b.y) / 2 - (bend * (b.x - a.x)) / length };
    const line = makeSvg("path", { d: `M${a.x} ${a.y}Q${middle.x} ${middle.y} ${b.x} ${b.y}`, class: `edge${edge.redundant ? " redundant" : ""}${edge.loop ? " loop" : ""}` });
    const wide = makeSvg("path", { d: line.getAttribute("d") ?? "", class: "edge-target" }, makeSvg("title", {}, `${edge.name}${edge.loop ? " (closes a loop)" : ""}${edge.redundant ? " (redundant)" : ""}`));
    const group = makeSvg("g", { class: "edge-group", tabindex: 0 }, line, wide);
    const label = shorten(edge.name);
    const place = graph.edges.length > MOST_LABELS ? null : labels.find(label, (s) => ({ x: (1 - s) ** 2 * a.x + 2 * s * (1 - s) * middle.x + s * s * b.x, y: (1 - s) ** 2 * a.y + 2 * s * (1 - s) * middle.y + s * s * b.y - 3 }));
    if (place) group.append(makeSvg("text", { ...place, class: "edge-name" }, label));
    group.addEventListener("click", () => choose(edge.name));
    edges.push(group);
  }
  const nodes = graph.nodes.map((node, i) => {
    const { x, y } = at(i);
    const shape = node.ground
      ? makeSvg("rect", { x: x - 9, y: y - 7, width: 18, height: 14, rx: 2, class: "node ground-node" })
      : makeSvg("circle", { cx: x, cy: y, r: graph.nodes.length > 40 ? 5 : 8, class: "node" });
    const group = makeSvg("g", { class: "node-group", tabindex: 0 }, shape, makeSvg("title", {}, node.name));
    const name = names[i];
    if (name !== null) group.append(makeSvg("text", { x, y: y + 21, class: "node-name" }, name));
    group.addEventListener("click", () => choose(node.name));
    return group;
  });
  return makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "graph", role: "img", "aria-label": "Topology graph" }, ...edges, ...nodes);
}
