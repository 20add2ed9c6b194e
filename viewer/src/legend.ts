// The legend of the scene: what its colours mean, and how large the longest arrows are.

import type { Arrows } from "./arrows.ts";
import { make } from "./dom.ts";
import { formatValue } from "./plots.ts";
import type { ViewData } from "./types.ts";

const NAMES = { reactions: "reaction", loads: "applied" };

export class Legend {
  readonly element = make("div", { class: "scene-legend" });
  private colours: [string, string][] = [];

  /** Takes the colours that this model uses. */
  open(data: ViewData): void {
    const joints = data.joints ?? [];
    this.colours = [];
    if (joints.some((joint) => joint.switchable || joint.draw === "contact")) this.colours.push(["#f0841a", "engaged"], ["#9aa5b1", "released"]);
    if (joints.some((joint) => joint.redundant?.length)) this.colours.push(["#e0338f", "redundant"]);
    this.show([]);
  }

  /** Shows the colours, and the arrows that are on. */
  show(arrows: (Arrows | null)[]): void {
    const entries = this.colours.map(([colour, text]) => this.entry(colour, text));
    for (const one of arrows) {
      if (!one) continue;
      const lengths = [[one.colours.force, "force", "N", one.largestForce], [one.colours.torque, "torque", "N m", one.largestTorque]] as const;
      for (const [colour, what, unit, largest] of lengths) {
        if (largest > 0) entries.push(this.entry(`#${colour.getHexString()}`, `${NAMES[one.layer]} ${what}, longest ${formatValue(Number(largest.toPrecision(3)))} ${unit}`));
      }
    }
    this.element.replaceChildren(...entries);
    this.element.hidden = !entries.length;
  }

  private entry(colour: string, text: string): HTMLElement {
    return make("span", {}, make("i", { style: `background:${colour}` }), text);
  }
}
