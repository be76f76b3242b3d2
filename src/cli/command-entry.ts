import type { Command } from './definition.ts';

export interface CommandEntry {
  /** `['job', 'run']` */
  readonly words: readonly string[];
  readonly summary: string;
  /** A command's code is only loaded when it is used. */
  readonly load: () => Promise<Command>;
}
