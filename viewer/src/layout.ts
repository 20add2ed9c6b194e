// The places of the page: head, panels at both sides, scene, time.

import { button, icon, make } from "./dom.ts";

const NARROW_LEFT = 1180; // pixels: below this the left panel begins closed
const NARROW_RIGHT = 860;
const MOST_WARNINGS = 4;

/** A panel with tabs. */
export class Panel {
  readonly element: HTMLElement;
  private readonly bar = make("div", { class: "tabs", role: "tablist" });
  private readonly body = make("div", { class: "panel-body" });
  private pages = new Map<string, { tab: HTMLButtonElement; content: HTMLElement }>();
  onResize: () => void = () => undefined;

  constructor(side: "left" | "right") {
    const handle = make("div", { class: `handle ${side}`, title: "Drag to resize" });
    this.element = make("aside", { class: `panel ${side}` }, this.bar, this.body, handle);
    handle.addEventListener("pointerdown", (down) => {
      handle.setPointerCapture(down.pointerId);
      const width = this.element.offsetWidth;
      const move = (event: PointerEvent): void => {
        const change = (event.clientX - down.clientX) * (side === "left" ? 1 : -1);
        this.element.style.width = `${Math.max(160, Math.min(innerWidth * 0.65, width + change))}px`;
        this.onResize();
      };
      handle.addEventListener("pointermove", move);
      handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", move), { once: true });
    });
  }

  /** Adds a page or replaces the one of that name. */
  set(name: string, content: HTMLElement | null): void {
    const old = this.pages.get(name);
    const wasOpen = old?.tab.classList.contains("on") ?? false;
    old?.content.remove();
    if (!content) {
      old?.tab.remove();
      this.pages.delete(name);
      if (wasOpen && this.pages.size) this.open([...this.pages.keys()][0]);
      return;
    }
    const tab = old?.tab ?? make("button", { type: "button", role: "tab", onclick: () => this.open(name) }, name);
    if (!old) this.bar.append(tab);
    content.classList.add("page");
    this.body.append(content);
    this.pages.set(name, { tab, content });
    if (wasOpen || this.pages.size === 1) this.open(name);
    else content.hidden = true;
  }

  open(name: string): void {
    for (const [key, { tab, content }] of this.pages) {
      tab.classList.toggle("on", key === name);
      tab.setAttribute("aria-selected", String(key === name));
      content.hidden = key !== name;
    }
    this.onResize();
  }

  get visible(): boolean {
    return !this.element.classList.contains("closed");
  }

  show(visible: boolean): void {
    this.element.classList.toggle("closed", !visible);
    this.onResize();
  }
}

export class Layout {
  readonly left = new Panel("left");
  readonly right = new Panel("right");
  readonly title = make("h1");
  readonly subtitle = make("p");
  readonly connection = make("span", { class: "connection" });
  readonly tools = make("div", { class: "tools" });
  readonly stage = make("main", { class: "stage" });
  readonly banner = make("div", { class: "banner", role: "alert" });
  readonly bottom = make("footer");
  readonly leftButton: HTMLButtonElement;
  readonly rightButton: HTMLButtonElement;

  constructor(root: HTMLElement) {
    this.leftButton = button("Components and signals", icon("M4 5h16v14H4zM9.5 5v14"), () => this.toggle("left"), { class: "flat" });
    this.rightButton = button("Plots and diagnosis", icon("M4 5h16v14H4zM14.5 5v14"), () => this.toggle("right"), { class: "flat" });
    root.replaceChildren(
      make("header", {}, this.leftButton, make("div", { class: "name" }, this.title, this.subtitle), this.connection, this.tools, this.rightButton),
      make("div", { class: "middle" }, this.left.element, this.stage, this.right.element),
      this.bottom,
    );
    this.stage.append(this.banner);
    this.left.show(innerWidth >= NARROW_LEFT);
    this.right.show(innerWidth >= NARROW_RIGHT);
    this.markButtons();
  }

  toggle(side: "left" | "right"): void {
    const panel = this[side];
    panel.show(!panel.visible);
    this.markButtons();
  }

  private markButtons(): void {
    this.leftButton.classList.toggle("on", this.left.visible);
    this.rightButton.classList.toggle("on", this.right.visible);
  }

  setTitle(name: string, subtitle: string): void {
    this.title.textContent = name;
    this.subtitle.textContent = subtitle;
    document.title = `${name} · torsor`;
  }

  /** A line above the scene that one can put away. */
  warn(text: string): void {
    if (this.banner.childElementCount >= MOST_WARNINGS) return;
    const line = make("div", {}, make("span", {}, text));
    line.append(button("Close", "×", () => line.remove()));
    this.banner.append(line);
  }

  clearWarnings(): void {
    this.banner.replaceChildren();
  }
}
