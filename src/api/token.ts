import { header, type Request } from './http.ts';

const bearer = /^bearer\s+(\S+)/i;

/**
 * The secret of a request: the query `token`, the given headers in order, then `Authorization:
 * Bearer`. The first non-empty value is used.
 * Source: docs/contract/http.md#the-token.
 */
export const secretBy =
  (...names: readonly string[]) =>
  (request: Request): string | undefined => {
    const queried = inQuery(request.query);
    if (queried !== undefined) return queried;
    for (const name of names) {
      const secret = filled(header(request, name));
      if (secret !== undefined) return secret;
    }
    return bearer.exec(header(request, 'authorization') ?? '')?.[1];
  };

// Percent-encoding hides the name (`%74oken`), so such a query is parsed.
const inQuery = (query: string): string | undefined =>
  /token|%/.test(query) ? filled(new URLSearchParams(query).get('token') ?? undefined) : undefined;

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** Removes the value of `token`, in any spelling, from a URL for the log. */
export function withoutSecrets(url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0) return url;
  const pairs = url.slice(mark + 1).split('&');
  return `${url.slice(0, mark)}?${pairs.map(withoutSecret).join('&')}`;
}

function withoutSecret(pair: string): string {
  const [name = ''] = new URLSearchParams(pair).keys();
  if (name.trim().toLowerCase() !== 'token') return pair;
  return pair.replace(/=.*$/s, '=redacted');
}
