import { oneLine } from './text.ts';

/** The items of the server's list of warnings. Source: docs/behaviour/job-specification.md#warnings. */
export const warningsIn = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .filter((line) => line.startsWith('* '))
    .map((line) => oneLine(line.slice(2)));
