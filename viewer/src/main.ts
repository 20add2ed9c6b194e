// Where the page begins: data from the page itself, or from the server that shows a model live.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.ts";
import { make } from "./dom.ts";
import { interfaceOf } from "./interface.ts";
import { followServer, fetchData } from "./live.ts";
import type { LiveTag, ViewData } from "./types.ts";

const errors: string[] = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));

const root = document.getElementById("app") as HTMLElement;
const app = new App(root);

function say(text: string): void {
  root.append(make("p", { class: "empty-page" }, text));
}

async function begin(): Promise<void> {
  const tag = JSON.parse(document.getElementById("torsor-data")?.textContent || "null") as ViewData | LiveTag | null;
  if (!tag) return say("This page holds no data. Write one with ts.save_html(data, \"file.html\").");
  if ("live" in tag) {
    await app.open(await fetchData(tag.token));
    followServer(tag.token, app);
  } else await app.open(tag);
}

const ready = begin().catch((error: Error) => {
  errors.push(error.message);
  say(`The data of this page cannot be shown: ${error.message}`);
});

(window as unknown as { torsor: unknown }).torsor = interfaceOf(app, ready, errors);
