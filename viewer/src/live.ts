// Data from the server on this machine: the model, its poses while it runs, and the news that its file changed.

import type { App } from "./app.ts";

const RETRY = 1000; // milliseconds

interface Message {
  time?: number;
  poses?: number[] | number[][];
  signals?: Record<string, number>;
  reload?: boolean;
  end?: boolean;
}

export async function fetchData(token: string): Promise<unknown> {
  const answer = await fetch(`./data?token=${encodeURIComponent(token)}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  return (await answer.json()) as unknown;
}

/** Shows what the server sends, until the page closes. */
export function followServer(token: string, app: App): void {
  const source = new EventSource(`./live?token=${encodeURIComponent(token)}`);
  let lost: ReturnType<typeof setTimeout> | undefined;
  source.onopen = () => {
    clearTimeout(lost);
    app.setConnection("live");
  };
  source.onerror = () => {
    clearTimeout(lost);
    lost = setTimeout(() => app.setConnection("server ended"), RETRY);
  };
  source.onmessage = (event) => {
    const message = JSON.parse(event.data as string) as Message;
    if (message.reload) {
      void fetchData(token)
        .then((data) => app.open(data, true))
        .catch((error: Error) => app.warn(error.message));
    } else if (message.poses && typeof message.time === "number") app.live.receive(message.time, message.poses.flat(), message.signals ?? {});
    else if (message.end) {
      source.close();
      app.setConnection("run ended");
    }
  };
}
