import { header, type Request } from './http.ts';

const bearer = /^bearer\s+(\S+)/i;

/**
 * The secret a request presents: query `token`, then `X-Registry-Token` (`X-Scheduler-Token` is
 * the same header under its other name), then `Authorization: Bearer`. The first that is not empty
 * wins. DESIGN §5 "Token".
 */
export function presentedSecret(request: Request): string | undefined {
  return (
    inQuery(request.query) ??
    filled(header(request, 'x-registry-token')) ??
    filled(header(request, 'x-scheduler-token')) ??
    bearer.exec(header(request, 'authorization') ?? '')?.[1]
  );
}

const inQuery = (query: string): string | undefined =>
  query.includes('token=')
    ? filled(new URLSearchParams(query).get('token') ?? undefined)
    : undefined;

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** A URL fit for a log: the value of `token` is cut out. */
export function withoutSecrets(url: string): string {
  return url.replace(/([?&]token=)[^&#]*/gi, '$1redacted');
}
