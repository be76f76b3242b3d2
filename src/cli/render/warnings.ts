import { oneLine } from './text.ts';

/** The bullets of the server's text. Source: facts/scheduler.md §2.12. */
export const warningsIn = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .filter((line) => line.startsWith('* '))
    .map((line) => oneLine(line.slice(2)));
