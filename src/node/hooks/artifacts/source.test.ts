import { describe, expect, test } from 'vitest';
import { ArtifactFailure } from './failure.ts';
import { parseSource } from './source.ts';

const hex = (digits: number) => 'Ab'.repeat(digits / 2);

describe('the forms of a source', () => {
  test.each<[string, Record<string, string>, object]>([
    ['https://h/a/b.tgz', {}, { kind: 'https', location: 'https://h/a/b.tgz', name: 'b.tgz' }],
    ['http://h/b', {}, { kind: 'http', name: 'b', archive: undefined }],
    ['https://h/b.tar.gz', {}, { archive: { container: 'tar', compression: 'gz' } }],
    ['https://h/b.TGZ', {}, { archive: { container: 'tar', compression: 'gz' } }],
    ['https://h/b.zip?archive=false', {}, { archive: undefined, location: 'https://h/b.zip' }],
    ['https://h/b.zip', { archive: 'false' }, { archive: undefined }],
    ['https://h/b?archive=tar.xz', {}, { archive: { container: 'tar', compression: 'xz' } }],
    ['https://h/b.zip?token=x&archive=zip', {}, { location: 'https://h/b.zip?token=x' }],
    ['https://h/b', { version: '2' }, { location: 'https://h/b?version=2' }],
    ['https://h/b.zip//in/side', {}, { location: 'https://h/b.zip', subdirectory: 'in/side' }],
    ['https://h/b?filename=c.gz', {}, { name: 'c.gz', location: 'https://h/b' }],
    ['https://h/a%20b', {}, { name: 'a b' }],
    [
      `https://h/b?checksum=md5:${hex(32)}`,
      {},
      { checksum: { algorithm: 'md5', digest: hex(32).toLowerCase() }, location: 'https://h/b' },
    ],
    ['https://h/b', { checksum: `sha512:${hex(128)}` }, { checksum: { algorithm: 'sha512' } }],
    ['file:///a/b.txt', {}, { kind: 'file', location: '/a/b.txt', name: 'b.txt' }],
    ['file:///a/b%20c', {}, { kind: 'file', location: '/a/b c' }],
    ['/a/b//c', {}, { kind: 'file', location: '/a/b', subdirectory: 'c' }],
    ['file::/a/b', {}, { kind: 'file', location: '/a/b' }],
    ['git::https://h/r', {}, { kind: 'git', location: 'https://h/r', ref: '', depth: 1 }],
    ['git::https://h/r//d?ref=v1', {}, { location: 'https://h/r', subdirectory: 'd', ref: 'v1' }],
    ['https://h/r.git', { ref: 'v1', depth: '0' }, { kind: 'git', ref: 'v1', depth: 0 }],
    [
      'git@h.org:o/r.git//d',
      {},
      { kind: 'git', location: 'git@h.org:o/r.git', shown: 'h.org:o/r.git' },
    ],
    ['ssh://git@h.org/r', {}, { kind: 'git', shown: 'ssh://h.org/r' }],
    ['git::file:///srv/r', {}, { kind: 'git', location: 'file:///srv/r' }],
    ['git::/srv/r', {}, { kind: 'git', location: '/srv/r' }],
    ['h.org/r//d?ref=v1', { ref: 'v2' }, { kind: 'git', location: 'https://h.org/r', ref: 'v2' }],
    ['h.org/file.txt', {}, { kind: 'https', location: 'https://h.org/file.txt' }],
    [
      'github.com/o/r//sub/dir?ref=main',
      {},
      { kind: 'git', location: 'https://github.com/o/r.git', subdirectory: 'sub/dir', ref: 'main' },
    ],
    ['github.com/o/r/sub', {}, { location: 'https://github.com/o/r.git', subdirectory: 'sub' }],
    ['https://u:secret@h/b?token=secret#x', {}, { shown: 'https://h/b' }],
  ])('%s with %j', (text, options, expected) => {
    expect(parseSource(text, options)).toMatchObject(expected);
  });
});

test.each<[string, Record<string, string>, RegExp]>([
  ['', {}, /is empty/],
  ['s3::https://h/b', {}, /"s3" sources are not supported/],
  ['ftp://h/b', {}, /"ftp" sources/],
  ['relative/path', {}, /neither a URL nor an absolute path/],
  ['https://', {}, /no URL/],
  ['file://host/b', {}, /without a host/],
  ['https://h/b', { archive: 'rar' }, /archive must be/],
  ['https://h/b', { checksum: 'sha256:ab' }, /checksum must be/],
  ['https://h/b', { checksum: `crc32:${hex(32)}` }, /checksum must be/],
  ['git::https://h/r', { ref: '--upload-pack=x' }, /must not begin with "-"/],
  ['git::https://h/r', { depth: '-1' }, /depth must be/],
  ['https://h/b.zip//../x', {}, /must not hold/],
  ['https://h/b', { filename: '../x' }, /one name/],
])('%s with %j is refused', (text, options, why) => {
  expect(() => parseSource(text, options)).toThrow(ArtifactFailure);
  expect(() => parseSource(text, options)).toThrow(why);
});
