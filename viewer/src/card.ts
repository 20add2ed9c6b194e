// A small card about the selected component.

import { button, make } from "./dom.ts";
import type { Component } from "./parts.ts";
import { formatValue } from "./plots.ts";
import type { ViewData } from "./types.ts";

/** The rows of the card that do not change with time. */
export function factsOf(data: ViewData, component: Component): [string, string][] {
  const body = (index: number): string => (index < 0 ? "ground" : (data.bodies[index]?.name ?? "?"));
  if (component.kind === "body") {
    const one = data.bodies[component.index];
    return typeof one.mass === "number" ? [["mass", `${formatValue(one.mass)} kg`]] : [];
  }
  if (component.kind === "joint") {
    const joint = data.joints?.[component.index];
    if (!joint) return [];
    const facts: [string, string][] = [["between", `${body(joint.first)} – ${body(joint.second)}`]];
    if (joint.redundant?.length) facts.push(["redundant", joint.redundant.join(", ")]);
    return facts;
  }
  const force = component.kind === "force" ? data.forces?.[component.index] : null;
  if (!force) return [];
  const facts: [string, string][] = [["between", force.points.map((point) => body(point.body)).join(" – ")]];
  if (typeof force.natural === "number") facts.push(["natural length", `${formatValue(force.natural)} m`]);
  return facts;
}

export class Card {
  readonly element = make("div", { class: "card", hidden: true });
  private readonly changing = make("tbody");
  component: Component | null = null;
  private written = 0;

  constructor(
    private readonly close: () => void,
    private readonly now: (component: Component) => [string, string][],
    private readonly plot: (component: Component) => void,
  ) {}

  show(data: ViewData | null, component: Component | null): void {
    this.component = component;
    this.element.hidden = !component;
    if (!component || !data) return;
    const row = ([label, value]: [string, string]): HTMLElement => make("tr", {}, make("th", {}, label), make("td", {}, value));
    this.element.replaceChildren(
      make("div", { class: "card-head" }, make("b", {}, component.name), button("Close", "×", this.close)),
      component.type !== component.kind ? make("small", {}, component.type) : make("small", {}, component.kind),
      make("table", {}, make("tbody", {}, ...factsOf(data, component).map(row)), this.changing),
      data.runs?.length && (component.kind === "body" || component.kind === "joint") ? make("button", { type: "button", class: "link", onclick: () => this.plot(component) }, "Plot its curves") : "",
    );
    this.refresh();
  }

  /** Writes what changes with time, at once. */
  refresh(): void {
    this.written = 0;
    this.update();
  }

  update(): void {
    const now = performance.now();
    if (!this.component || now - this.written < 60) return;
    this.written = now;
    this.changing.replaceChildren(...this.now(this.component).map(([label, value]) => make("tr", {}, make("th", {}, label), make("td", {}, value))));
  }
}
