// What the card says about a component at the present time, and the colour of its mark in lists.

import type { Arrows } from "./arrows.ts";
import type { Engagement } from "./intervals.ts";
import type { Mechanism } from "./mechanism.ts";
import type { Component } from "./parts.ts";
import { formatValue } from "./plots.ts";

export interface Present {
  mechanism: Mechanism | null;
  arrows: Arrows | null;
  loads: Arrows | null;
  engagement: Engagement;
  time: number;
  frame: number;
}

export function factsAt(component: Component, { mechanism, arrows, loads, engagement, time, frame }: Present): [string, string][] {
  const body = component.kind === "body" ? mechanism?.frames[component.index] : null;
  const facts: [string, string][] = [];
  if (body) {
    facts.push(["centre of mass", body.valid ? [...body.group.position].map(formatValue).join(", ") : "not a number"]);
    const { force, torque } = loads?.valuesOf(component, frame) ?? { force: null, torque: null };
    if (force !== null) facts.push(["applied force", `${formatValue(force)} N`]);
    if (torque !== null) facts.push(["applied torque", `${formatValue(torque)} N m`]);
  }
  if (component.kind !== "joint") return facts;
  const engaged = engagement.at(component.name, time);
  if (engaged !== null) facts.push(["now", engaged ? "engaged" : "released"]);
  const { force, torque } = arrows?.valuesOf(component, frame) ?? { force: null, torque: null };
  if (force !== null) facts.push(["reaction force", `${formatValue(force)} N`]);
  if (torque !== null) facts.push(["reaction torque", `${formatValue(torque)} N m`]);
  return facts;
}

export function swatchOf(component: Component, mechanism: Mechanism | null): string {
  if (component.kind === "body") {
    const own = mechanism?.data.bodies[component.index].shapes?.find((shape) => shape.colour)?.colour;
    if (own) return `rgb(${own.slice(0, 3).map((share) => Math.round(255 * share)).join(" ")})`;
    return `#${mechanism?.colours[component.index]?.getHexString() ?? "808080"}`;
  }
  if (component.kind === "joint") return mechanism?.data.joints?.[component.index]?.redundant?.length ? "#e0338f" : "#5b6472";
  return component.kind === "force" ? "#3f9b8f" : "#9aa3ae";
}
