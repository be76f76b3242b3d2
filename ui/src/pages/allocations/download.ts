/** Saves bytes of the API as a file of the reader. The token is in a header, so a plain link would not do. */
import { bytesText } from '../../parts/format.ts';
import { plainText } from '../../parts/text.ts';
import { limits } from './limits.ts';

export async function saveBytes(name: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of bytes) {
    parts.push(part as Uint8Array<ArrayBuffer>);
    size += part.length;
    if (size > limits.downloadBytesMax) {
      const most = bytesText(limits.downloadBytesMax);
      throw new Error(`It has more than ${most}, which a page cannot keep. Use the command line.`);
    }
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
  link.download = plainText(name).replaceAll('/', '_');
  link.click();
  // The browser has taken the address by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return size;
}
