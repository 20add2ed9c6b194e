// Elements of the page. Names from data reach it as text only.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, unknown>;

/** Makes an element: properties that begin with "on" are listeners, the others are attributes. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element of SVG. */
export function makeSvg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A picture for a button from a path in a square of 24 units. */
export function icon(path: string): SVGElement {
  return makeSvg(
    "svg",
    { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true" },
    makeSvg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 1.8, "stroke-linecap": "round", "stroke-linejoin": "round" }),
  );
}

export function button(title: string, content: Node | string, onclick: (event: MouseEvent) => void, extra: Properties = {}): HTMLButtonElement {
  return make("button", { type: "button", title, "aria-label": title, onclick, ...extra }, content);
}

/** A labelled check box. */
export function checkbox(label: string, value: boolean, onchange: (value: boolean) => void, title = ""): HTMLLabelElement {
  const input = make("input", { type: "checkbox", checked: value });
  input.addEventListener("change", () => onchange(input.checked));
  return make("label", { class: "check", title: title || label }, input, make("span", {}, label));
}

/** Shows text where a body or a curve has a name, close to the pointer. */
export class Tooltip {
  readonly element = make("div", { class: "tooltip", role: "status" });

  show(text: string, x: number, y: number): void {
    this.element.textContent = text;
    this.element.style.display = "block";
    const width = this.element.offsetWidth;
    this.element.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
    this.element.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - this.element.offsetHeight - 6))}px`;
  }

  hide(): void {
    this.element.style.display = "none";
  }
}

/** Offers a file to save. */
export function download(name: string, content: Blob): void {
  const link = make("a", { href: URL.createObjectURL(content), download: name.replace(/[^\p{L}\p{N}._-]+/gu, "_") });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
