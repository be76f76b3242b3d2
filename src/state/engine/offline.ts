import type { Bytes } from '../codec.ts';
import { StoreMoved, StoreUnfinished } from '../errors.ts';
import type { LoadStep } from './engine.ts';

/** Where the state of a store went, and which state that was. */
export interface Seal {
  readonly to: string;
  /** Id of the cluster. */
  readonly cluster: string;
  readonly index: number;
}

/** Keeps agents from a store. */
export type StoreMark =
  | ({ readonly kind: 'moved' } & Seal)
  | { readonly kind: 'unfinished'; readonly from: string };

export interface Standing {
  readonly mark: StoreMark | undefined;
  readonly isEmpty: boolean;
}

/** A whole state that a store is to hold. */
export interface Filling {
  readonly index: number;
  /** Identifies the content. */
  readonly hash: string;
  /** The parts of a snapshot. `hash`: that of the last batch, where the store keeps hashes. */
  readonly parts: (hash?: string) => AsyncIterable<Bytes>;
  /** Name of the store that it comes from. */
  readonly from: string;
}

/**
 * A store that no agent uses, while its state is moved.
 *
 * Invariants
 *  O1. A store that an agent uses is refused by `open`. If an agent begins to use it later, the next change
 *      fails.
 *  O2. From the beginning of `fill` to the end of `complete`, and after `seal`, an agent refuses the store.
 *  O3. `fill` first removes what the store held, together with putting the mark.
 */
export interface OfflineStore {
  /** Names it for people and in marks. */
  readonly name: string;
  /** Changes nothing. @throws MoveRefusal, DataDirectoryInUse */
  open(): Promise<Standing>;
  /** All that is stored, as `Engine.load`, whatever the mark. */
  load(): AsyncIterable<LoadStep>;
  fill(filling: Filling): Promise<void>;
  /** Lets agents use what was filled in. */
  complete(): Promise<void>;
  seal(seal: Seal): Promise<void>;
  close(): Promise<void>;
}

/** Refuses the start of an agent on a marked store. @throws StoreMoved, StoreUnfinished */
export function requireUnmarked(where: string, mark: StoreMark | undefined): void {
  if (mark?.kind === 'moved') throw new StoreMoved(where, mark.to);
  if (mark?.kind === 'unfinished') throw new StoreUnfinished(where, mark.from);
}
