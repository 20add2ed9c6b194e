// Curves of bodies: where their centres of mass are, from the poses; their velocities, where the run has them.

import { decode } from "./decode.ts";
import type { Playback } from "./playback.ts";
import type { Signal } from "./signals.ts";
import type { BodyData, NumberArray } from "./types.ts";

const AXES = ["x", "y", "z"];

interface Kind {
  group: string;
  unit: string;
  name: (axis: string, body: string) => string;
  label: (axis: string, body: string) => string;
}

const KINDS: Kind[] = [
  { group: "position", unit: "m", name: (axis, body) => `position ${axis} of ${body}`, label: (axis, body) => `${body} ${axis}` },
  { group: "velocity", unit: "m/s", name: (axis, body) => `velocity ${axis} of ${body}`, label: (axis, body) => `${body} v${axis}` },
  { group: "angular velocity", unit: "rad/s", name: (axis, body) => `angular velocity ${axis} of ${body}`, label: (axis, body) => `${body} ω${axis}` },
];

interface Column {
  signal: Signal;
  kind: number;
  body: number;
  axis: number;
}

/** The signals of all bodies of one run. */
export class BodySignals {
  readonly signals: Signal[] = [];
  private readonly columns = new Map<string, Column>();
  private arrays = new Map<string, Promise<NumberArray>>();

  constructor(
    private readonly run: Playback,
    private readonly bodies: BodyData[],
  ) {
    const kinds = run.data.motion ? KINDS : KINDS.slice(0, 1);
    kinds.forEach(({ group, unit, name, label }, kind) =>
      bodies.forEach((body, index) =>
        AXES.forEach((letter, axis) => {
          const signal = { name: name(letter, body.name), group, unit, label: label(letter, body.name) };
          if (this.columns.has(signal.name)) return;
          this.columns.set(signal.name, { signal, kind, body: index, axis });
          this.signals.push(signal);
        }),
      ),
    );
  }

  /** Values of a signal at all frames; null where there is no such signal. */
  load(name: string): Promise<NumberArray> | null {
    const column = this.columns.get(name);
    if (!column) return null;
    const { kind, body, axis } = column;
    if (kind === 0) return this.run.positions(body, axis);
    return this.array(kind === 1 ? "velocity" : "angular_velocity").then((all) => {
      const stride = 3 * this.bodies.length;
      return Float64Array.from({ length: Math.floor(all.length / stride) }, (_, frame) => all[frame * stride + 3 * body + axis]);
    });
  }

  private array(what: "velocity" | "angular_velocity"): Promise<NumberArray> {
    let found = this.arrays.get(what);
    if (!found) {
      const packed = this.run.data.motion?.[what];
      found = packed ? decode(packed) : Promise.resolve(new Float64Array());
      this.arrays.set(what, found);
    }
    return found;
  }
}
