// The time line: one row for each switchable constraint and contact, ticks for events, a click to go there.

import type { Clock } from "./clock.ts";
import { make, type Tooltip } from "./dom.ts";
import { countInColumns, engagedAt, formatTick, formatTime, spansInPixels, ticks } from "./intervals.ts";
import { frameAt } from "./playback.ts";
import type { RowData, RunData } from "./types.ts";

const WIDEST_GUTTER = 150; // of the names at the left
const RIGHT = 14;
const HEAD = 34; // axis and events
const ROW = 18;
const SHOWN_ROWS = 5;
const LOW = 560; // pixels: of a page that shows fewer rows

interface Colours {
  text: string;
  faint: string;
  line: string;
  span: string;
  event: string;
  accent: string;
}

export class Timeline {
  readonly element: HTMLElement;
  rows: RowData[] = [];
  private events: { time: number; name: string }[] = [];
  private times = new Float64Array(0);
  private from = 0;
  private to = 1;
  private scroll = 0;
  private readonly canvas = make("canvas", { class: "timeline-canvas", tabindex: 0, "aria-label": "Time line: click to go to a time" });
  private readonly cursor = make("div", { class: "timeline-cursor" });
  private readonly observer: ResizeObserver;
  private wanted = false;
  private dragging = false;

  constructor(
    private readonly clock: Clock,
    private readonly tooltip: Tooltip,
  ) {
    this.element = make("div", { class: "timeline" }, this.canvas, this.cursor);
    this.observer = new ResizeObserver(() => this.request());
    this.observer.observe(this.element);
    clock.onTimeSeldom(() => this.placeCursor());
    this.listen();
  }

  setRun(run: RunData | null): void {
    this.rows = run?.rows ?? [];
    this.events = [...(run?.events ?? [])].filter((event) => Number.isFinite(event.time)).sort((a, b) => a.time - b.time);
    this.times = Float64Array.from(this.events, (event) => event.time);
    this.scroll = 0;
    this.showAll();
    const most = innerHeight < LOW ? 3 : SHOWN_ROWS;
    this.element.style.height = `${HEAD + ROW * Math.min(most, this.rows.length) + 6}px`;
    this.element.style.display = run ? "" : "none";
  }

  showAll(): void {
    this.from = this.clock.start;
    this.to = this.clock.end > this.clock.start ? this.clock.end : this.clock.start + 1;
    this.request();
  }

  /** What every row says at a time. */
  statesAt(t: number): { name: string; engagedAtCursor: boolean | null }[] {
    return this.rows.map((row) => ({ name: row.name, engagedAtCursor: engagedAt(row, t) }));
  }

  private get gutter(): number {
    return Math.max(64, Math.min(WIDEST_GUTTER, Math.round(0.2 * this.element.clientWidth)));
  }

  /** Whether all rows are seen without scrolling. */
  private get fits(): boolean {
    return this.rows.length * ROW <= this.element.clientHeight - HEAD;
  }

  private get width(): number {
    return Math.max(10, this.element.clientWidth - this.gutter - RIGHT);
  }

  private x(t: number): number {
    return this.gutter + ((t - this.from) / (this.to - this.from)) * this.width;
  }

