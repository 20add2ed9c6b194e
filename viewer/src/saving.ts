// Saves what the page shows: pictures, film strips, videos, tables.

import type { App } from "./app.ts";
import { tableOf } from "./csv.ts";
import { download } from "./dom.ts";
import { filmStrip, video } from "./export.ts";

export class Saving {
  readonly actions = {
    savePicture: () => void this.save("png", async () => this.app.stage && this.app.stage.picture()),
    saveStrip: () => void this.save("strip.png", async () => this.app.stage && filmStrip(this.app.stage, this.app.clock)),
    saveVideo: () => void this.saveVideo(),
    saveTable: () => void this.save("csv", async () => new Blob([tableOf(this.app.plots.columns())], { type: "text/csv" })),
    savePlots: () => void this.save("plots.png", async () => this.app.plots.picture()),
  };

  constructor(private readonly app: App) {}

  private async save(extension: string, make: () => Promise<Blob | null>): Promise<void> {
    try {
      const blob = await make();
      if (blob) download(`${this.app.data?.name || "torsor"}.${extension}`, blob);
    } catch (error) {
      this.app.warn(`Nothing was saved: ${(error as Error).message}.`);
    }
  }

  private async saveVideo(): Promise<void> {
    const { app } = this;
    if (!app.stage || !(app.clock.end > app.clock.start)) return app.warn("There is no motion to record.");
    const stage = app.stage;
    await this.save("webm", async () => video(stage, app.clock, (share) => app.setConnection(`recording ${Math.round(100 * share)} %`)));
    app.setConnection("");
  }
}
