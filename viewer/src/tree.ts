// The tree of components: to find, highlight, hide, dim, follow and trace them. Dots in names make branches.

import { button, icon, make } from "./dom.ts";
import type { Component } from "./parts.ts";

const MOST = 250; // rows of one branch that are made at once
const EYE = "M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z";
const CLOSED_EYE = "M3 10c2 3 5.3 4.5 9 4.5s7-1.5 9-4.5M6 13.5l-1.5 2.5M12 14.5v3M18 13.5l1.5 2.5";
const TARGET = "M12 3v4M12 17v4M3 12h4M17 12h4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z";
const PATH = "M4 18c4 0 3-11 8-11 4 0 3 7 8 7";
const HALF = "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16";
const TITLES: Record<Component["kind"], string> = { ground: "Ground", body: "Bodies", joint: "Joints and constraints", force: "Forces" };

interface Branch {
  name: string;
  component: Component | null;
  children: Map<string, Branch>;
}

/** Components sorted into branches by the parts of their names between dots. */
export function branchesOf(components: { name: string }[]): Branch {
  const root: Branch = { name: "", component: null, children: new Map() };
  for (const component of components) {
    let here = root;
    const parts = component.name.split(".");
    for (const part of parts) {
      let next = here.children.get(part);
      if (!next) {
        next = { name: part, component: null, children: new Map() };
        here.children.set(part, next);
      }
      here = next;
    }
    if (here.component) here.children.set(`${here.children.size} `, { name: parts[parts.length - 1], component: component as Component, children: new Map() });
    else here.component = component as Component;
  }
  return root;
}

export interface TreeActions {
  select: (component: Component | null) => void;
  changed: (component: Component) => void;
  follow: (component: Component | null) => void;
  trace: (component: Component) => void;
  swatch: (component: Component) => string;
}

export class Tree {
  readonly element: HTMLElement;
  private readonly search = make("input", { type: "search", placeholder: "Find a component", "aria-label": "Find a component" });
  private readonly list = make("div", { class: "tree", role: "tree" });
  private rows = new Map<Component, HTMLElement>();
  private components: Component[] = [];
  private followed: Component | null = null;
  private traced = new Set<Component>();

  constructor(private readonly actions: TreeActions) {
    this.element = make("div", { class: "tree-page" }, make("div", { class: "search" }, this.search), this.list);
    this.search.addEventListener("input", () => this.build());
  }

  setComponents(components: Component[]): void {
    this.components = components;
    this.followed = null;
    this.traced.clear();
    this.build();
  }

  private build(): void {
    this.rows.clear();
    const text = this.search.value.trim().toLocaleLowerCase();
    const found = text ? this.components.filter((one) => `${one.name} ${one.type}`.toLocaleLowerCase().includes(text)) : this.components;
    this.list.replaceChildren();
    for (const kind of ["ground", "body", "joint", "force"] as const) {
      const list = found.filter((one) => one.kind === kind);
      if (!list.length) continue;
      if (kind === "ground") {
        this.list.append(this.row(list[0], list[0].name, 0));
        continue;
      }
      const head = make("summary", {}, make("span", {}, TITLES[kind]), make("small", {}, String(list.length)), this.allButton(list));
      const section = make("details", { class: "section", open: kind !== "force" || list.length < 60 }, head);
      this.addChildren(section, branchesOf(list), 0, Boolean(text));
      this.list.append(section);
    }
    if (!found.length) this.list.append(make("p", { class: "hint" }, "Nothing has this name."));
  }

  /** A button that hides or shows all of a list. */
  private allButton(list: Component[]): HTMLButtonElement {
    return button("Hide or show all of these", icon(EYE), (event) => {
      event.preventDefault();
      const hide = list.some((one) => !one.hidden);
      for (const one of list) this.hide(one, hide);
    });
  }

