/** The texts that the agent writes itself: the `<base>` of the page, and messages in place of the page. */

/** As `ui/index.html` has it. */
const builtBase = '<base href="./">';

/** The way from a path below `/ui/` back to that folder, of which browsers resolve it: `../../`, or `./`. */
export function baseOf(path: string): string {
  const depth = path.split('/').length - 1;
  return depth === 0 ? './' : '../'.repeat(depth);
}

/** @throws Error if the page has no base that can be replaced */
export function withBase(page: string, base: string): string {
  if (!page.includes(builtBase))
    throw new Error(`the page of the web interface lacks ${builtBase}`);
  return page.replace(builtBase, `<base href="${base}">`);
}

/** A page with a message, which browsers load again after some seconds if told so. */
export function messagePage(title: string, lines: readonly string[], refreshS?: number): string {
  const refresh = refreshS === undefined ? '' : `<meta http-equiv="refresh" content="${refreshS}">`;
  const paragraphs = lines.map((line) => `<p>${escaped(line)}</p>`).join('');
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    '<meta name="color-scheme" content="light dark">' +
    `<title>${escaped(title)}</title></head><body><h1>${escaped(title)}</h1>${paragraphs}</body></html>\n`
  );
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
