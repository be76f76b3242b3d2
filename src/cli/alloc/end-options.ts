import type { OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';
import { readTail } from './tail.ts';

const linesDefault = 10;

/** How much of the end of a file is wanted. */
export const endOptions: readonly OptionDefinition[] = [
  { name: 'follow', letter: 'f', description: 'Stay and print what is written from now on.' },
  { name: 'tail', description: `Only the last lines (${linesDefault}).` },
  {
    name: 'lines',
    letter: 'n',
    value: 'LINES',
    description: 'How many last lines; means --tail.',
  },
  { name: 'bytes', letter: 'c', value: 'BYTES', description: 'Only so many last bytes.' },
];

export type End =
  | { readonly kind: 'all' }
  | { readonly kind: 'lines'; readonly lines: number }
  | { readonly kind: 'bytes'; readonly bytes: number };

export function endOf(options: Options): End {
  const [lines, bytes] = [options.text('lines'), options.text('bytes')];
  if (lines !== undefined && bytes !== undefined) {
    throw new CliError('-n and -c cannot be given together.');
  }
  if (bytes !== undefined) {
    if (!/^\d{1,15}$/.test(bytes)) {
      throw new CliError(`-c must be a number of bytes, got "${bytes}".`);
    }
    return { kind: 'bytes', bytes: Number(bytes) };
  }
  if (lines === undefined) {
    return options.flag('tail') ? { kind: 'lines', lines: linesDefault } : { kind: 'all' };
  }
  if (!/^\d{1,6}$/.test(lines)) {
    throw new CliError(`-n must be a number of lines from 0 to 999999, got "${lines}".`);
  }
  return { kind: 'lines', lines: Number(lines) };
}

export interface Begin {
  readonly origin: 'start' | 'end';
  readonly offset: number;
}

/**
 * Where to begin reading for such an end, or all there is to print when nothing is followed. What is
 * written between two requests comes after so many bytes before the end, so that nothing is left
 * out; at most the oldest of the lines are cut.
 */
export async function beginOf(
  end: End,
  isFollowed: boolean,
  readEnd: (bytes: number) => AsyncIterable<Uint8Array>,
): Promise<Begin | Uint8Array> {
  if (end.kind === 'all') return { origin: 'start', offset: 0 };
  if (end.kind === 'bytes') return { origin: 'end', offset: end.bytes };
  const tail = await readTail(readEnd, end.lines);
  return isFollowed ? { origin: 'end', offset: tail.length } : tail;
}
