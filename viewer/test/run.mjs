// Bundles the tests or the samples and runs them: node test/run.mjs unit | browser | samples
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const what = process.argv[2] ?? "unit";
const out = join(here, "../dist/test");
const patterns = { unit: /^(?!browser).*\.test\.ts$/, browser: /^browser.*\.test\.ts$/, samples: /^write_samples\.ts$/ };
const names = readdirSync(here).filter((name) => patterns[what].test(name));

await build({
  entryPoints: names.map((name) => join(here, name)),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  packages: "external",
  sourcemap: "inline",
  logLevel: "warning",
});
const files = names.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const options = what === "samples" ? files : ["--test", ...files];
process.exit(spawnSync(process.execPath, ["--enable-source-maps", ...options, ...process.argv.slice(3)], { stdio: "inherit" }).status ?? 1);
