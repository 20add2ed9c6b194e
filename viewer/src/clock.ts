// The time that is shown, and how it runs.

import { niceNumber } from "./ground.ts";

export class Clock {
  time = 0;
  playing = false;
  speed = 1;
  loop = true;
  start = 0;
  end = 0;
  readonly stats = { fps: 0 };
  /** Milliseconds between two calls of `onTimeSeldom` while time runs. */
  seldom = 0;
  private listeners: ((time: number) => void)[] = [];
  private seldomListeners: ((time: number) => void)[] = [];
  private written = 0;
  private stateListeners: (() => void)[] = [];
  private last = 0;
  private marks: number[] = [];

  onTime(listener: (time: number) => void): void {
    this.listeners.push(listener);
  }

  /** As `onTime`, for what is costly to draw and need not follow each picture: cursors, numbers. */
  onTimeSeldom(listener: (time: number) => void): void {
    this.seldomListeners.push(listener);
  }

  onState(listener: () => void): void {
    this.stateListeners.push(listener);
  }

  setRange(start: number, end: number): void {
    this.start = start;
    this.end = end;
    if (this.time < start || this.time > end) this.seek(start);
  }

  /** A speed at which the whole run takes from 3 to 40 seconds, 1 where it does anyway. */
  chooseSpeed(): void {
    const length = this.end - this.start;
    if (!(length > 0)) this.speed = 1;
    else if (length < 2) this.speed = niceNumber(length / 6);
    else this.speed = length <= 40 ? 1 : niceNumber(length / 20);
    if (length >= 1 && length < 2) this.speed = Math.min(1, this.speed);
  }

  seek(time: number, running = false): void {
    const t = Math.min(this.end, Math.max(this.start, Number.isFinite(time) ? time : this.start));
    this.time = t;
    for (const listener of this.listeners) listener(t);
    const now = performance.now();
    if (running && now - this.written < this.seldom) return;
    this.written = now;
    for (const listener of this.seldomListeners) listener(t);
  }

  private changed(): void {
    for (const listener of this.stateListeners) listener();
  }

  play(): void {
    if (this.playing || !(this.end > this.start)) return;
    if (this.time >= this.end) this.seek(this.start);
    this.playing = true;
    this.last = performance.now();
    this.marks = [];
    this.changed();
    requestAnimationFrame(this.tick);
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.seek(this.time);
    this.changed();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  setSpeed(speed: number): void {
    if (Number.isFinite(speed) && speed !== 0) this.speed = speed;
    this.changed();
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.changed();
  }

  private tick = (now: number): void => {
    if (!this.playing) return;
    const elapsed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    let t = this.time + elapsed * this.speed;
    if (t >= this.end) {
      if (this.loop) t = this.start + ((t - this.start) % (this.end - this.start));
      else {
        this.seek(this.end);
        this.pause();
        return;
      }
    }
    this.seek(t, true);
    this.count(now);
    requestAnimationFrame(this.tick);
  };

  private count(now: number): void {
    this.marks.push(now);
    while (this.marks.length > 60) this.marks.shift();
    const first = this.marks[0];
    if (this.marks.length > 5) this.stats.fps = ((this.marks.length - 1) * 1000) / (now - first);
  }
}
