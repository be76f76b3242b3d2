import Table from 'cli-table3';
import picocolors from 'picocolors';
import type { Output } from '../environment.ts';
import { oneLine } from './text.ts';

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Prints for people: colours and a limited width at a terminal, plain text into a pipe. */
export interface Screen {
  readonly colors: Colors;
  line(text?: string): Promise<void>;
  /** A bold title with an empty line before it. */
  title(text: string): Promise<void>;
  /** Two columns without a head: `Status = running`. */
  fields(rows: readonly (readonly [name: string, value: string])[]): Promise<void>;
  table(head: readonly string[], rows: readonly (readonly string[])[]): Promise<void>;
  /** A status in its colour. */
  status(word: string): string;
}

const noBorders = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left']
    .concat(['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((name) => [name, '']),
);

export function createScreen(output: Output, colored: boolean): Screen {
  const colors = picocolors.createColors(colored);
  const line = (text = '') => output.write(`${text}\n`);
  const statusColors: Readonly<Record<string, (text: string) => string>> = {
    running: colors.green,
    ready: colors.green,
    complete: colors.green,
    successful: colors.green,
    pending: colors.yellow,
    blocked: colors.yellow,
    paused: colors.yellow,
    initializing: colors.yellow,
    disconnected: colors.yellow,
    unknown: colors.yellow,
    passing: colors.green,
    warning: colors.yellow,
    critical: colors.red,
    failed: colors.red,
    ACTIVE: colors.green,
    INITIAL: colors.yellow,
    ESTABLISHING: colors.yellow,
    FAILING: colors.red,
    TERMINATED: colors.dim,
    lost: colors.red,
    down: colors.red,
    dead: colors.dim,
    canceled: colors.dim,
    cancelled: colors.dim,
  };
  return {
    colors,
    line,
    async title(text) {
      await line();
      await line(colors.bold(text));
    },
    async fields(rows) {
      const width = Math.max(...rows.map(([name]) => name.length));
      for (const [name, value] of rows) {
        await line(`${colors.bold(name.padEnd(width))}  ${value}`);
      }
    },
    async table(head, rows) {
      const table = new Table({
        head: head.map(colors.bold),
        chars: { ...noBorders, middle: '  ' },
        style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
      });
      table.push(...rows.map((row) => [...row]));
      for (const text of table.toString().split('\n')) await line(text.trimEnd());
    },
    status: (word) => (statusColors[word] ?? String)(oneLine(word)),
  };
}
