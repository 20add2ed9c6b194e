// The bar that plays a run: play, steps, slider, time, speed, loop.

import type { Clock } from "./clock.ts";
import { button, icon, make } from "./dom.ts";
import { formatTime } from "./intervals.ts";
import { frameAt } from "./playback.ts";

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const PLAY = "M7 4.5v15l12-7.5z";
const PAUSE = "M8 5v14M16 5v14";

export class Transport {
  readonly element: HTMLElement;
  private times: ArrayLike<number> = [];
  private readonly playButton: HTMLButtonElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly slider = make("input", { type: "range", min: 0, max: 10000, step: 1, value: 0, class: "slider", title: "Time", "aria-label": "Time" });
  private readonly label = make("output", { class: "time" });
  private readonly speed = make("select", { title: "Speed of playing", "aria-label": "Speed of playing" });

  constructor(private readonly clock: Clock) {
    this.playButton = button("Play or pause (space)", icon(PLAY), () => clock.toggle(), { class: "round primary" });
    this.loopButton = button("Begin again at the end (L)", icon("M17 2l4 4-4 4M3 11V9a3 3 0 0 1 3-3h15M7 22l-4-4 4-4M21 13v2a3 3 0 0 1-3 3H3"), () => clock.setLoop(!clock.loop));
    this.element = make(
      "div",
      { class: "transport" },
      button("To the start (Home)", icon("M6 5v14M19 5l-10 7 10 7z"), () => clock.seek(clock.start)),
      button("One frame back (←)", icon("M15 6l-8 6 8 6"), () => this.step(-1)),
      this.playButton,
      button("One frame on (→)", icon("M9 6l8 6-8 6"), () => this.step(1)),
      button("To the end (End)", icon("M18 5v14M5 5l10 7-10 7z"), () => clock.seek(clock.end)),
      this.slider,
      this.label,
      this.speed,
      this.loopButton,
    );
    this.slider.addEventListener("input", () => clock.seek(clock.start + (Number(this.slider.value) / 10000) * (clock.end - clock.start)));
    this.slider.addEventListener("keydown", (event) => event.preventDefault());
    this.speed.addEventListener("change", () => clock.setSpeed(Number(this.speed.value)));
    clock.onTimeSeldom(() => this.show());
    clock.onState(() => this.showState());
  }

  setTimes(times: ArrayLike<number>): void {
    this.times = times;
    this.element.style.display = this.clock.end > this.clock.start ? "" : "none";
    this.show();
    this.showState();
  }

  /** Goes a number of frames on or back. */
  step(count: number): void {
    this.clock.pause();
    const { times, clock } = this;
    if (!times.length) return;
    let frame = frameAt(times, clock.time);
    if (count < 0 && clock.time > times[frame]) frame++;
    clock.seek(times[Math.max(0, Math.min(times.length - 1, frame + count))]);
  }

  /** The next speed of the list, faster (1) or slower (−1). */
  changeSpeed(way: number): void {
    const list = way > 0 ? SPEEDS : [...SPEEDS].reverse();
    const next = list.find((speed) => (way > 0 ? speed > this.clock.speed * 1.001 : speed < this.clock.speed * 0.999));
    if (next) this.clock.setSpeed(next);
  }

  private show(): void {
    const { clock } = this;
    const length = clock.end - clock.start;
    this.slider.value = String(length > 0 ? Math.round(((clock.time - clock.start) / length) * 10000) : 0);
    this.slider.style.setProperty("--share", `${length > 0 ? ((clock.time - clock.start) / length) * 100 : 0}%`);
    this.label.textContent = `${formatTime(clock.time, length)} / ${formatTime(clock.end, length)} s`;
  }

  private showState(): void {
    const { clock } = this;
    this.playButton.replaceChildren(icon(clock.playing ? PAUSE : PLAY));
    this.loopButton.classList.toggle("on", clock.loop);
    this.loopButton.setAttribute("aria-pressed", String(clock.loop));
    const list = SPEEDS.includes(clock.speed) ? SPEEDS : [...SPEEDS, clock.speed].sort((a, b) => a - b);
    this.speed.replaceChildren(...list.map((speed) => make("option", { value: speed, selected: speed === clock.speed }, `${speed}×`)));
    this.speed.value = String(clock.speed);
  }
}
