import { below, type Path, quote, type Report } from '../path.ts';
import { About, List, type Model, Nullable, TextMap, Type } from '../schema.ts';

/** What is done to the headers of a request or an answer on its way. Source: facts/registry.md §5.5. */
export const HeaderChangesSchema = Type.Object({
  Add: About('Added to what is there already, by name.', TextMap()),
  Set: About('Put in the place of what is there, by name.', TextMap()),
  Remove: About('Names of headers that are taken away.', List(Type.String())),
});
export type HeaderChanges = Model<typeof HeaderChangesSchema>;

export const headerFields = {
  RequestHeaders: About('Changes to headers of requests.', Nullable(HeaderChangesSchema)),
  ResponseHeaders: About('Changes to headers of answers.', Nullable(HeaderChangesSchema)),
};

/** Both changes as one: those of `inner` come after those of `outer`. */
export function mergedHeaders(
  outer: HeaderChanges | null,
  inner: HeaderChanges | null,
): HeaderChanges | null {
  if (outer === null || inner === null) return outer ?? inner;
  const removed = new Set([...(outer.Remove ?? []), ...(inner.Remove ?? [])]);
  return {
    Add: outer.Add || inner.Add ? { ...outer.Add, ...inner.Add } : null,
    Set: outer.Set || inner.Set ? { ...outer.Set, ...inner.Set } : null,
    Remove: removed.size === 0 ? null : [...removed],
  };
}

/** Names of headers are words of HTTP. */
export function checkHeaders(
  record: { readonly [K in keyof typeof headerFields]: HeaderChanges | null },
  path: Path,
  report: Report,
): void {
  for (const field of ['RequestHeaders', 'ResponseHeaders'] as const) {
    const changes = record[field];
    if (changes === null) continue;
    for (const kind of ['Add', 'Set'] as const) {
      for (const name of Object.keys(changes[kind] ?? {})) {
        if (!isHeaderName(name)) report(below(path, field, kind, name), 'is no name of a header');
      }
    }
    (changes.Remove ?? []).forEach((name, index) => {
      const at = below(path, field, 'Remove', index);
      if (!isHeaderName(name)) report(at, `is no name of a header: ${quote(name)}`);
    });
  }
}

/** RFC 9110 §5.6.2, and the pseudo headers of HTTP/2. */
export const isHeaderName = (name: string): boolean => /^:?[!#$%&'*+.^_`|~\w-]+$/.test(name);
