// The pointer in the scene: names where it is, selection by a click, a trace by shift and a click.

import * as THREE from "three";
import type { Tooltip } from "./dom.ts";
import type { Component, Part, Parts } from "./parts.ts";
import type { Stage } from "./stage.ts";

export interface PointingActions {
  select: (component: Component | null) => void;
  trace: (component: Component, point: THREE.Vector3) => void;
  follow: (component: Component) => void;
}

export class Pointing {
  private readonly raycaster = new THREE.Raycaster();
  private readonly abort = new AbortController();
  private at: PointerEvent | null = null;
  private waiting = false;
  private down = { x: 0, y: 0 };

  constructor(
    private readonly stage: Stage,
    private readonly parts: () => Parts | null,
    private readonly tooltip: Tooltip,
    private readonly actions: PointingActions,
  ) {
    const canvas = stage.renderer.domElement;
    const options = { signal: this.abort.signal };
    canvas.addEventListener("pointermove", (event) => this.move(event), options);
    canvas.addEventListener("pointerleave", () => this.leave(), options);
    canvas.addEventListener("pointerdown", (event) => (this.down = { x: event.clientX, y: event.clientY }), options);
    canvas.addEventListener("click", (event) => this.click(event), options);
    canvas.addEventListener("dblclick", (event) => this.twice(event), options);
  }

  private find(event: MouseEvent): { part: Part; point: THREE.Vector3 } | null {
    const parts = this.parts();
    if (!parts) return null;
    const frame = this.stage.renderer.domElement.getBoundingClientRect();
    const x = ((event.clientX - frame.left) / frame.width) * 2 - 1;
    const y = 1 - ((event.clientY - frame.top) / frame.height) * 2;
    this.raycaster.setFromCamera(new THREE.Vector2(x, y), this.stage.cameras.active);
    return parts.pick(this.raycaster);
  }

  private move(event: PointerEvent): void {
    this.at = event.buttons ? null : event;
    if (event.buttons) this.tooltip.hide();
    if (this.waiting) return;
    this.waiting = true;
    setTimeout(() => {
      this.waiting = false;
      const last = this.at;
      if (!last) return;
      const hit = this.find(last);
      const component = hit?.part.component;
      if (component) this.tooltip.show(component.kind === "body" || component.kind === "ground" ? component.name : `${component.name} · ${component.type}`, last.clientX, last.clientY);
      else this.tooltip.hide();
      this.stage.renderer.domElement.style.cursor = component ? "pointer" : "";
    }, 60);
  }

  private leave(): void {
    this.at = null;
    this.tooltip.hide();
  }

  private click(event: MouseEvent): void {
    if (Math.hypot(event.clientX - this.down.x, event.clientY - this.down.y) > 4) return;
    const hit = this.find(event);
    const component = hit?.part.component ?? null;
    if (hit && component && event.shiftKey) this.actions.trace(component, hit.point);
    else this.actions.select(component);
  }

  private twice(event: MouseEvent): void {
    const component = this.find(event)?.part.component;
    if (component?.kind === "body") this.actions.follow(component);
  }

  dispose(): void {
    this.abort.abort();
    this.leave();
  }
}
