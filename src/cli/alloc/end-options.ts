import type { OptionDefinition } from '../definition.ts';
import { CliError } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import type { Options } from '../options.ts';
import { readTail } from './tail.ts';

/** The options that select the end of a file. */
export const endOptions: readonly OptionDefinition[] = [
  { name: 'follow', letter: 'f', description: 'Follow: print new output until Ctrl-C.' },
  { name: 'tail', description: `Only the last lines (${cliLimits.log.linesDefault}).` },
  {
    name: 'lines',
    letter: 'n',
    value: 'LINES',
    description: 'Only the last LINES lines; implies --tail.',
  },
  { name: 'bytes', letter: 'c', value: 'BYTES', description: 'Only the last BYTES bytes.' },
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
    return options.flag('tail')
      ? { kind: 'lines', lines: cliLimits.log.linesDefault }
      : { kind: 'all' };
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
 * The position to begin reading at, or the whole text to print without `-f`. Bytes that are
 * written between two requests only extend the end, so nothing is left
 * out; at most the oldest lines are missing.
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