  private timeAt(event: MouseEvent): number {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    return this.from + ((x - this.gutter) / this.width) * (this.to - this.from);
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.dragging = true;
      canvas.setPointerCapture(event.pointerId);
      this.seekTo(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.dragging) this.clock.seek(this.timeAt(event));
      this.hover(event);
    });
    canvas.addEventListener("pointerup", () => (this.dragging = false));
    canvas.addEventListener("pointerleave", () => this.tooltip.hide());
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** Seeks the time under the pointer, or the event that is close to it. */
  private seekTo(event: PointerEvent): void {
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    const near = y < HEAD ? this.eventNear(event) : null;
    this.clock.seek(near ? near.time : this.timeAt(event));
  }

  private eventNear(pointer: MouseEvent): { time: number; name: string; count: number } | null {
    if (!this.times.length) return null;
    const t = this.timeAt(pointer);
    const reach = (4 * (this.to - this.from)) / this.width;
    const i = frameAt(this.times, t);
    const candidates = [i, i + 1].filter((k) => k < this.times.length && Math.abs(this.times[k] - t) <= reach);
    candidates.sort((a, b) => Math.abs(this.times[a] - t) - Math.abs(this.times[b] - t));
    if (!candidates.length) return null;
    let count = 0;
    for (let k = candidates[0]; k < this.times.length && this.times[k] <= t + reach && count < 1000; k++) count++;
    return { ...this.events[candidates[0]], count };
  }

  private hover(event: PointerEvent): void {
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    const length = this.clock.end - this.clock.start;
    const time = `${formatTime(this.timeAt(event), length)} s`;
    if (y < HEAD) {
      const near = this.eventNear(event);
      this.tooltip.show(near ? `${near.name}${near.count > 1 ? ` and ${near.count - 1} more` : ""}, ${formatTime(near.time, length)} s` : time, event.clientX, event.clientY);
      return;
    }
    const row = this.rows[Math.floor((y - HEAD + this.scroll) / ROW)];
    if (!row) return this.tooltip.hide();
    const engaged = engagedAt(row, this.timeAt(event));
    this.tooltip.show(`${row.name}: ${engaged === null ? "not recorded" : engaged ? "engaged" : "released"}, ${time}`, event.clientX, event.clientY);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.shiftKey || this.fits) {
      const centre = Math.min(this.clock.end, Math.max(this.clock.start, this.timeAt(event)));
      const factor = Math.exp((event.deltaY || event.deltaX) * 0.0015);
      const from = centre - (centre - this.from) * factor;
      const to = centre + (this.to - centre) * factor;
      if (to - from < 1e-9 * Math.max(1, this.clock.end - this.clock.start)) return;
      this.from = Math.max(this.clock.start, from);
      this.to = Math.min(this.clock.end, to);
      if (!(this.to > this.from)) this.showAll();
    } else {
      const most = Math.max(0, this.rows.length * ROW - (this.element.clientHeight - HEAD - 6));
      this.scroll = Math.min(most, Math.max(0, this.scroll + event.deltaY));
    }
    this.request();
  }

  request(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.draw();
    });
  }

  private colours(): Colours {
    const style = getComputedStyle(this.element);
    const value = (name: string): string => style.getPropertyValue(name).trim();
    return { text: value("--text"), faint: value("--text-faint"), line: value("--line"), span: value("--span"), event: value("--event"), accent: value("--accent") };
  }

  private draw(): void {
    const { canvas, element } = this;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [element.clientWidth, element.clientHeight];
    if (!w || !h) return;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, w, h);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const colours = this.colours();
    this.drawRows(context, colours, h);
    this.drawAxis(context, colours, h);
    this.drawEvents(context, colours);
    this.placeCursor();
  }

  private drawAxis(context: CanvasRenderingContext2D, colours: Colours, h: number): void {
    const list = ticks(this.from, this.to, this.width / 80);
    const step = list.length > 1 ? list[1] - list[0] : 1;
    context.textAlign = "center";
    for (const t of list) {
      const x = Math.round(this.x(t)) + 0.5;
      context.fillStyle = colours.line;
      context.fillRect(x, 16, 1, h - 16);
      context.fillStyle = colours.faint;
      context.fillText(formatTick(t, step), Math.min(x, this.gutter + this.width), 8);
    }
    context.textAlign = "left";
    context.fillStyle = colours.faint;
    const word = this.events.length ? `${this.events.length.toLocaleString("en")} event${this.events.length > 1 ? "s" : ""}` : "time [s]";
    context.fillText(word, 12, this.events.length ? 25 : 9);
  }

  private drawEvents(context: CanvasRenderingContext2D, colours: Colours): void {
    const columns = Math.floor(this.width);
    const counts = countInColumns(this.times, this.from, this.to, columns);
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    context.fillStyle = colours.event;
    for (let x = 0; x < columns; x++) {
      if (!counts[x]) continue;
      const share = most > 1 ? Math.log1p(counts[x]) / Math.log1p(most) : 1;
      const height = 6 + 8 * share;
      context.globalAlpha = 0.45 + 0.55 * share;
      context.fillRect(this.gutter + x, 32 - height, 1.5, height);
    }
    context.globalAlpha = 1;
  }

  private drawRows(context: CanvasRenderingContext2D, colours: Colours, h: number): void {
    context.save();
    context.beginPath();
    context.rect(0, HEAD, this.gutter + this.width + RIGHT, h - HEAD);
    context.clip();
    const first = Math.max(0, Math.floor(this.scroll / ROW));
    const last = Math.min(this.rows.length, Math.ceil((this.scroll + h - HEAD) / ROW));
    for (let i = first; i < last; i++) {
      const row = this.rows[i];
      const y = HEAD + i * ROW - this.scroll;
      context.fillStyle = colours.line;
      context.fillRect(this.gutter, y + ROW / 2 - 0.5, this.width, 1);
      context.fillStyle = colours.faint;
      context.globalAlpha = 0.3;
      for (const [a, b] of spansInPixels(row.gaps ?? [], this.from, this.to, this.width)) {
        for (let x = a; x < b; x += 8) context.fillRect(this.gutter + x, y + 6, Math.min(4, b - x), ROW - 12);
      }
      context.globalAlpha = 1;
      context.fillStyle = colours.span;
      for (const [a, b] of spansInPixels(row.spans, this.from, this.to, this.width)) context.fillRect(this.gutter + a, y + 3, Math.max(1.2, b - a), ROW - 6);
      context.fillStyle = colours.text;
      context.textAlign = "left";
      context.fillText(shorten(context, row.name, this.gutter - 24), 12, y + ROW / 2);
    }
    if (!this.fits) {
      const shown = h - HEAD;
      const share = shown / (this.rows.length * ROW);
      context.fillStyle = colours.faint;
      context.globalAlpha = 0.5;
      context.fillRect(this.gutter + this.width + RIGHT - 6, HEAD + this.scroll * share, 3, Math.max(8, shown * share));
      context.globalAlpha = 1;
    }
    context.restore();
  }

  private placeCursor(): void {
    const x = this.x(this.clock.time);
    this.cursor.style.display = x < this.gutter - 0.5 || x > this.gutter + this.width + 0.5 ? "none" : "block";
    this.cursor.style.transform = `translateX(${x}px)`;
  }
}

/** A text that fits into a width, with its end kept: the last part of a dotted name says most. */
function shorten(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (context.measureText(`…${letters.slice(middle).join("")}`).width <= width) high = middle;
    else low = middle + 1;
  }
  return `…${letters.slice(low).join("")}`;
}
