// Writes the samples as pages to dist/samples, to be opened by hand or by tests.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { embed } from "./embed.ts";
import { SAMPLES } from "./samples/index.ts";

const folder = new URL("../samples/", import.meta.url);
mkdirSync(folder, { recursive: true });
const page = readFileSync(new URL("../viewer.html", import.meta.url), "utf8");
const wanted = process.argv.slice(2);
for (const [name, make] of Object.entries(SAMPLES)) {
  if (wanted.length && !wanted.includes(name)) continue;
  const html = embed(page, make());
  writeFileSync(new URL(`${name}.html`, folder), html);
  console.log(`dist/samples/${name}.html: ${(html.length / 1e6).toFixed(2)} MB`);
}
