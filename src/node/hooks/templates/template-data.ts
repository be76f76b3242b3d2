/** Values from outside the task's directory that templates read and watch. */
import type { Dependency } from '../../../language/template/run-context.ts';
import type { TemplateValue } from '../../../language/template/value.ts';

export type DataState =
  /** No answer has come yet. */
  | { readonly kind: 'pending' }
  /** `null`: the value does not exist. */
  | { readonly kind: 'known'; readonly value: TemplateValue }
  /** Several attempts have failed; later ones may still succeed. */
  | { readonly kind: 'failed'; readonly reason: string };

/** One watched value. Once known, it stays known: the last one counts. */
export interface DataWatch {
  readonly state: DataState;
  close(): void;
}

/** The identity in whose name a value is read. */
export interface DataReader {
  readonly namespace: string;
  /** Identifies the token: readers with the same identity see the same. Empty without a token. */
  readonly identity: string;
  /** The valid token; `undefined`: there is none. Rejects when it cannot be fetched. */
  readonly token: (signal: AbortSignal) => Promise<string | undefined>;
  /** To be called when the servers refuse the token, so that the next one is new. */
  readonly refused: () => void;
}

export interface TemplateData {
  /** `onChange` is called for every new state, but not after `close`. */
  watch(dependency: Dependency, reader: DataReader, onChange: () => void): DataWatch;
}
