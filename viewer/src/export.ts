// Pictures, film strips, videos and tables to save.

import type { Clock } from "./clock.ts";
import { make } from "./dom.ts";
import { formatTime } from "./intervals.ts";
import type { Stage } from "./stage.ts";

/** Pictures of the scene at equal distances in time, side by side in one. */
export async function filmStrip(stage: Stage, clock: Clock, count = 6): Promise<Blob> {
  clock.pause();
  const before = clock.time;
  const box = stage.host.getBoundingClientRect();
  const width = 420;
  const height = Math.max(60, Math.round((width * box.height) / Math.max(1, box.width)));
  const columns = Math.min(3, count);
  const canvas = make("canvas", { width: columns * width, height: Math.ceil(count / columns) * height });
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no picture");
  context.font = "15px system-ui, sans-serif";
  for (let i = 0; i < count; i++) {
    const t = count > 1 ? clock.start + ((clock.end - clock.start) * i) / (count - 1) : clock.time;
    clock.seek(t);
    const bitmap = await createImageBitmap(await stage.picture(2 * width, 2 * height));
    const [x, y] = [(i % columns) * width, Math.floor(i / columns) * height];
    context.drawImage(bitmap, x, y, width, height);
    context.fillStyle = getComputedStyle(stage.host).getPropertyValue("--text");
    context.fillText(`${formatTime(t, clock.end - clock.start)} s`, x + 10, y + 22);
  }
  clock.seek(before);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}

/** The whole run as a WebM video, recorded while it plays once. */
export async function video(stage: Stage, clock: Clock, progress: (share: number) => void): Promise<Blob> {
  const canvas = stage.renderer.domElement;
  if (typeof MediaRecorder === "undefined" || !canvas.captureStream) throw new Error("this browser records no video");
  const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((one) => MediaRecorder.isTypeSupported(one));
  if (!type) throw new Error("this browser records no WebM");
  const loop = clock.loop;
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 });
  const pieces: Blob[] = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  clock.pause();
  clock.setLoop(false);
  clock.seek(clock.start);
  const stopped = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  recorder.start(250);
  clock.play();
  await new Promise<void>((resolve) => {
    const watch = (): void => {
      progress((clock.time - clock.start) / (clock.end - clock.start));
      if (clock.playing) requestAnimationFrame(watch);
      else resolve();
    };
    requestAnimationFrame(watch);
  });
  recorder.stop();
  await stopped;
  clock.setLoop(loop);
  return new Blob(pieces, { type: "video/webm" });
}
