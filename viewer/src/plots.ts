// Plots beside the scene: any signals, a cursor that follows the time, a click that goes to a time.

import uPlot from "uplot";
import type { Clock } from "./clock.ts";
import type { Column } from "./csv.ts";
import { button, make } from "./dom.ts";
import { frameAt } from "./playback.ts";
import type { Signal, Signals } from "./signals.ts";

const COLOURS = ["#2f6fd0", "#e07b28", "#2f9e64", "#c6408c", "#7a5cc7", "#b8901c", "#1b98a6", "#c94a42"];
const DASHES = [[5, 4], [2, 3], [9, 3, 2, 3]];
const HEIGHTS = [120, 200]; // pixels: of a chart, lowest and highest

interface Curve {
  signal: Signal;
  colour: string;
  value: HTMLElement;
  times: ArrayLike<number>;
  values: ArrayLike<number>;
  /** The same signal in the runs that are compared. */
  others: { times: ArrayLike<number>; values: ArrayLike<number> }[];
}

/** Numbers that are not finite become gaps. */
export function withGaps(values: ArrayLike<number>, length: number): (number | null)[] {
  return Array.from({ length }, (_, i) => (Number.isFinite(values[i]) ? values[i] : null));
}

export function formatValue(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(3);
  return value.toPrecision(5).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** The range of an axis of values: some room above and below; constant values in the middle. */
export function rangeOf(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const span = high - low;
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (span > 1e-9 * size) return [low - 0.06 * span, high + 0.06 * span];
  return size > 0 ? [low - 0.1 * size, high + 0.1 * size] : [-1, 1];
}

class Chart {
  readonly element: HTMLElement;
  curves: Curve[] = [];
  plot: uPlot | null = null;
  private written = 0;
  private readonly legend = make("div", { class: "legend" });
  private readonly host = make("div", { class: "chart-host" });
  private readonly line = make("div", { class: "chart-cursor" });

  constructor(private readonly plots: Plots) {
    this.element = make("section", { class: "chart" }, this.legend, this.host);
  }

  get unit(): string {
    return this.curves[0]?.signal.unit ?? "";
  }

  async add(signal: Signal): Promise<void> {
    if (this.curves.some((curve) => curve.signal.name === signal.name)) return;
    const used = new Set(this.curves.map((curve) => curve.colour));
    const colour = COLOURS.find((one) => !used.has(one)) ?? COLOURS[this.curves.length % COLOURS.length];
    const curve: Curve = { signal, colour, value: make("b"), times: [], values: [], others: [] };
    this.curves.push(curve);
    await this.plots.fill(curve);
    this.build();
  }

  remove(name: string): void {
    this.curves = this.curves.filter((curve) => curve.signal.name !== name);
    if (this.curves.length) this.build();
  }

  private showLegend(): void {
    this.legend.replaceChildren(
      ...this.curves.map((curve) =>
        make(
          "span",
          { class: "chip", title: curve.signal.name },
          make("i", { style: `background:${curve.colour}` }),
          make("span", { class: "chip-name" }, curve.signal.label),
          curve.value,
          button("Remove", "×", () => this.plots.remove(curve.signal.name)),
        ),
      ),
      make("span", { class: "unit" }, this.unit ? `[${this.unit}]` : ""),
    );
  }

  /** All curves over common times: first those of the run, then those of the runs that are compared. */
  private data(): uPlot.AlignedData {
    const all = [...this.curves, ...this.curves.flatMap((curve) => curve.others)];
    const first = this.curves[0].times;
    const values = (one: { times: ArrayLike<number>; values: ArrayLike<number> }): (number | null)[] => withGaps(one.values, one.times.length);
    if (all.every((one) => one.times === first)) return [Array.from(first), ...all.map(values)] as uPlot.AlignedData;
    return uPlot.join(all.map((one) => [Array.from(one.times), values(one)] as uPlot.AlignedData));
  }

  build(): void {
    this.plot?.destroy();
    this.showLegend();
    const style = getComputedStyle(this.element);
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const axis = { stroke: style.getPropertyValue("--text-faint"), grid, ticks: { ...grid, size: 4 }, font: "11px system-ui, sans-serif" };
    const options: uPlot.Options = {
      width: Math.max(80, this.host.clientWidth),
      height: this.plots.height,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      pxAlign: 0,
      cursor: { drag: { x: true, y: false, setScale: true, dist: 5 }, points: { size: 6 }, y: false },
      scales: { y: { range: (_, low, high) => rangeOf(low, high) }, x: { time: false, range: (_, low, high) => (high > low ? [low, high] : [low - 0.5, low + 0.5]) } },
      axes: [
        { ...axis, size: 26, gap: 2 },
        { ...axis, size: 54, gap: 3, values: (_, list) => list.map((value) => (value === null ? "" : Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(0) : String(Number(value.toPrecision(6))))) },
      ],
      series: [
        {},
        ...this.curves.map((curve) => ({ label: curve.signal.label, stroke: curve.colour, width: 1.6, points: { show: curve.times.length < 2 } })),
        ...this.curves.flatMap((curve) => curve.others.map((_, i) => ({ label: `${curve.signal.label} (compared)`, stroke: curve.colour, width: 1.2, dash: DASHES[i % DASHES.length], points: { show: false } }))),
      ],
      hooks: {
        setScale: [(plot, key) => key === "x" && this.plots.zoomed(plot)],
        setCursor: [(plot) => this.showAt(plot)],
        draw: [() => this.follow(this.plots.clock.time)],
      },
    };
    this.plot = new uPlot(options, this.data(), this.host);
    const [t] = this.curves[0].times.length === 1 ? [this.curves[0].times[0]] : [];
    if (t !== undefined) this.plot.setScale("x", { min: t - 0.5, max: t + 0.5 });
    this.plot.over.append(this.line);
    this.listen(this.plot);
    this.follow(this.plots.clock.time);
  }

  private listen(plot: uPlot): void {
    let x = 0;
    plot.over.addEventListener("pointerdown", (event) => (x = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - x) > 4) return;
      this.plots.clock.seek(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
    });
  }

  /** The time at which the cursor of this chart stands. */
  get cursorTime(): number | null {
    if (!this.plot) return null;
    const x = Number(/translateX\((-?[\d.e+-]+)px\)/.exec(this.line.style.transform)?.[1] ?? NaN);
    return Number.isFinite(x) ? this.plot.posToVal(x, "x") : null;
  }

  /** Shows the values where the pointer is, or those of the present time. */
  private showAt(plot: uPlot): void {
    const { left = -1 } = plot.cursor;
    const inside = left >= 0;
    this.legend.classList.toggle("pointed", inside);
    if (inside) this.write(plot.posToVal(left, "x"));
    else this.write(this.plots.clock.time);
  }

  private write(t: number): void {
    for (const curve of this.curves) curve.value.textContent = formatValue(valueAt(curve.times, curve.values, t));
  }

  /** Moves the cursor to a time and shows the values there. */
  follow(t: number): void {
    if (!this.plot) return;
    const x = this.plot.valToPos(t, "x");
    const width = this.plot.over.clientWidth;
    this.line.style.display = x >= -1 && x <= width + 1 ? "block" : "none";
    this.line.style.transform = `translateX(${x}px)`;
    // Text is costly to lay out: while a run plays, ten times a second is enough.
    const now = performance.now();
    if (this.plots.clock.playing && now - this.written < 100) return;
    this.written = now;
    if (!this.legend.classList.contains("pointed")) this.write(t);
  }

  resize(): void {
    const width = this.host.clientWidth;
    if (this.plot && width > 60 && (Math.abs(width - this.plot.width) > 1 || this.plot.height !== this.plots.height)) this.plot.setSize({ width, height: this.plots.height });
  }

  /** Takes new values of growing signals. */
  async refresh(): Promise<void> {
    await Promise.all(this.curves.map((curve) => this.plots.fill(curve)));
    this.plot?.setData(this.data());
  }

  destroy(): void {
    this.plot?.destroy();
    this.element.remove();
  }
}

