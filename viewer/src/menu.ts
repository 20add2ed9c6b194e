// Menus that drop from buttons, and their entries.

import { make } from "./dom.ts";

let open: Menu | null = null;
document.addEventListener("pointerdown", (event) => {
  if (open && !open.element.contains(event.target as Node)) open.close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") open?.close();
});

/** A button with a sheet below it. */
export class Menu {
  readonly element: HTMLElement;
  readonly sheet = make("div", { class: "sheet", hidden: true });
  readonly button: HTMLButtonElement;

  constructor(title: string, content: Node | string, label: string) {
    this.button = make("button", { type: "button", title, "aria-haspopup": "true", onclick: () => this.toggle() }, content, make("span", { class: "wide-only" }, label));
    this.element = make("div", { class: "menu" }, this.button, this.sheet);
  }

  toggle(): void {
    if (!this.sheet.hidden) return this.close();
    open?.close();
    this.sheet.hidden = false;
    this.button.classList.add("on");
    open = this;
  }

  close(): void {
    this.sheet.hidden = true;
    this.button.classList.remove("on");
    if (open === this) open = null;
  }

  /** An entry that does something and closes the menu. */
  entry(label: string, key: string, action: () => void): HTMLButtonElement {
    const entry = make("button", { type: "button", class: "entry", title: label }, make("span", {}, label), make("kbd", {}, key));
    entry.addEventListener("click", () => {
      this.close();
      action();
    });
    return entry;
  }
}

/** A slider with a label. */
export function slider(label: string, value: number, low: number, high: number, step: number, change: (value: number) => void): HTMLLabelElement {
  const input = make("input", { type: "range", min: low, max: high, step, value, class: "slider", title: label });
  const share = (): void => input.style.setProperty("--share", `${((Number(input.value) - low) / (high - low)) * 100}%`);
  share();
  input.addEventListener("input", () => {
    share();
    change(Number(input.value));
  });
  return make("label", { class: "slider-row" }, make("span", {}, label), input);
}

/** A choice of one from a list. */
export function choice(label: string, options: [string, string][], value: string, change: (value: string) => void): HTMLLabelElement {
  const select = make("select", { title: label, "aria-label": label }, ...options.map(([key, text]) => make("option", { value: key, selected: key === value }, text)));
  select.addEventListener("change", () => change(select.value));
  return make("label", { class: "slider-row" }, make("span", {}, label), select);
}
