import type { Command, CommandHeading } from './definition.ts';

export interface CommandEntry extends CommandHeading {
  /** A command's code is only loaded when it is used. */
  readonly load: () => Promise<Command>;
}
