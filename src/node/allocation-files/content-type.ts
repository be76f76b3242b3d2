/** The probable content type of a file, by its first bytes. No decision depends on it. */

const marks: readonly (readonly [bytes: string, type: string])[] = [
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['BM', 'image/bmp'],
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['PK\x03\x04', 'application/zip'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['\0asm', 'application/wasm'],
  ['OggS\0', 'application/ogg'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
];

export function contentType(start: Uint8Array): string {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString('latin1');
  const mark = marks.find(([begin]) => bytes.startsWith(begin));
  if (mark !== undefined) return mark[1];
  if (!isText(start)) return 'application/octet-stream';
  if (/^\s*<(!doctype html|html|head|body|script|!--)\b/i.test(bytes)) {
    return 'text/html; charset=utf-8';
  }
  return /^\s*<\?xml/.test(bytes) ? 'text/xml; charset=utf-8' : 'text/plain; charset=utf-8';
}

/** Whether the bytes could be text. The last character may be cut off. */
const isText = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
