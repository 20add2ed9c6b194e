import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../src/decode.ts";
import { packD16, packF16, packF32, packF64, packU32 } from "./pack.ts";

test("numbers of 64 bits come back exactly, NaN and infinity too", async () => {
  const values = [1, -Math.PI, 1e-300, NaN, Infinity, 0];
  assert.deepEqual([...(await decode(packF64(values)))], values);
});

test("numbers of 32 bits and indices come back as they were", async () => {
  assert.deepEqual([...(await decode(packF32([0.5, -3, 1e10])))], [0.5, -3, 1e10]);
  assert.deepEqual([...(await decode(packU32([0, 7, 4294967295])))], [0, 7, 4294967295]);
});

test("numbers of 16 bits follow IEEE 754", async () => {
  // 1, -2, 65504, smallest subnormal, infinity, 1/3 as rounded by NumPy
  const values = await decode(packF16([0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x3555]));
  assert.deepEqual([...values], [1, -2, 65504, 2 ** -24, Infinity, 0.333251953125]);
  assert.ok(Number.isNaN((await decode(packF16([0x7e00])))[0]));
});

test("differences of 16 bits give values within half a level", async () => {
  const [frames, bodies] = [50, 3];
  const values = Array.from({ length: frames * bodies * 3 }, (_, i) => Math.sin(0.37 * i) * 10 ** (i % 3));
  const packed = packD16(values, [frames, bodies, 3]);
  const back = await decode(packed);
  values.forEach((value, i) => assert.ok(Math.abs(value - back[i]) <= 0.51 * packed.scale![i % 3] + 1e-6 * Math.abs(value), `value ${i}`));
});

test("differences may pass the end of 16 bits", async () => {
  const back = await decode(packD16([0, 1, 0, 1], [4]));
  [0, 1, 0, 1].forEach((value, i) => assert.ok(Math.abs(back[i] - value) < 1e-4));
});

test("a length that does not fit the shape is refused", async () => {
  await assert.rejects(decode({ ...packF32([1, 2, 3]), shape: [4] }), /12 bytes instead of 16/);
  await assert.rejects(decode({ ...packF32([1]), type: "f8" as "f32" }), /unknown/);
});
