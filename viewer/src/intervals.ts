// Events and spans of time, thinned to what a picture of a given width can show.

import { frameAt } from "./playback.ts";
import type { RowData } from "./types.ts";

/** Number of events in each column of pixels between two times. `times` ascend. */
export function countInColumns(times: ArrayLike<number>, from: number, to: number, columns: number): Uint32Array {
  const counts = new Uint32Array(Math.max(0, columns));
  if (!(to > from) || !columns || !times.length) return counts;
  let i = times[0] >= from ? 0 : frameAt(times, from);
  while (i < times.length && times[i] < from) i++;
  for (; i < times.length && times[i] <= to; i++) counts[Math.min(columns - 1, Math.floor(((times[i] - from) / (to - from)) * columns))]++;
  return counts;
}

/** Spans as pairs of pixels; spans that meet within one pixel become one. */
export function spansInPixels(spans: [number, number][], from: number, to: number, width: number): [number, number][] {
  const result: [number, number][] = [];
  if (!(to > from)) return result;
  const scale = width / (to - from);
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][1] < from) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < spans.length && spans[i][0] <= to; i++) {
    const a = Math.max(0, (spans[i][0] - from) * scale);
    const b = Math.min(width, Math.max(a + 1, (spans[i][1] - from) * scale));
    const last = result[result.length - 1];
    if (last && a - last[1] < 0.5) last[1] = Math.max(last[1], b);
    else result.push([a, b]);
  }
  return result;
}

/** Whether a time is inside one of the spans, which ascend. */
export function isInside(spans: [number, number][], t: number): boolean {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][0] <= t) low = middle + 1;
    else high = middle;
  }
  return low > 0 && t <= spans[low - 1][1];
}

/** What a switchable constraint does at a time: null where it is unknown. */
export function engagedAt(row: RowData, t: number): boolean | null {
  if (isInside(row.spans, t)) return true;
  return row.gaps && isInside(row.gaps, t) ? null : false;
}

/** What all constraints do at a time: as their rows say; a contact also counts as engaged for a moment after one of its events. */
export class Engagement {
  private rows = new Map<string, RowData>();
  private impacts = new Map<string, number[]>();

  constructor(
    rows: RowData[] = [],
    events: { time: number; name: string }[] = [],
    contacts: string[] = [],
  ) {
    for (const row of rows) this.rows.set(row.name, row);
    const known = new Set(contacts);
    for (const event of events) {
      const name = event.name.slice(0, Math.max(0, event.name.lastIndexOf(".")));
      if (!known.has(name)) continue;
      const times = this.impacts.get(name);
      if (times) times.push(event.time);
      else this.impacts.set(name, [event.time]);
    }
    for (const times of this.impacts.values()) times.sort((a, b) => a - b);
  }

  /** null where it is unknown. */
  at(name: string, t: number, moment = 0): boolean | null {
    const row = this.rows.get(name);
    const state = row ? engagedAt(row, t) : null;
    const times = this.impacts.get(name);
    if (state || !times || !(moment > 0)) return state;
    const last = times[frameAt(times, t)];
    return last <= t && t - last < moment ? true : (state ?? false);
  }
}

/** Values at which an axis has labels. */
export function ticks(from: number, to: number, most: number): number[] {
  const span = to - from;
  if (!(span > 0) || !Number.isFinite(span)) return [from];
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw) ?? 10 * power;
  const list: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * span; k++) list.push(k * step + 0);
  return list;
}

/** A number as short as its neighbours on an axis allow. */
export function formatTick(value: number, step: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e5 || step < 1e-4) return value.toExponential(Math.max(0, Math.min(8, Math.round(Math.log10(Math.abs(value) / step)))));
  return value.toFixed(Math.max(0, Math.min(8, Math.ceil(-Math.log10(step) - 1e-9))));
}

/** A time for people: as many digits as the length of the run asks for. */
export function formatTime(t: number, length: number): string {
  const digits = length > 0 ? Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(length)))) : 3;
  return t.toFixed(digits);
}
