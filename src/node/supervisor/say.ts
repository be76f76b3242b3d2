import { writeSync } from 'node:fs';

const standardError = 2;

/**
 * A line in the supervisor's log. The log may be on the very disk that is full: what cannot be
 * written is dropped, where the stream of the process would end it, and every task with it.
 */
export function say(sentence: string): void {
  try {
    writeSync(standardError, `${new Date().toISOString()} ${sentence}\n`);
  } catch {
    // There is nobody else to tell.
  }
}
