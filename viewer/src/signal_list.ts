// The list of signals by group: a click or a drag adds a curve.

import { make } from "./dom.ts";
import { compareGroups, type Signal } from "./signals.ts";

const MOST = 300;
const TITLES: Record<string, string> = { signal: "Signals", coordinate: "Coordinates", rate: "Rates", energy: "Energies", reaction: "Reactions", position: "Centres of mass", velocity: "Velocities", "angular velocity": "Angular velocities (body axes)", drift: "Constraint drift" };

export class SignalList {
  readonly element: HTMLElement;
  private readonly search = make("input", { type: "search", placeholder: "Find a signal", "aria-label": "Find a signal" });
  private readonly list = make("div", { class: "tree" });
  private signals: Signal[] = [];
  private rows = new Map<string, HTMLElement>();

  constructor(private readonly toggle: (signal: Signal) => void) {
    this.element = make("div", { class: "tree-page" }, make("div", { class: "search" }, this.search), this.list);
    this.search.addEventListener("input", () => this.build());
  }

  setSignals(signals: Signal[]): void {
    this.signals = signals;
    this.build();
  }

  private build(): void {
    this.rows.clear();
    this.list.replaceChildren();
    const text = this.search.value.trim().toLocaleLowerCase();
    const found = text ? this.signals.filter((one) => `${one.name} ${one.label}`.toLocaleLowerCase().includes(text)) : this.signals;
    const groups = [...new Set(found.map((one) => one.group))].sort(compareGroups);
    groups.forEach((group, number) => {
      const members = found.filter((one) => one.group === group);
      const section = make("details", { class: "section", open: number < 3 || Boolean(text) }, make("summary", {}, make("span", {}, TITLES[group] ?? group), make("small", {}, String(members.length))));
      section.append(...members.slice(0, MOST).map((signal) => this.row(signal)));
      if (members.length > MOST) section.append(make("p", { class: "hint" }, `${members.length - MOST} more: use the search.`));
      this.list.append(section);
    });
    if (!found.length) this.list.append(make("p", { class: "hint" }, this.signals.length ? "Nothing has this name." : "There are no signals to plot."));
  }

  private row(signal: Signal): HTMLElement {
    const row = make(
      "div",
      { class: "row signal", role: "button", tabindex: 0, draggable: "true", title: signal.unit ? `${signal.name} [${signal.unit}]` : signal.name },
      make("i"),
      make("span", { class: "row-name" }, signal.label),
      make("small", {}, signal.unit),
    );
    row.addEventListener("click", () => this.toggle(signal));
    row.addEventListener("keydown", (event) => event.key === "Enter" && this.toggle(signal));
    row.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", `signal:${signal.name}`));
    this.rows.set(signal.name, row);
    return row;
  }

  /** Marks the signals that are plotted. */
  mark(names: Set<string>): void {
    for (const [name, row] of this.rows) row.classList.toggle("selected", names.has(name));
  }
}
