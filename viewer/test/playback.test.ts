import assert from "node:assert/strict";
import { test } from "node:test";
import { frameAt, Playback, slerp } from "../src/playback.ts";
import { packF32, packF64 } from "./pack.ts";

test("the frame of a time is the last one at or before it", () => {
  const times = [0, 0.5, 0.5, 2, 3];
  for (const hint of [0, 1, 3]) {
    assert.deepEqual([-1, 0, 0.49, 0.5, 1.9, 2, 99].map((t) => frameAt(times, t, hint)), [0, 0, 0, 2, 2, 3, 4]);
  }
  assert.equal(frameAt([], 1), 0);
});

test("turning halfway is half the angle, on the shortest way", () => {
  const out = new Float64Array(4);
  const half = (angle: number): number[] => [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)];
  for (const sign of [1, -1]) {
    slerp(half(0.2), 0, half(1.4).map((c) => sign * c), 0, 0.5, out, 0);
    half(0.8).forEach((c, i) => assert.ok(Math.abs(out[i] - c) < 1e-12));
  }
});

function runOf(p: number[], q: number[], chunked: boolean): Playback {
  const poses = (from: number, to: number) => ({ p: packF32(p.slice(3 * from, 3 * to), [to - from, 1, 3]), q: packF32(q.slice(4 * from, 4 * to), [to - from, 1, 4]) });
  const chunks = [
    { first: 0, frames: 2, poses: poses(0, 2) },
    { first: 2, frames: 1, poses: poses(2, 3) },
  ];
  return new Playback({ name: "run", times: packF64([0, 1, 2]), ...(chunked ? { chunks } : { poses: poses(0, 3) }) }, 1);
}

const P = [0, 0, 0, 1, 2, 3, 5, 5, 5];
const Q = [1, 0, 0, 0, Math.SQRT1_2, Math.SQRT1_2, 0, 0, 0, 1, 0, 0];

test("a run gives its frames exactly and lines between them, in one part or in several", async () => {
  for (const chunked of [false, true]) {
    const run = runOf(P, Q, chunked);
    await run.open();
    const arrival = new Promise<void>((resolve) => (run.onArrival = resolve));
    assert.ok(run.sample(0.25));
    assert.deepEqual([...run.now.slice(0, 3)], [0.25, 0.5, 0.75]);
    assert.ok(Math.abs(run.now[4] - Math.sin(Math.PI / 16)) < 1e-7);
    if (chunked && !run.sample(2)) await arrival;
    assert.ok(run.sample(1));
    assert.deepEqual([...run.now.slice(0, 3)], [1, 2, 3]);
    assert.ok(run.sample(1.5));
    assert.deepEqual([...run.now.slice(0, 3)], [3, 3.5, 4]);
    assert.ok(run.sample(7));
    assert.deepEqual([...run.now.slice(0, 3)], [5, 5, 5]);
  }
});

test("a pose that is not a number stays one and spoils no neighbour", async () => {
  const p = [...P];
  p[6] = NaN;
  const run = runOf(p, [...Q.slice(0, 8), NaN, NaN, NaN, NaN], false);
  await run.open();
  run.sample(1.5);
  assert.deepEqual([...run.now.slice(0, 3)], [1, 3.5, 4]);
  assert.ok(Math.abs(run.now[3] - Math.SQRT1_2) < 1e-7);
  run.sample(2);
  assert.ok(Number.isNaN(run.now[0]) && Number.isNaN(run.now[3]));
});
