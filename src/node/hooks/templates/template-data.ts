/** What templates read from outside of the task's directory, as values that are watched. */
import type { Dependency } from '../../../language/template/run-context.ts';
import type { TemplateValue } from '../../../language/template/value.ts';

export type DataState =
  /** Nobody answered yet. */
  | { readonly kind: 'pending' }
  /** `null`: there is no such thing. */
  | { readonly kind: 'known'; readonly value: TemplateValue }
  /** It was tried often enough to say so; it may be known yet. */
  | { readonly kind: 'failed'; readonly reason: string };

/** One value. Once it was known it stays so: the last one that was seen counts. */
export interface DataWatch {
  readonly state: DataState;
  close(): void;
}

/** On whose behalf something is read. */
export interface DataReader {
  readonly namespace: string;
  /** Who shows the token: readers with the same one see the same. Empty without a token. */
  readonly identity: string;
  /** As it holds at the moment; `undefined`: it has none. Rejects when it cannot be had. */
  readonly token: (signal: AbortSignal) => Promise<string | undefined>;
  /** The servers did not take the token: the next one is another. */
  readonly refused: () => void;
}

export interface TemplateData {
  /** `onChange` hears of every new state, and of none after `close`. */
  watch(dependency: Dependency, reader: DataReader, onChange: () => void): DataWatch;
}
