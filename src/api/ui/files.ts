/** The files of the web interface, in memory. */
import { createHash } from 'node:crypto';
import { limits } from '../../model/limits.ts';

/** A file of the bundle, by its path in the folder: `assets/index-Bx12.js`. */
export type NamedBytes = readonly [path: string, bytes: Uint8Array];

export interface UiFile {
  readonly bytes: Uint8Array;
  /** The packed forms that the bundle has beside it, by the name of their encoding. */
  readonly packed: ReadonlyMap<Encoding, Uint8Array>;
  readonly type: string;
  /** Of the bytes, for the `ETag`. */
  readonly hash: string;
}

export type UiFiles = ReadonlyMap<string, UiFile>;

export type Encoding = 'br' | 'gzip';

/** The page that every address of the interface shows. */
export const indexName = 'index.html';

/** The smaller form is first. */
const encodings: readonly (readonly [Encoding, suffix: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

const types: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['json', 'application/json'],
  ['webmanifest', 'application/manifest+json'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['ico', 'image/x-icon'],
  ['woff2', 'font/woff2'],
  ['md', 'text/plain; charset=utf-8'],
  ['txt', 'text/plain; charset=utf-8'],
]);

/** @throws Error if the page is missing, or the files are too large to stay in memory */
export function uiFilesOf(all: readonly NamedBytes[]): UiFiles {
  const bytesOf = new Map(all);
  const total = all.reduce((sum, [, bytes]) => sum + bytes.byteLength, 0);
  const most = limits.ui.filesBytesMax;
  if (total > most)
    throw new Error(`the files of the web interface have ${total} bytes of ${most}`);
  if (!bytesOf.has(indexName)) throw new Error(`the web interface has no ${indexName}`);
  const files = new Map<string, UiFile>();
  for (const [path, bytes] of all) {
    if (encodings.some(([, suffix]) => isPackedFrom(path, suffix, bytesOf))) continue;
    const packed = new Map<Encoding, Uint8Array>();
    for (const [encoding, suffix] of encodings) {
      const found = bytesOf.get(`${path}${suffix}`);
      if (found !== undefined) packed.set(encoding, found);
    }
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, hashLength);
    files.set(path, { bytes, packed, type: typeOf(path), hash });
  }
  return files;
}

/** Not in limits: characters of a hash that tells two builds apart. */
const hashLength = 16;

const isPackedFrom = (path: string, suffix: string, all: ReadonlyMap<string, unknown>): boolean =>
  path.endsWith(suffix) && all.has(path.slice(0, -suffix.length));

const typeOf = (path: string): string =>
  types.get(path.slice(path.lastIndexOf('.') + 1)) ?? 'application/octet-stream';

/** The form of the file for an `Accept-Encoding`; `undefined`: the file as it is. */
export function packedFor(
  { packed }: UiFile,
  accepted: string | undefined,
): readonly [Encoding, Uint8Array] | undefined {
  const offered = qualities(accepted ?? '');
  return [...packed].find(([encoding]) => (offered.get(encoding) ?? offered.get('*') ?? 0) > 0);
}

/** The encodings of an `Accept-Encoding` with their weights (RFC 9110 §12.5.3). */
function qualities(accepted: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const part of accepted.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
    if (name !== '') found.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  return found;
}
