// Curves as a table of text.

export interface Column {
  name: string;
  times: ArrayLike<number>;
  values: ArrayLike<number>;
}

function quote(text: string): string {
  // A leading =, +, - or @ would be taken for a formula by spreadsheets.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function sameTimes(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A table with a line for each time. Columns with other times have their own column of times. */
export function tableOf(columns: Column[]): string {
  const head: string[] = [];
  const lists: ArrayLike<number>[] = [];
  let times: ArrayLike<number> | null = null;
  for (const column of columns) {
    if (!times || !sameTimes(times, column.times)) {
      times = column.times;
      head.push("time [s]");
      lists.push(times);
    }
    head.push(quote(column.name));
    lists.push(column.values);
  }
  const lines = [head.join(",")];
  const length = lists.reduce((most, list) => Math.max(most, list.length), 0);
  for (let i = 0; i < length; i++) lines.push(lists.map((list) => (i < list.length && Number.isFinite(list[i]) ? String(list[i]) : "")).join(","));
  return `${lines.join("\r\n")}\r\n`;
}
