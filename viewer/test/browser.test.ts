// The page in a real browser with WebGL in software. CHROMIUM names the browser where it is not found by itself.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { embed } from "./embed.ts";
import { SAMPLES } from "./samples/index.ts";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/opt/google/chrome/chrome"];
const program = PLACES.find((path) => path && existsSync(path));
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-compositing"];
const folder = new URL("../test-pages/", import.meta.url);
const html = readFileSync(new URL("../viewer.html", import.meta.url), "utf8");
const skip = program ? false : "no chromium was found: set CHROMIUM to its path";

interface Torsor {
  ready: Promise<void>;
  errors: string[];
  state: { time: number; frame: number; playing: boolean; speed: number };
  stats: { firstPictureMs: number; fps: number };
  seek(t: number): void;
  play(): void;
  pause(): void;
  pose(name: string): { p: number[]; q: number[] } | null;
  rows(): { name: string; engagedAtCursor: boolean | null }[];
  cursorTime(): number;
  plotted(): string[];
  look(name: string): void;
  setLayer(layer: string, visible: boolean): void;
  compare(runs: number[]): Promise<void>;
  open(data: unknown): Promise<void>;
  picture(width: number, height: number): Promise<string>;
}
declare const torsor: Torsor;

let browser: Browser;

before(async () => {
  if (program) browser = await chromium.launch({ executablePath: program, args: [...ARGUMENTS, ...WEBGL] });
});
after(async () => browser?.close());

/** Opens data; returns the page and what went wrong in it. */
async function open(name: string, data: unknown, where = browser): Promise<{ page: Page; troubles: string[] }> {
  mkdirSync(folder, { recursive: true });
  const file = new URL(`${name}.html`, folder);
  writeFileSync(file, embed(html, data));
  const page = await where.newPage({ viewport: { width: 1280, height: 800 } });
  const troubles: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) troubles.push(`request to ${request.url()}`);
  });
  await page.goto(file.href);
  await page.evaluate(() => torsor.ready);
  troubles.push(...(await page.evaluate(() => torsor.errors)));
  return { page, troubles };
}

for (const name of ["double_pendulum", "gallery", "modes", "odd", "empty"]) {
  test(`the sample ${name} opens without errors and without requests`, { skip }, async () => {
    const { page, troubles } = await open(name, SAMPLES[name]());
    await page.evaluate(() => torsor.play());
    await page.waitForTimeout(300);
    assert.deepEqual(troubles, []);
    assert.equal(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked), undefined);
    assert.equal(await page.locator("#app img, #app script").count(), 0);
    await page.close();
  });
}

test("poses in the scene are those of the data, and time line and plots follow", { skip }, async () => {
  const { page, troubles } = await open("poses", SAMPLES.double_pendulum());
  for (const frame of [0, 100, 333, 600]) {
    const t = frame / 60;
    const found = await page.evaluate((time) => {
      torsor.seek(time);
      return { pose: torsor.pose("arm.upper"), cursor: torsor.cursorTime(), rows: torsor.rows(), frame: torsor.state.frame };
    }, t);
    const { p, q } = found.pose!;
    // The bar hangs from the origin along its own −z: its centre of mass is 0.5 m along that axis.
    const down = [-2 * (q[1] * q[3] + q[0] * q[2]), -2 * (q[2] * q[3] - q[0] * q[1]), -(1 - 2 * (q[1] ** 2 + q[2] ** 2))];
    down.forEach((c, k) => assert.ok(Math.abs(p[k] - 0.5 * c) < 1e-6, `frame ${frame}`));
    assert.ok(Math.abs(found.cursor - t) < 0.02);
    assert.equal(found.frame, frame);
    assert.equal(found.rows.find((row) => row.name === "latch")?.engagedAtCursor, t <= 2.5 || t >= 6);
  }
  assert.deepEqual(troubles, []);
  await page.close();
});

