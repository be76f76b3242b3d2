import type { Fault } from './errors.ts';
import { limits } from './limits.ts';

/** A path in a document, from the leaf up; null is the document itself. Cheap to extend. */
export type Path = { readonly parent: Path; readonly key: string | number } | null;

export function below(path: Path, ...keys: (string | number)[]): Path {
  let at = path;
  for (let step = 0; step < keys.length; step++) at = { parent: at, key: keys[step]! };
  return at;
}

function keysOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let step = path; step !== null; step = step.parent) keys.push(step.key);
  return keys.reverse();
}

/** JSON pointer (RFC 6901): `/TaskGroups/0/Name`; the document is `''`. */
export function pointerOf(path: Path): string {
  return keysOf(path)
    .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** The form for people: `TaskGroups[0].Meta["a b"]`; the document is `The body`. */
export function dottedOf(path: Path): string {
  let text = '';
  for (const key of keysOf(path)) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (!/^[\w-]+$/.test(key)) text += `[${JSON.stringify(key)}]`;
    else text += text === '' ? key : `.${key}`;
  }
  return text === '' ? 'The body' : text;
}

/** `message` continues the dotted path: "must not be empty". */
export const faultAt = (path: Path, message: string): Fault => ({
  pointer: pointerOf(path),
  message: `${dottedOf(path)} ${message}`,
});

/** The function by which validators report faults. */
export type Report = (path: Path, message: string) => void;

/** The text in quotes, cut to a length that fits a sentence. */
export function quote(text: string): string {
  const { quotedLengthMax } = limits.fault;
  const cut = text.length > quotedLengthMax ? `${text.slice(0, quotedLengthMax)}…` : text;
  return JSON.stringify(cut);
}
