// The axes of the world in a corner of the scene; a click on one looks along it.

import * as THREE from "three";
import { makeSvg } from "./dom.ts";

const RADIUS = 26;
const COLOURS: Record<string, string> = { x: "#e0483e", y: "#3fa34d", z: "#3b7dd8" };

export class Triad {
  readonly element: SVGElement;
  private readonly axes: { direction: THREE.Vector3; group: SVGElement; line: SVGElement; label: SVGElement }[];

  constructor(look: (axis: string) => void) {
    this.axes = Object.entries(COLOURS).map(([name, colour], i) => {
      const line = makeSvg("line", { x1: 0, y1: 0, stroke: colour, "stroke-width": 2.4, "stroke-linecap": "round" });
      const label = makeSvg("text", { fill: colour, "text-anchor": "middle", "dominant-baseline": "central" }, name);
      const group = makeSvg("g", {}, line, label);
      group.addEventListener("click", () => look(name));
      return { direction: new THREE.Vector3().setComponent(i, 1), group, line, label };
    });
    this.element = makeSvg("svg", { viewBox: "-40 -40 80 80", class: "triad", role: "img", "aria-label": "Axes of the world" }, ...this.axes.map((axis) => axis.group));
  }

  /** Turns the axes as the camera sees them; those that point away are drawn first. */
  update(camera: THREE.Camera): void {
    const back = camera.quaternion.clone().invert();
    const seen = this.axes.map((axis) => ({ axis, at: axis.direction.clone().applyQuaternion(back) }));
    seen.sort((a, b) => a.at.z - b.at.z);
    for (const { axis, at } of seen) {
      axis.line.setAttribute("x2", (at.x * RADIUS).toFixed(1));
      axis.line.setAttribute("y2", (-at.y * RADIUS).toFixed(1));
      axis.label.setAttribute("x", (at.x * (RADIUS + 8)).toFixed(1));
      axis.label.setAttribute("y", (-at.y * (RADIUS + 8)).toFixed(1));
      axis.group.style.opacity = at.z < -0.05 ? "0.55" : "1";
      this.element.append(axis.group);
    }
  }
}
