/** Structured logging: one event, a sentence, and fields that never hold a secret. */
export interface Log {
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
  /** Whether lines of a level are written; absent where nobody knows. */
  isLevelEnabled?(level: 'debug'): boolean;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