/** The value of a curve at a time, on the line between two frames. */
export function valueAt(times: ArrayLike<number>, values: ArrayLike<number>, t: number): number {
  if (!times.length) return NaN;
  const i = frameAt(times, t);
  if (i + 1 >= times.length || !(t > times[i])) return values[i];
  const s = (t - times[i]) / (times[i + 1] - times[i]);
  return s >= 1 ? values[i + 1] : values[i] + s * (values[i + 1] - values[i]);
}

export class Plots {
  readonly element: HTMLElement;
  private charts: Chart[] = [];
  private readonly list = make("div", { class: "charts" });
  private readonly hint = make("p", { class: "hint" }, "Click a signal on the left, or drag it or a component here.");
  private zooming = false;
  signals: Signals | null = null;
  run = 0;
  others: number[] = [];
  onChange: () => void = () => undefined;
  onDrop: (name: string, chart: number | null) => void = () => undefined;

  constructor(readonly clock: Clock) {
    this.element = make("div", { class: "plots" }, this.list, this.hint);
    this.element.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.element.classList.add("drop");
    });
    this.element.addEventListener("dragleave", () => this.element.classList.remove("drop"));
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.element.classList.remove("drop");
      const chart = this.charts.findIndex((one) => one.element.contains(event.target as Node));
      const name = event.dataTransfer?.getData("text/plain");
      if (name) this.onDrop(name, chart < 0 ? null : chart);
    });
    const observer = new ResizeObserver(() => requestAnimationFrame(() => this.resize()));
    observer.observe(this.list);
    observer.observe(this.element);
    const follow = (): void => {
      if (!this.element.hidden) for (const chart of this.charts) chart.follow(clock.time);
    };
    clock.onTimeSeldom(follow);
    clock.onState(follow);
  }

  /** The height of a chart with which the first ones fit into the panel. */
  get height(): number {
    const room = this.element.clientHeight / Math.min(3, Math.max(2, this.charts.length)) - 60;
    return Math.round(Math.min(HEIGHTS[1], Math.max(HEIGHTS[0], room)));
  }

  get names(): Set<string> {
    return new Set(this.charts.flatMap((chart) => chart.curves.map((curve) => curve.signal.name)));
  }

  async fill(curve: Curve): Promise<void> {
    const found = await this.signals?.curve(this.run, curve.signal.name);
    curve.times = found?.times ?? [];
    curve.values = found?.values ?? [];
    const others = await Promise.all(this.others.map((run) => this.signals?.curve(run, curve.signal.name)));
    curve.others = others.filter((one) => one !== null && one !== undefined);
  }

  /** Adds curves to the chart of that number, or to one with the same unit, or to a new one. */
  async add(signals: Signal[], number: number | null = null): Promise<void> {
    for (const signal of signals) {
      if (this.names.has(signal.name)) continue;
      let chart = number === null ? this.charts.find((one) => one.unit === signal.unit && one.curves[0]?.signal.group === signal.group && one.curves.length < 6) : this.charts[number];
      if (!chart) {
        chart = new Chart(this);
        this.charts.push(chart);
        this.list.append(chart.element);
      }
      await chart.add(signal);
    }
    this.changed();
  }

  remove(name: string): void {
    for (const chart of this.charts) chart.remove(name);
    for (const chart of this.charts.filter((one) => !one.curves.length)) chart.destroy();
    this.charts = this.charts.filter((one) => one.curves.length);
    this.changed();
  }

  clear(): void {
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    this.changed();
  }

  private changed(): void {
    this.hint.classList.toggle("small", this.charts.length > 0);
    this.onChange();
  }

  /** Gives all charts the same range of time. */
  zoomed(source: uPlot): void {
    const { min, max } = source.scales.x;
    if (this.zooming || min === undefined || max === undefined || min === null || max === null) return;
    this.zooming = true;
    for (const chart of this.charts) {
      const scale = chart.plot?.scales.x;
      if (chart.plot && chart.plot !== source && (scale?.min !== min || scale?.max !== max)) chart.plot.setScale("x", { min, max });
    }
    this.zooming = false;
  }

  resize(): void {
    for (const chart of this.charts) chart.resize();
  }

  /** Draws all charts anew: other colours, another run. */
  async rebuild(): Promise<void> {
    for (const chart of this.charts) {
      await Promise.all(chart.curves.map((curve) => this.fill(curve)));
      chart.build();
    }
  }

  async refresh(): Promise<void> {
    for (const chart of this.charts) await chart.refresh();
  }

  /** The time at which the cursors of plots stand, as read from the page; the clock's where there is no plot. */
  cursorTime(): number {
    return this.charts[0]?.cursorTime ?? this.clock.time;
  }

  columns(): Column[] {
    return this.charts.flatMap((chart) => chart.curves.map((curve) => ({ name: curve.signal.unit ? `${curve.signal.name} [${curve.signal.unit}]` : curve.signal.name, times: curve.times, values: curve.values })));
  }

  /** All charts in one picture. */
  picture(): Promise<Blob> {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(1, ...this.charts.map((chart) => chart.plot?.width ?? 0)) * ratio;
    const canvas = make("canvas", { width, height: Math.max(1, this.charts.length * (this.height + 26) * ratio) });
    const context = canvas.getContext("2d");
    if (!context) return Promise.reject(new Error("no picture"));
    const style = getComputedStyle(this.element);
    context.fillStyle = style.getPropertyValue("--panel");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    this.charts.forEach((chart, i) => {
      const top = i * (this.height + 26) * ratio;
      let x = 12 * ratio;
      for (const curve of chart.curves) {
        context.fillStyle = curve.colour;
        context.fillText(curve.signal.label, x, top + 17 * ratio);
        x += context.measureText(curve.signal.label).width + 14 * ratio;
      }
      context.fillStyle = style.getPropertyValue("--text-faint");
      context.fillText(chart.unit ? `[${chart.unit}]` : "", x, top + 17 * ratio);
      if (chart.plot) context.drawImage(chart.plot.ctx.canvas, 0, top + 26 * ratio);
    });
    return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture")))));
  }
}
