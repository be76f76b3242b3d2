/** The archive formats that are unpacked, known by the ends of file names. */
export type Compression = 'gz' | 'bz2' | 'xz' | 'zst';

export interface ArchiveFormat {
  readonly container: 'tar' | 'zip' | 'none';
  readonly compression: Compression | undefined;
}

const tarOf = (compression: Compression): ArchiveFormat => ({ container: 'tar', compression });
const alone = (compression: Compression): ArchiveFormat => ({ container: 'none', compression });

/** Longer endings first. */
const formats: readonly (readonly [string, ArchiveFormat])[] = [
  ['tar.gz', tarOf('gz')],
  ['tar.bz2', tarOf('bz2')],
  ['tar.xz', tarOf('xz')],
  ['tar.zst', tarOf('zst')],
  ['tgz', tarOf('gz')],
  ['tbz2', tarOf('bz2')],
  ['txz', tarOf('xz')],
  ['tzst', tarOf('zst')],
  ['tar', { container: 'tar', compression: undefined }],
  ['zip', { container: 'zip', compression: undefined }],
  ['gz', alone('gz')],
  ['bz2', alone('bz2')],
  ['xz', alone('xz')],
  ['zst', alone('zst')],
];

export const archiveWords: readonly string[] = formats.map(([word]) => word);

/** A format by its word, such as `tar.gz`. */
export const formatNamed = (word: string): ArchiveFormat | undefined =>
  formats.find(([name]) => name === word)?.[1];

/** A format by the name of a file. */
export const formatOfFile = (name: string): ArchiveFormat | undefined =>
  formats.find(([ending]) => name.toLowerCase().endsWith(`.${ending}`))?.[1];

/** The name of the single file in a compressed file. */
export function nameWithin(name: string): string {
  const found = formats.find(([ending]) => name.toLowerCase().endsWith(`.${ending}`));
  const inner = found === undefined ? name : name.slice(0, -found[0].length - 1);
  return inner === '' ? name : inner;
}
