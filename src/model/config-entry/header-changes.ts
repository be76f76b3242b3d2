import { below, type Path, quote, type Report } from '../path.ts';
import { About, type Model, Nullable } from '../schema.ts';
import { HeaderModifiersSchema } from './proxy-fields.ts';

export type HeaderChanges = Model<typeof HeaderModifiersSchema>;

/** Changes to the headers of requests and answers. Source: docs/behaviour/discovery.md#headers. */
export const headerFields = {
  RequestHeaders: About('Changes to headers of requests.', Nullable(HeaderModifiersSchema)),
  ResponseHeaders: About('Changes to headers of answers.', Nullable(HeaderModifiersSchema)),
};

/** Both changes as one: the changes of `inner` come after the changes of `outer`. */
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

/** Checks that names are names of headers. */
export function checkHeaders(
  record: { readonly [K in keyof typeof headerFields]: HeaderChanges | null },
  path: Path,
  report: Report,
): void {
  for (const field of ['RequestHeaders', 'ResponseHeaders'] as const) {
    checkHeaderChanges(record[field], below(path, field), report);
  }
}

/** Checks that names are names of headers, and that each value is one line. */
export function checkHeaderChanges(
  changes: HeaderChanges | null,
  path: Path,
  report: Report,
): void {
  if (changes === null) return;
  for (const kind of ['Add', 'Set'] as const) {
    for (const [name, value] of Object.entries(changes[kind] ?? {})) {
      const at = below(path, kind, name);
      if (!isHeaderName(name)) report(at, 'is no name of a header');
      else if (!isOneLine(value)) report(at, 'must not hold control characters');
    }
  }
  (changes.Remove ?? []).forEach((name, index) => {
    const at = below(path, 'Remove', index);
    if (!isHeaderName(name)) report(at, `is no name of a header: ${quote(name)}`);
  });
}

/** Whether the value has no control character except the tab: others would end a line or a header. */
const isOneLine = (value: string): boolean =>
  ![...value].some((character) => {
    const code = character.charCodeAt(0);
    return (code < 0x20 && code !== 0x09) || code === 0x7f;
  });

/** A token of RFC 9110 §5.6.2, or a pseudo header of HTTP/2. */
export const isHeaderName = (name: string): boolean => /^:?[!#$%&'*+.^_`|~\w-]+$/.test(name);
