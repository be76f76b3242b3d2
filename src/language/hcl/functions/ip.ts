/** An IP address as a number. */
export interface Address {
  /** 32 or 128. */
  readonly bits: number;
  readonly value: bigint;
}

const octet = /^(?:0|[1-9][0-9]{0,2})$/;
const group = /^[0-9A-Fa-f]{1,4}$/;

/** Returns `undefined` if the text is no address. */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(':')) {
    const value = parseOctets(text);
    return value === undefined ? undefined : { bits: 32, value };
  }
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(groupsOf);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...(tail ?? [])];
  return { bits: 128, value: groups.reduce((value, one) => (value << 16n) | BigInt(one), 0n) };
}

function parseOctets(text: string): bigint | undefined {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((one) => octet.test(one) && Number(one) < 256)) {
    return undefined;
  }
  return octets.reduce((value, one) => (value << 8n) | BigInt(one), 0n);
}

/** The last two groups may be written as an IPv4 address. */
function groupsOf(text: string): readonly number[] | undefined {
  if (text === '') return [];
  const written = text.split(':');
  const last = written.at(-1)!;
  const embedded = last.includes('.') ? parseOctets(last) : undefined;
  if (embedded !== undefined) {
    written.splice(-1, 1, (embedded >> 16n).toString(16), (embedded & 0xffffn).toString(16));
  }
  return written.every((one) => group.test(one))
    ? written.map((one) => Number.parseInt(one, 16))
    : undefined;
}

/** The form of RFC 5952: without the longest run of zeros. */
export function addressText({ bits, value }: Address): string {
  if (bits === 32) {
    return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
  }
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  const written = groups.join(':');
  const runs = [...written.matchAll(/\b0(?::0)+\b/g)];
  const longest = runs.reduce((best, [run]) => (run.length > best.length ? run : best), '');
  if (longest === '') return written;
  const at = runs.find(([run]) => run === longest)!.index;
  const head = written.slice(0, Math.max(0, at - 1));
  return `${head}::${written.slice(at + longest.length + 1)}`;
}
