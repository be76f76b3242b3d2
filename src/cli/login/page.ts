/** The page that the browser shows after the provider has redirected it. */
export interface Page {
  readonly isFine: boolean;
  readonly title: string;
  readonly text: string;
}

const style =
  ':root{color-scheme:light dark}' +
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem}' +
  'h1{font-size:1.4rem}';

/** A self-contained HTML page. The text is untrusted. */
export function renderPage({ title, text }: Page): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} – Roster</title>
<style>${style}</style>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
<p>You may close this window and go back to the terminal.</p>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  text.toWellFormed().replace(/[&<>"']/g, (character) => entities[character]!);
