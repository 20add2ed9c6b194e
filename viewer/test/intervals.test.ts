import assert from "node:assert/strict";
import { test } from "node:test";
import { countInColumns, engagedAt, formatTick, isInside, spansInPixels, ticks } from "../src/intervals.ts";

test("no event is lost between columns", () => {
  const times = Float64Array.from({ length: 100_000 }, (_, i) => 10 * Math.sin((Math.PI / 2) * (i / 99_999)));
  const counts = countInColumns(times, 0, 10, 700);
  assert.equal(counts.reduce((a, b) => a + b), 100_000);
  assert.equal(countInColumns(times, 2, 3, 10).reduce((a, b) => a + b), times.filter((t) => t >= 2 && t <= 3).length);
  assert.equal(countInColumns([], 0, 1, 5).length, 5);
  assert.deepEqual([...countInColumns([1], 0, 1, 2)], [0, 1]);
});

test("spans become pixels, and narrow gaps vanish", () => {
  assert.deepEqual(spansInPixels([[0, 2], [4, 10]], 0, 10, 100), [[0, 20], [40, 100]]);
  assert.deepEqual(spansInPixels([[0, 2], [4, 10]], 5, 6, 100), [[0, 100]]);
  const dense: [number, number][] = Array.from({ length: 50_000 }, (_, i) => [i, i + 0.5]);
  assert.ok(spansInPixels(dense, 0, 50_000, 800).length <= 800);
});

test("a row says what holds at a time", () => {
  const spans: [number, number][] = [[1, 2], [3, 4]];
  assert.deepEqual([0.9, 1, 1.5, 2, 2.5, 3.5, 5].map((t) => isInside(spans, t)), [false, true, true, true, false, true, false]);
  const row = { name: "a", spans, gaps: [[2, 2.5]] as [number, number][] };
  assert.deepEqual([0, 1.5, 2, 2.2, 2.6, 3.5].map((t) => engagedAt(row, t)), [false, true, true, null, false, true]);
  assert.equal(engagedAt({ name: "a", spans: [] }, 0), false);
});

test("ticks are round numbers inside the range", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0.13, 0.171, 4).map((t) => formatTick(t, 0.02)), ["0.14", "0.16"]);
  assert.deepEqual(ticks(1, 1, 5), [1]);
});
