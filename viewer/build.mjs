// Writes dist/viewer.html: the page with its styles and its script in one file.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const PLACEHOLDER = '<script type="application/json" id="torsor-data">null</script>';
const LARGEST = 900_000; // bytes

// Shaders of three.js are indented text: tabs at the beginning of their lines are left out.
const shadersWithoutIndents = {
  name: "shaders without indents",
  setup(esbuild) {
    esbuild.onLoad({ filter: /three\.module\.js$/ }, ({ path }) => ({ contents: readFileSync(path, "utf8").replaceAll(/\\n(\\t)+/g, "\\n"), loader: "js" }));
  },
};

const { outputFiles } = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outdir: "out",
  logLevel: "warning",
  plugins: [shadersWithoutIndents],
});
const output = (extension) => outputFiles.find((file) => file.path.endsWith(extension))?.text ?? "";
// Inside a script element only "</script" and "<!--" have a meaning for the parser of HTML.
const script = output(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const licences = ["three", "uplot"].map((name) => `${name}\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8")}`).join("\n");
const page = readFileSync(join(here, "index.html"), "utf8")
  .replace("<head>", () => `<head>\n<!--\nThis page contains these libraries.\n\n${licences.replaceAll("--", "- -")}-->`)
  .replace("/*CSS*/", () => output(".css"))
  .replace("/*JS*/", () => script);

if (page.split(PLACEHOLDER).length !== 2) throw new Error("the page must hold the placeholder of the data exactly once");
if (Buffer.byteLength(page) > LARGEST) throw new Error(`the page has ${Buffer.byteLength(page)} bytes, at most ${LARGEST} are allowed`);
mkdirSync(join(here, "dist"), { recursive: true });
writeFileSync(join(here, "dist/viewer.html"), page);
console.log(`dist/viewer.html: ${(Buffer.byteLength(page) / 1000).toFixed(0)} kB`);