test("clicks in the time line and in a plot go to a time; keys step and play", { skip }, async () => {
  const { page, troubles } = await open("clicks", SAMPLES.double_pendulum());
  const line = (await page.locator(".timeline-canvas").boundingBox())!;
  await page.mouse.click(line.x + 150 + (line.width - 164) / 2, line.y + 45);
  assert.ok(Math.abs((await page.evaluate(() => torsor.state.time)) - 5) < 0.02);
  const plot = (await page.locator(".u-over").first().boundingBox())!;
  await page.mouse.click(plot.x + plot.width * 0.25, plot.y + 40);
  assert.ok(Math.abs((await page.evaluate(() => torsor.state.time)) - 2.5) < 0.05);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => torsor.state.frame), 2);
  await page.keyboard.press("Space");
  await page.waitForTimeout(400);
  assert.ok(await page.evaluate(() => torsor.state.playing && torsor.state.time > 0.1));
  assert.deepEqual(troubles, []);
  await page.close();
});

test("a click and a drag add curves, and tables and pictures are saved", { skip }, async () => {
  const { page, troubles } = await open("curves", SAMPLES.double_pendulum());
  await page.getByRole("tab", { name: "Signals" }).click();
  await page.getByTitle("upper rate [rad/s]").click();
  await page.getByTitle("lower rate [rad/s]").dragTo(page.locator(".charts"));
  const names = await page.evaluate(() => torsor.plotted());
  assert.ok(names.includes("upper rate") && names.includes("lower rate"), String(names));
  await page.getByTitle("Save pictures, videos, tables").click();
  const [table] = await Promise.all([page.waitForEvent("download"), page.getByTitle("Plotted curves (CSV)").click()]);
  const lines = readFileSync((await table.path())!, "utf8").split("\r\n");
  assert.equal(lines.length, 603);
  assert.ok(lines[0].startsWith("time [s],upper angle [rad]"));
  await page.getByTitle("Save pictures, videos, tables").click();
  const [picture] = await Promise.all([page.waitForEvent("download"), page.getByTitle("Picture (PNG)").click()]);
  assert.deepEqual([...readFileSync((await picture.path())!).subarray(1, 4)], [0x50, 0x4e, 0x47]);
  assert.deepEqual(troubles, []);
  await page.close();
});

test("names show under the pointer; a click selects; a component that is dropped on the plots adds its signals", { skip }, async () => {
  const { page, troubles } = await open("pointing", SAMPLES.double_pendulum());
  await page.evaluate(() => {
    torsor.look("y");
    torsor.compare([]);
  });
  await page.waitForTimeout(600);
  const canvas = (await page.locator("canvas.canvas").boundingBox())!;
  const seen = new Map<string, { x: number; y: number }>();
  for (let i = 0; i < 90 && !seen.has("arm.upper"); i++) {
    const at = { x: canvas.x + canvas.width * (0.3 + 0.05 * (i % 10)), y: canvas.y + canvas.height * (0.25 + 0.06 * Math.floor(i / 10)) };
    await page.mouse.move(at.x, at.y);
    await page.waitForTimeout(110);
    const tip = page.locator(".tooltip");
    if (await tip.isVisible()) seen.set(await tip.innerText(), at);
  }
  const at = seen.get("arm.upper");
  assert.ok(at, `seen: ${[...seen.keys()].join(", ")}`);
  await page.mouse.click(at.x, at.y);
  assert.match(await page.locator(".card").innerText(), /arm\.upper/);
  assert.match((await page.locator(".row.selected").first().getAttribute("title")) ?? "", /^arm\.upper/);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator(".card").isHidden());
  const data = { ...SAMPLES.double_pendulum() };
  data.runs![0].signals!.push({ ...data.runs![0].signals![0], name: "angle of elbow", label: "elbow" });
  await page.evaluate((one) => torsor.open(one), data);
  await page.getByTitle("elbow: Revolute").dragTo(page.locator(".charts"));
  await page.waitForTimeout(200);
  assert.ok((await page.evaluate(() => torsor.plotted())).includes("angle of elbow"));
  assert.deepEqual(troubles, []);
  await page.close();
});

