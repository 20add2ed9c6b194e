// A run that grows while a simulation goes on: the picture follows unless the user looks back.

import type { App } from "./app.ts";
import { History } from "./history.ts";

const PLOTS = 500; // milliseconds between two pictures of growing curves
const FIRST_CURVES = 4;

export class LiveRun {
  history: History | null = null;
  private atEnd = true;
  private plotted = 0;

  constructor(private readonly app: App) {}

  clear(): void {
    this.history = null;
    this.atEnd = true;
  }

  /** Notes whether the time that is shown is the last one. */
  note(t: number): void {
    if (this.history) this.atEnd = t >= this.app.clock.end - 1e-12;
  }

  /** Takes poses of a time, and values of signals. */
  receive(time: number, poses: number[], signals: Record<string, number>): void {
    const { clock, transport, plots } = this.app;
    const first = !this.history;
    this.history ??= new History(this.app.data?.bodies.length ?? 0);
    const known = this.history.signals.size;
    this.history.add(time, poses, signals);
    const { times } = this.history;
    if (!times.length) return;
    const follow = (first || this.atEnd) && !clock.playing;
    clock.setRange(times[0], times[times.length - 1]);
    if (first) transport.setTimes(times);
    if (this.history.signals.size !== known) {
      this.app.listSignals();
      if (!plots.names.size) void this.app.plot([...this.history.signals.keys()].slice(0, FIRST_CURVES));
    }
    if (follow) clock.seek(time);
    if (performance.now() - this.plotted >= PLOTS) this.refresh();
  }

  private refresh(): void {
    this.plotted = performance.now();
    this.app.transport.setTimes(this.history?.times ?? []);
    this.app.timeline.showAll();
    this.app.scene.followExtent();
    void this.app.plots.refresh();
  }
}
