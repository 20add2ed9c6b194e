// The signals of all runs: what can be plotted, and where their values are.

import { BodySignals } from "./body_signals.ts";
import { decode } from "./decode.ts";
import type { History } from "./history.ts";
import type { Playback } from "./playback.ts";
import type { BodyData, JointData, NumberArray } from "./types.ts";

export interface Signal {
  name: string;
  group: string;
  unit: string;
  label: string;
}

const GROUPS = ["signal", "coordinate", "rate", "energy", "reaction", "position", "velocity", "angular velocity", "drift"];
const FIRST: [group: string, most: number][] = [["signal", 4], ["coordinate", 4], ["energy", 3]];
const INSTEAD: [group: string, most: number][] = [["angular velocity", 3], ["position", 3]]; // where no signal and no coordinate changes

/** The order in which groups are listed. */
export function compareGroups(a: string, b: string): number {
  const rank = (group: string): number => (GROUPS.includes(group) ? GROUPS.indexOf(group) : GROUPS.length);
  return rank(a) - rank(b) || a.localeCompare(b);
}

export class Signals {
  private values = new Map<string, Promise<NumberArray>>();
  private ofBodies: BodySignals[];

  constructor(
    private readonly runs: Playback[],
    private readonly joints: JointData[],
    bodies: BodyData[],
    private readonly live: () => History | null,
  ) {
    this.ofBodies = runs.map((run) => new BodySignals(run, bodies));
  }

  /** Signals of a run, with sizes of reactions where the run has reactions but no signals of them. */
  list(run: number): Signal[] {
    const data = this.runs[run]?.data;
    const signals: Signal[] = (data?.signals ?? []).map((one) => ({ name: one.name, group: one.group || "signal", unit: one.unit ?? "", label: one.label || one.name }));
    if (data?.reactions && !signals.some((one) => one.group === "reaction")) {
      this.reactionJoints(run).forEach((joint) => {
        const name = this.joints[joint]?.name ?? `joint ${joint}`;
        signals.push({ name: `reaction force of ${name}`, group: "reaction", unit: "N", label: `|F| ${name}` });
        if (data.reactions?.torque) signals.push({ name: `reaction torque of ${name}`, group: "reaction", unit: "N m", label: `|M| ${name}` });
      });
    }
    const known = new Set(signals.map((one) => one.name));
    signals.push(...(this.ofBodies[run]?.signals ?? []).filter((one) => !known.has(one.name)));
    for (const name of this.live()?.signals.keys() ?? []) if (!signals.some((one) => one.name === name)) signals.push({ name, group: "signal", unit: "", label: name });
    return signals;
  }

  reactionJoints(run: number): number[] {
    return this.runs[run]?.data.reactions?.index ?? this.joints.map((_, i) => i);
  }

  /** Times and values of a signal in a run; null where the run has no such signal. */
  async curve(run: number, name: string): Promise<{ times: ArrayLike<number>; values: ArrayLike<number> } | null> {
    const history = this.live();
    const recent = history?.signals.get(name);
    if (history && recent) return { times: history.times, values: recent };
    const playback = this.runs[run];
    if (!playback) return null;
    if (!playback.times.length) await playback.openTimes();
    const key = `${run}|${name}`;
    let values = this.values.get(key);
    if (!values) {
      const found = this.load(run, name);
      if (!found) return null;
      values = found;
      this.values.set(key, values);
    }
    // Values that cannot be read are an empty curve.
    return { times: playback.times, values: await values.catch(() => new Float64Array()) };
  }

  /** Signals for the first plots: own ones, coordinates that change, energies; the signals of one plot have one unit. */
  async choose(run: number): Promise<Signal[][]> {
    const list = this.list(run);
    const plots: Signal[][] = [];
    for (const [group, most] of [...FIRST, ...INSTEAD]) {
      if (INSTEAD.some(([other]) => other === group) && plots.some(([one]) => one.group !== "energy" && one.group !== group)) break;
      const changing: Signal[] = [];
      for (const signal of list.filter((one) => one.group === group).slice(0, 12)) {
        if (changing.length && signal.unit !== changing[0].unit) continue;
        const curve = await this.curve(run, signal.name);
        if (curve && changing.length < most && changes(curve.values)) changing.push(signal);
      }
      if (changing.length) plots.push(changing);
    }
    return plots;
  }

  private load(run: number, name: string): Promise<NumberArray> | null {
    const { data } = this.runs[run];
    const signal = data.signals?.find((one) => one.name === name);
    if (signal) return decode(signal.values);
    const values = this.ofBodies[run]?.load(name);
    if (values || !data.reactions) return values ?? null;
    const joints = this.reactionJoints(run);
    const index = joints.findIndex((joint) => name.endsWith(` of ${this.joints[joint]?.name ?? `joint ${joint}`}`));
    const packed = name.startsWith("reaction torque") ? data.reactions.torque : data.reactions.force;
    if (index < 0 || !packed) return null;
    return decode(packed).then((all) => norms(all, joints.length, index));
  }
}

/** Whether values differ by more than rounding. */
function changes(values: ArrayLike<number>): boolean {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, Number.isFinite(values[i]) ? values[i] : low);
    high = Math.max(high, Number.isFinite(values[i]) ? values[i] : high);
  }
  return values.length === 1 || high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high), 1e-6);
}

/** Lengths of the vectors of one joint. */
function norms(all: NumberArray, joints: number, index: number): Float64Array {
  const frames = Math.floor(all.length / (3 * joints));
  return Float64Array.from({ length: frames }, (_, frame) => {
    const i = (frame * joints + index) * 3;
    return Math.hypot(all[i], all[i + 1], all[i + 2]);
  });
}

/** Signals that belong to a component: its name is a part of theirs. */
export function signalsOf(name: string, signals: Signal[], most = 6): Signal[] {
  const letters = /[\p{L}\p{N}_]/u;
  const belongs = (text: string): boolean => {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      const before = text[at - 1];
      const after = text[at + name.length];
      if (!(before && (letters.test(before) || before === ".")) && !(after && letters.test(after))) return true;
    }
    return false;
  };
  return signals.filter((signal) => belongs(signal.name)).slice(0, most);
}
