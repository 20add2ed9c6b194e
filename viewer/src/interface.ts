// What tests, notebooks and the package may call as window.torsor.

import type { App } from "./app.ts";
import type { Layer } from "./parts.ts";

async function addressOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error("the picture cannot be read"));
    reader.readAsDataURL(blob);
  });
}

export function interfaceOf(app: App, ready: Promise<void>, errors: string[]): Record<string, unknown> {
  const { clock, scene, stats } = app;
  return {
    ready,
    errors,
    get state() {
      return { time: clock.time, frame: app.current?.frame(clock.time) ?? 0, playing: clock.playing, speed: clock.speed, run: app.run };
    },
    get stats() {
      return { ...stats, fps: clock.stats.fps, pictures: app.stage?.drawn ?? 0 };
    },
    open: (data: unknown) => app.open(data),
    seek: (t: number) => clock.seek(t),
    play: () => clock.play(),
    pause: () => clock.pause(),
    setSpeed: (speed: number) => clock.setSpeed(speed),
    pose: (name: string) => app.mechanism?.poseOf(name) ?? null,
    inPicture: (name: string) => scene.placeInPicture(name),
    rows: () => app.timeline.statesAt(clock.time),
    cursorTime: () => app.plots.cursorTime(),
    plotted: () => [...app.plots.names],
    plot: (names: string[]) => app.plot(names),
    select: (name: string) => scene.selectName(name),
    setLayer: async (layer: Layer, visible: boolean) => {
      scene.setLayer(layer, visible);
      await scene.allArrows.find((one) => one.layer === layer)?.load();
    },
    look: (name: string) => scene.look(name),
    setDark: (dark: boolean) => app.setDark(dark),
    selectRun: (run: number) => app.selectRun(run),
    compare: (runs: number[]) => app.compare(runs),
    showMode: (number: number) => app.showMode(number),
    picture: async (width?: number, height?: number) => (app.stage ? addressOf(await app.stage.picture(width, height)) : null),
  };
}
