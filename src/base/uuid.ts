/** Not in limits: RFC 9562. */
const uuidBytes = 16;
const digits = Buffer.from('0123456789abcdef', 'latin1');
/** The position of each byte's two digits in the text. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Random UUIDs (RFC 9562, version 4). Each is written as a single text: `crypto.randomUUID` joins twenty
 * pieces, which takes ten times as long and makes garbage, and a large job needs thousands of UUIDs at once.
 * `fill` gives random bytes ahead of time, since the UUIDs are names and no secrets.
 *
 * A neighbour of another UUID begins with a number of 32 bits that is a little greater, so a chain of neighbours ascends
 * (until that number begins at 0 again), and no two of them have the same first eight digits. All other digits are random.
 */
export function uuidSource(fill: (bytes: Uint8Array) => void): (near?: string) => string {
  const drawn = new Uint8Array(uuidBytes * 256);
  const words = new DataView(drawn.buffer);
  const text = Buffer.alloc(36, '-', 'latin1');
  let used = drawn.length;
  /** The UUID given last, and its first 32 bits. A chain of neighbours asks for one after the other. */
  let [last, lastBeginning] = ['', 0];
  return (near) => {
    if (used === drawn.length) {
      fill(drawn);
      used = 0;
    }
    if (near !== undefined) {
      const beginning = near === last ? lastBeginning : Number.parseInt(near.slice(0, 8), 16);
      words.setUint32(used, beginning + 1 + drawn[used]!);
    }
    lastBeginning = words.getUint32(used);
    drawn[used + 6] = (drawn[used + 6]! & 0x0f) | 0x40;
    drawn[used + 8] = (drawn[used + 8]! & 0x3f) | 0x80;
    for (const place of places) {
      const byte = drawn[used++]!;
      text[place] = digits[byte >> 4]!;
      text[place + 1] = digits[byte & 0x0f]!;
    }
    last = text.toString('latin1');
    return last;
  };
}