  private addChildren(parent: HTMLElement, branch: Branch, depth: number, open: boolean, from = 0): void {
    const all = [...branch.children.values()];
    for (const child of all.slice(from, from + MOST)) {
      if (child.component) parent.append(this.row(child.component, child.name, depth));
      if (!child.children.size) continue;
      const leaves = leavesOf(child);
      const summary = make("summary", { style: `--depth:${depth}` }, make("span", {}, child.name), make("small", {}, String(leaves.length)), this.allButton(leaves));
      const details = make("details", { class: "branch", open: open || all.length < 12 }, summary);
      const fill = (): void => {
        if (details.open && details.childElementCount === 1) this.addChildren(details, child, depth + 1, open);
      };
      details.addEventListener("toggle", fill);
      fill();
      parent.append(details);
    }
    const rest = all.length - from - MOST;
    if (rest > 0) {
      const more = button(`Show ${rest} more`, `Show ${rest} more`, () => {
        more.remove();
        this.addChildren(parent, branch, depth, open, from + MOST);
      });
      more.className = "more";
      parent.append(more);
    }
  }

  private row(component: Component, name: string, depth: number): HTMLElement {
    const { actions } = this;
    const tools = make("span", { class: "row-tools" });
    if (component.kind === "body") {
      tools.append(
        button("Trace of the centre of mass", icon(PATH), () => {
          actions.trace(component);
          if (!this.traced.delete(component)) this.traced.add(component);
          this.mark(component);
        }, { "data-does": "trace" }),
        button("The camera follows", icon(TARGET), () => this.follow(component), { "data-does": "follow" }),
      );
    }
    tools.append(
      button("Transparent or not", icon(HALF), () => {
        component.alpha = component.alpha < 1 ? 1 : 0.3;
        actions.changed(component);
        this.mark(component);
      }, { "data-does": "dim" }),
      button("Hide or show", icon(EYE), () => this.hide(component, !component.hidden), { "data-does": "hide" }),
    );
    const label = make("span", { class: "row-name" }, name);
    const row = make("div", { class: `row ${component.kind}`, role: "treeitem", tabindex: 0, draggable: "true", style: `--depth:${depth}`, title: `${component.name}: ${component.type}` }, make("i", { style: `background:${actions.swatch(component)}` }), label, tools);
    row.addEventListener("click", (event) => {
      if (!(event.target as Element).closest("button")) actions.select(component);
    });
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === row) actions.select(component);
    });
    row.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", `component:${component.name}`));
    this.rows.set(component, row);
    this.mark(component);
    return row;
  }

  private hide(component: Component, hidden: boolean): void {
    component.hidden = hidden;
    this.actions.changed(component);
    this.mark(component);
  }

  private follow(component: Component): void {
    const next = this.followed === component ? null : component;
    this.actions.follow(next);
    this.showFollowed(next);
  }

  /** Marks the component that the camera follows. */
  showFollowed(component: Component | null): void {
    const before = this.followed;
    this.followed = component;
    for (const one of [before, component]) if (one) this.mark(one);
  }

  /** Shows what a component is now: hidden, selected, dim, followed, traced. */
  mark(component: Component, scroll = false): void {
    const row = this.rows.get(component);
    if (!row) return;
    row.classList.toggle("hidden-one", component.hidden);
    row.classList.toggle("selected", component.highlighted);
    const on = (does: string, state: boolean): void => row.querySelector(`[data-does=${does}]`)?.classList.toggle("on", state) as unknown as void;
    on("dim", component.alpha < 1);
    on("follow", this.followed === component);
    on("trace", this.traced.has(component));
    row.querySelector("[data-does=hide]")?.replaceChildren(icon(component.hidden ? CLOSED_EYE : EYE));
    if (scroll) row.scrollIntoView({ block: "nearest" });
  }
}

function leavesOf(branch: Branch): Component[] {
  const list = branch.component ? [branch.component] : [];
  for (const child of branch.children.values()) list.push(...leavesOf(child));
  return list;
}
