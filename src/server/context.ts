import type { World } from '../base/ports.ts';
import type { SecretBox } from '../base/secret-box.ts';
import type { State } from '../state/types.ts';

/** The dependencies that the loops and actions of the server share. */
export interface ServerContext {
  readonly state: State;
  readonly world: World;
  readonly log: Log;
  /** Seals secrets and finds them again. */
  readonly box: SecretBox;
  /** Name of the region that jobs without one belong to. */
  readonly region: string;
  /** Evaluations that are not over: pending, delayed or blocked. */
  readonly openEvaluations: () => number;
}

/** Structured logging: one event, a sentence, and fields that never hold a secret. */
export interface Log {
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