test("a picture is not empty, and arrows and a ghost change it", { skip }, async () => {
  const { page, troubles } = await open("pictures", SAMPLES.double_pendulum());
  const take = (): Promise<string> => page.evaluate(() => torsor.picture(320, 240));
  await page.evaluate(() => torsor.seek(3));
  const plain = await take();
  assert.equal(await take(), plain);
  await page.evaluate(() => torsor.setLayer("reactions", true));
  const arrows = await take();
  assert.notEqual(arrows, plain);
  await page.evaluate(() => torsor.compare([]));
  assert.notEqual(await take(), arrows);
  assert.deepEqual(troubles, []);
  await page.close();
});

test("a film strip and a video are saved", { skip }, async () => {
  const { page, troubles } = await open("video", { ...SAMPLES.gallery(), name: "film" });
  await page.getByTitle("Save pictures, videos, tables").click();
  const [strip] = await Promise.all([page.waitForEvent("download"), page.getByTitle("Film strip (PNG)").click()]);
  assert.equal(strip.suggestedFilename(), "film.strip.png");
  assert.ok(readFileSync((await strip.path())!).length > 20_000);
  await page.locator("select[title='Speed of playing']").selectOption("5");
  await page.getByTitle("Save pictures, videos, tables").click();
  const [film] = await Promise.all([page.waitForEvent("download"), page.getByTitle("Video (WebM)").click()]);
  const bytes = readFileSync((await film.path())!);
  assert.deepEqual([...bytes.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3]);
  assert.ok(bytes.length > 10_000);
  assert.deepEqual(troubles, []);
  await page.close();
});

/** Data with parts left out, of the wrong kind, or not finite, always the same for a seed. */
function damage(value: unknown, random: () => number): unknown {
  if (random() < 0.006) return [null, undefined, NaN, -1, 1e300, "", "<b>", [], {}][Math.floor(random() * 9)];
  if (Array.isArray(value)) return value.map((one) => damage(one, random));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, damage(one, random)]));
  return value;
}

test("damaged data end with a clear line or are shown, and never run as code or stop the page", { skip }, async () => {
  const { page, troubles } = await open("damage", SAMPLES.empty());
  let seed = 1;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  let refused = 0;
  for (let i = 0; i < 60; i++) {
    const data = damage([SAMPLES.gallery, SAMPLES.odd, SAMPLES.modes][i % 3](), random);
    const answer = await page.evaluate((one) => torsor.open(one).then(() => "", (error: Error) => `${error.message}`), data);
    if (answer) refused++;
    await page.evaluate(() => {
      torsor.seek(0.5);
      torsor.play();
    });
    await page.waitForTimeout(30);
  }
  await page.evaluate((one) => torsor.open(one), SAMPLES.double_pendulum());
  await page.evaluate(() => torsor.seek(1));
  assert.ok(await page.evaluate(() => torsor.pose("arm.upper")));
  assert.ok(refused < 10, `${refused} of 60 were refused`);
  assert.deepEqual([...troubles, ...(await page.evaluate(() => torsor.errors))], []);
  assert.equal(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked), undefined);
  await page.close();
});

test("without WebGL there is one clear line, and plots and time line work", { skip }, async () => {
  const plain = await chromium.launch({ executablePath: program, args: [...ARGUMENTS, "--disable-3d-apis"] });
  const { page } = await open("no_webgl", SAMPLES.double_pendulum(), plain);
  assert.match(await page.locator(".no-scene").innerText(), /offers no WebGL 2.*still work/);
  assert.equal(await page.locator(".u-over").count(), 2);
  await page.evaluate(() => torsor.seek(1));
  assert.ok(Math.abs((await page.evaluate(() => torsor.cursorTime())) - 1) < 0.02);
  assert.deepEqual(await page.evaluate(() => torsor.errors), []);
  await plain.close();
});
