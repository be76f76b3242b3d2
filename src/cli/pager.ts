import { stripVTControlCharacters } from 'node:util';
import type { CliEnvironment, Output } from './environment.ts';

/** The pager of most systems. A shell that does not find it says nothing. */
const usualPager = 'command -v less > /dev/null && exec less; exit 127';

/** The user's pager; `undefined` if none is wanted, or if the output is not read at a terminal. */
export function pagerIn({ env, stdout, terminal }: CliEnvironment): string | undefined {
  if (!stdout.isTerminal || terminal === undefined || env.TERM === 'dumb') return undefined;
  const named = (env.ROSTER_PAGER ?? env.PAGER ?? usualPager).trim();
  return named === '' || named === 'cat' ? undefined : named;
}

/** Prints a whole text: by the pager if it does not fit the terminal, and otherwise as it is. */
export async function printPaged(
  environment: CliEnvironment,
  pager: string,
  text: string,
): Promise<void> {
  const { stdout, terminal, page } = environment;
  const height = terminal?.size().height ?? Number.POSITIVE_INFINITY;
  // The prompt needs a line of its own.
  const fits = linesOf(text, stdout.columns) < height;
  if (!fits && (await page(pager, text))) return;
  await stdout.write(text);
}

function linesOf(text: string, columns: number): number {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)))
    .reduce((total, lines) => total + lines, 0);
}

/** An output that keeps what is written, for a pager. */
export class KeptOutput implements Output {
  readonly isTerminal = true;
  readonly columns: number;
  readonly closed: AbortSignal;
  readonly #pieces: Uint8Array[] = [];

  constructor({ columns, closed }: Output) {
    this.columns = columns;
    this.closed = closed;
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    this.#pieces.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
