// Packs arrays the way the package does.

import { deflateSync } from "node:zlib";
import type { Packed } from "../src/types.ts";

function packed(type: Packed["type"], shape: number[], array: ArrayBufferView): Packed {
  return { type, shape, data: deflateSync(Buffer.from(array.buffer, array.byteOffset, array.byteLength)).toString("base64") };
}

export function packF64(values: ArrayLike<number>, shape = [values.length]): Packed {
  return packed("f64", shape, Float64Array.from(values));
}

export function packF32(values: ArrayLike<number>, shape = [values.length]): Packed {
  return packed("f32", shape, Float32Array.from(values));
}

export function packU32(values: ArrayLike<number>, shape = [values.length]): Packed {
  return packed("u32", shape, Uint32Array.from(values));
}

export function packF16(bits: ArrayLike<number>, shape = [bits.length]): Packed {
  return packed("f16", shape, Uint16Array.from(bits));
}

/** Differences of 16 bits along the first axis, one scale for each element of the last axis. */
export function packD16(values: ArrayLike<number>, shape: number[]): Packed {
  const last = shape.length > 1 ? shape[shape.length - 1] : 1;
  const columns = values.length / shape[0];
  const low = new Array(last).fill(Infinity);
  const high = new Array(last).fill(-Infinity);
  for (let i = 0; i < values.length; i++) {
    low[i % last] = Math.min(low[i % last], values[i]);
    high[i % last] = Math.max(high[i % last], values[i]);
  }
  const scale = low.map((a, k) => (high[k] - a) / 65535 || 1);
  const levels = Uint16Array.from({ length: values.length }, (_, i) => Math.round((values[i] - low[i % last]) / scale[i % last]));
  const differences = levels.map((level, i) => (i < columns ? level : level - levels[i - columns]));
  return { ...packed("d16", shape, differences), scale, offset: low };
}
