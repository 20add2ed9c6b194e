// Packed arrays of numbers, as the package writes them.

import type { NumberArray, Packed } from "./types.ts";

const BYTES = { f64: 8, f32: 4, f16: 2, u32: 4, u16: 2, d16: 2 };

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

let halves: Float32Array | null = null;

/** All 65,536 numbers of 16 bits after IEEE 754. */
function tableOfHalves(): Float32Array {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) halves[bits] = sign * 2 ** -24 * fraction;
    else if (exponent === 31) halves[bits] = fraction ? NaN : sign * Infinity;
    else halves[bits] = sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
  }
  return halves;
}

function fromHalves(source: Uint16Array): Float32Array {
  const table = tableOfHalves();
  const values = new Float32Array(source.length);
  for (let i = 0; i < source.length; i++) values[i] = table[source[i]];
  return values;
}

/** Sums differences of 16 bits along the first axis and returns offset + scale × sum, one scale for each element of the last axis. */
export function sumDifferences(differences: Uint16Array, shape: number[], scale: number[], offset: number[]): Float32Array | Float64Array {
  const rows = shape[0] ?? 1;
  const columns = rows ? differences.length / rows : 0;
  const last = shape.length > 1 ? shape[shape.length - 1] : 1;
  const sums = new Uint16Array(columns);
  const factors = Float64Array.from({ length: columns }, (_, k) => scale[scale.length > 1 ? k % last : 0]);
  const starts = Float64Array.from({ length: columns }, (_, k) => offset[offset.length > 1 ? k % last : 0]);
  const values = shape.length > 1 ? new Float32Array(differences.length) : new Float64Array(differences.length);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let k = 0; k < columns; k++, i++) {
      sums[k] += differences[i];
      values[i] = starts[k] + factors[k] * sums[k];
    }
  }
  return values;
}

function applyScale(source: NumberArray, packed: Packed): NumberArray {
  const scale = packed.scale ?? [1];
  const offset = packed.offset ?? [0];
  const last = packed.shape[packed.shape.length - 1] ?? 1;
  const values = source instanceof Float64Array ? source : new Float32Array(source.length);
  for (let i = 0; i < source.length; i++) {
    const k = i % last;
    values[i] = offset[offset.length > 1 ? k : 0] + scale[scale.length > 1 ? k : 0] * source[i];
  }
  return values;
}

/** The numbers of a buffer of inflated bytes. */
export function interpret(buffer: ArrayBuffer, packed: Packed): NumberArray {
  const count = packed.shape.reduce((product, n) => product * n, 1);
  const bytes = BYTES[packed.type];
  if (bytes === undefined) throw new Error(`arrays of type "${packed.type}" are unknown to this page`);
  if (buffer.byteLength !== count * bytes) throw new Error(`an array of shape ${packed.shape.join(" × ")} has ${buffer.byteLength} bytes instead of ${count * bytes}`);
  if (packed.type === "d16") return sumDifferences(new Uint16Array(buffer), packed.shape, packed.scale ?? [1], packed.offset ?? [0]);
  let values: NumberArray;
  if (packed.type === "f64") values = new Float64Array(buffer);
  else if (packed.type === "f32") values = new Float32Array(buffer);
  else if (packed.type === "u32") values = new Uint32Array(buffer);
  else if (packed.type === "u16") values = new Uint16Array(buffer);
  else values = fromHalves(new Uint16Array(buffer));
  return packed.scale || packed.offset ? applyScale(values, packed) : values;
}

/** Inflates and decodes an array. */
export async function decode(packed: Packed): Promise<NumberArray> {
  if (packed.url !== undefined) {
    const answer = await fetch(packed.url);
    if (!answer.ok) throw new Error(`the server has no data at ${packed.url}`);
    return interpret(await inflate(new Uint8Array(await answer.arrayBuffer())), packed);
  }
  return interpret(await inflate(bytesOfBase64(packed.data ?? "")), packed);
}
