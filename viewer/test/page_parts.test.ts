import assert from "node:assert/strict";
import { test } from "node:test";
import { tableOf } from "../src/csv.ts";
import { graphOf, placeNodes } from "../src/graph.ts";
import { History } from "../src/history.ts";
import { Mode } from "../src/modes.ts";
import { Playback } from "../src/playback.ts";
import { Signals, signalsOf } from "../src/signals.ts";
import { branchesOf } from "../src/tree.ts";
import { packF32, packF64 } from "./pack.ts";
import { SAMPLES } from "./samples/index.ts";

test("a table has quotes where names need them, gaps where values are missing, and no formulas", () => {
  const times = [0, 1];
  const text = tableOf([
    { name: 'a "b", c', times, values: [1.5, NaN] },
    { name: "=SUM(A1)", times: [0, 1], values: [2, 3] },
    { name: "other", times: [0, 0.5, 1], values: [7, 8, 9] },
  ]);
  assert.deepEqual(text.split("\r\n"), ['time [s],"a ""b"", c",\'=SUM(A1),time [s],other', "0,1.5,2,0,7", "1,,3,0.5,8", ",,,1,9", ""]);
});

test("signals of a component have its name as a whole", () => {
  const list = ["arm.upper", "arm.upper.x", "speed of arm.upper", "arm.upper2", "left.arm.upper", "farm.upper"].map((name) => ({ name, group: "", unit: "", label: name }));
  assert.deepEqual(signalsOf("arm.upper", list).map((one) => one.name), ["arm.upper", "arm.upper.x", "speed of arm.upper"]);
});

test("reactions are signals where the run has no signals of them", async () => {
  const run = new Playback({ name: "run", times: packF64([0, 1]), reactions: { force: packF32([1, 2, 2, 0, 0, 0, 0, 0, 1, 0, 3, 4], [2, 2, 3]), index: [1, 0] } }, 0);
  const joints = ["a", "b"].map((name) => ({ name, type: "", draw: "", first: -1, second: 0, frames: [] }));
  const signals = new Signals([run], joints, [], () => null);
  assert.deepEqual(signals.list(0).map((one) => one.name), ["reaction force of b", "reaction force of a"]);
  const curve = async (name: string): Promise<number[]> => Array.from((await signals.curve(0, name))!.values);
  assert.deepEqual(await curve("reaction force of b"), [3, 1]);
  assert.deepEqual(await curve("reaction force of a"), [0, 5]);
  assert.equal(await signals.curve(0, "nothing"), null);
});

test("bodies have curves of their poses, and of velocities where the run has them", async () => {
  const poses = { p: packF32([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [2, 2, 3]), q: packF32([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], [2, 2, 4]) };
  const velocity = packF32([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [2, 2, 3]);
  const bodies = ["a", "b"].map((name) => ({ name, p: [0, 0, 0] as [number, number, number], q: [1, 0, 0, 0] as [number, number, number, number], shapes: [] }));
  for (const motion of [undefined, { velocity, angular_velocity: velocity }]) {
    const run = new Playback({ name: "run", times: packF64([0, 1]), poses, motion }, 2);
    await run.open();
    const signals = new Signals([run], [], bodies, () => null);
    assert.equal(signals.list(0).length, motion ? 18 : 6);
    assert.deepEqual(Array.from((await signals.curve(0, "position y of b"))!.values), [5, 11]);
    if (motion) assert.deepEqual(Array.from((await signals.curve(0, "angular velocity z of a"))!.values), [2, 8]);
  }
});

test("dots in names make branches, also for names that are used twice", () => {
  const root = branchesOf([{ name: "a.b" }, { name: "a.c" }, { name: "a" }, { name: "a.b" }]);
  const a = root.children.get("a")!;
  assert.equal(a.component?.name, "a");
  assert.deepEqual([...a.children.values()].map((one) => one.name), ["b", "c"]);
  assert.equal([...a.children.get("b")!.children.values()].length, 1);
});

test("nodes of a graph without places are in layers by their distance from the ground", () => {
  const data = SAMPLES.double_pendulum();
  const graph = graphOf({ ...data, graph: null });
  assert.deepEqual(graph.nodes.map((node) => node.name), ["ground", "arm.upper", "arm.lower"]);
  assert.deepEqual(placeNodes(graph).map((place) => place.y), [0, 1, 1]);
  assert.deepEqual(placeNodes({ nodes: [{ name: "a" }, { name: "b" }], edges: [] }).length, 2);
});

test("poses that arrive live can be played back; a time before them begins anew", () => {
  const history = new History(1);
  history.add(0, [0, 0, 0, 1, 0, 0, 0], { x: 1 });
  history.add(1, [2, 0, 0, 1, 0, 0, 0], { x: 3 });
  history.add(1, [4, 0, 0, 1, 0, 0, 0], { x: 3 });
  history.add(2, [1, 2], {});
  const out = new Float64Array(7);
  assert.ok(history.sample(0.25, out));
  assert.equal(out[0], 1);
  for (let i = 2; i < 30_000; i++) history.add(i, [4 * i, 0, 0, 1, 0, 0, 0], { x: i });
  assert.ok(history.times.length <= 20_000 && history.signals.get("x")!.length === history.times.length);
  history.sample(25_000.5, out);
  assert.equal(out[0], 100_002);
  history.add(0.5, [9, 0, 0, 1, 0, 0, 0], {});
  assert.deepEqual(history.times, [0.5]);
});

test("a mode moves bodies by the real part of its shape, turns in world axes", async () => {
  const body = { name: "b", p: [1, 0, 0] as [number, number, number], q: [Math.SQRT1_2, 0, 0, Math.SQRT1_2] as [number, number, number, number], shapes: [] };
  // Displacement along z in phase, turn about x a quarter of a period later.
  const mode = new Mode({ name: "m", shape: { p: packF64([0, 0, 0, 0, 0.12, 0], [1, 3, 2]), r: packF64([0, -0.2, 0, 0, 0, 0], [1, 3, 2]) } }, [body], 1);
  await mode.open();
  const out = new Float64Array(7);
  mode.sample(0, 1, out);
  [1, 0, 0.12, ...body.q].forEach((value, i) => assert.ok(Math.abs(out[i] - value) < 1e-12));
  mode.sample(Math.PI / 2, 1, out);
  const [c, s] = [Math.cos(0.1) * Math.SQRT1_2, Math.sin(0.1) * Math.SQRT1_2];
  [1, 0, 0, c, s, -s, c].forEach((value, i) => assert.ok(Math.abs(out[i] - value) < 1e-12, `element ${i}: ${out[i]}`));
});
