// The list of modes: frequency and damping of each, a click animates it.

import { make } from "./dom.ts";
import { formatValue } from "./plots.ts";
import type { ModeData } from "./types.ts";

export class ModeList {
  readonly element: HTMLElement;
  amplitude = 1;
  private rows: HTMLElement[] = [];
  private chosen = -1;

  /** `choose` gets the number of a mode, or −1 for none. */
  constructor(modes: ModeData[], choose: (number: number) => void, change: () => void) {
    const slider = make("input", { type: "range", min: 0, max: 3, step: 0.05, value: 1, class: "slider", title: "Amplitude" });
    const share = (): void => slider.style.setProperty("--share", `${(Number(slider.value) / 3) * 100}%`);
    share();
    slider.addEventListener("input", () => {
      this.amplitude = Number(slider.value);
      share();
      change();
    });
    this.rows = modes.map((mode, i) => {
      const row = make(
        "button",
        { type: "button", class: "mode" },
        make("b", {}, mode.name),
        make("span", {}, typeof mode.frequency === "number" && Number.isFinite(mode.frequency) ? `${formatValue(mode.frequency)} Hz` : ""),
        make("small", {}, typeof mode.damping === "number" && Number.isFinite(mode.damping) ? `damping ${formatValue(mode.damping)}` : ""),
      );
      row.addEventListener("click", () => {
        this.chosen = this.chosen === i ? -1 : i;
        this.mark();
        choose(this.chosen);
      });
      return row;
    });
    this.element = make("div", { class: "modes" }, make("label", { class: "amplitude" }, "Amplitude", slider), ...this.rows);
  }

  choose(number: number): void {
    this.chosen = number;
    this.mark();
  }

  private mark(): void {
    this.rows.forEach((row, i) => row.classList.toggle("on", i === this.chosen));
  }
}
