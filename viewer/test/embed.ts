// Puts data into the page the way the package does.

const PLACEHOLDER = '<script type="application/json" id="torsor-data">null</script>';
const ESCAPES: Record<string, string> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029" };

export function embed(page: string, data: unknown): string {
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (letter) => ESCAPES[letter]);
  return page.replace(PLACEHOLDER, () => PLACEHOLDER.replace("null", () => json));
}
