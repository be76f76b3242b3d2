import picocolors from 'picocolors';
import type { Output } from '../environment.ts';
import { fieldLines, recordLines, tableLines } from './table.ts';
import { oneLine } from './text.ts';

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Prints for people: colours and a limited width at a terminal, plain text into a pipe. */
export interface Screen {
  readonly colors: Colors;
  line(text?: string): Promise<void>;
  /** A bold title with an empty line before it. */
  title(text: string): Promise<void>;
  /** Two columns without a head: `Status  running`. Values are wrapped between words. */
  fields(rows: readonly (readonly [name: string, value: string])[]): Promise<void>;
  /** A table, or one record below the other where it does not fit. No word and no id is ever broken. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): Promise<void>;
  /** A status in its colour. */
  status(word: string): string;
}

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
      const named = rows.map(([name, value]) => [colors.bold(name), value] as const);
      for (const text of fieldLines(named, output.columns)) await line(text);
    },
    async table(head, rows) {
      const all = [head.map(colors.bold), ...rows];
      const { columns } = output;
      for (const text of tableLines(all, columns) ?? recordLines(all, columns)) await line(text);
    },
    status: (word) => (statusColors[word] ?? String)(oneLine(word)),
  };
}
