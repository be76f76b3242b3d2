import { writeSync } from 'node:fs';

const standardError = 2;

/**
 * Writes a line to the supervisor's log. A failed write, as on a full disk, is ignored: with a
 * stream it would end the process, and all tasks with it.
 */
export function say(sentence: string): void {
  try {
    writeSync(standardError, `${new Date().toISOString()} ${sentence}\n`);
  } catch {
    // Nobody else can be told.
  }
}
