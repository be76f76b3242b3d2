/** Base64 with and without Node, whose own functions are much faster. */
const { Buffer: bufferOfNode } = globalThis as { readonly Buffer?: typeof Buffer };

/** The bytes of a base64 text. Other characters are not checked. */
export function bytesOfBase64(text: string): Uint8Array {
  if (bufferOfNode !== undefined) return bufferOfNode.from(text, 'base64');
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

export function base64Of(bytes: Uint8Array): string {
  if (bufferOfNode !== undefined) {
    return bufferOfNode.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  }
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** One array of all parts. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
