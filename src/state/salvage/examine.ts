import type { Timers } from '../../base/ports.ts';
import { pause } from '../../base/slices.ts';
import { requireUnmarked } from '../engine/offline.ts';
import type { ExaminedStore, StoreDamage } from '../engine/salvage/examined-store.ts';
import { StateCorrupted, StateError } from '../errors.ts';
import { viewOf } from '../migrate.ts';
import { allTables } from '../tables.ts';
import type { View } from '../view.ts';
import { Losses } from './losses.ts';
import { rowFault } from './row-fault.ts';
import { loadTolerantly } from './tolerant-load.ts';

export type ExaminationStep = 'structure' | 'read' | 'rows' | 'search';

export interface Examining {
  readonly store: ExaminedStore;
  /** Names the store for people. */
  readonly name: string;
  readonly timers: Timers;
  /** Told before each step, and with the bytes of the step from time to time. */
  readonly progress: (step: ExaminationStep, bytes: number) => void;
}

export interface Examined {
  /** Every fault of the store. Empty: it is sound. */
  readonly damage: readonly StoreDamage[];
  /** The state as far as it can be read. */
  readonly view: View;
  /** The rows and pieces that are not in it. */
  readonly losses: Losses;
  /** The greatest index that is named anywhere in the store. */
  readonly lastIndex: number;
}

/**
 * Reads a whole store as an agent does, and further where an agent would give up.
 *
 * Invariants
 *  E1. Without damage the view is what an agent shows.
 *  E2. With damage and without losses, too: the damage is to the structure of the files alone.
 *
 * @throws StateFormatUnknown, StoreMoved, StoreUnfinished
 */
export async function examine(examining: Examining): Promise<Examined> {
  const { store, name, timers, progress } = examining;
  progress('structure', 0);
  const damage = [...store.structure(), ...store.ending()];
  await pause(timers);
  const view = await viewOf(store, (bytes) => progress('read', bytes)).catch((error) =>
    asDamage(error, damage),
  );
  if (view !== undefined) {
    progress('rows', 0);
    const faults = [...rowFaults(view)];
    if (damage.length + faults.length === 0) {
      return { damage, view, losses: new Losses(), lastIndex: view.index };
    }
    damage.push(...faults);
  }
  progress('search', 0);
  const legible = store.legible();
  requireUnmarked(name, legible.mark);
  damage.push(...legible.damage.filter(({ at }) => damage.every((one) => one.at !== at)));
  const { lastIndex } = legible;
  if (legible.isWhole && legible.isEndKnown && legible.isMarkKnown) {
    const whole = await viewOf(legible, () => {}).catch(() => undefined);
    if (whole !== undefined && [...rowFaults(whole)].length === 0) {
      return { damage, view: whole, losses: new Losses(), lastIndex };
    }
  }
  return { damage, ...loadTolerantly(legible, allTables), lastIndex };
}

/** Notes the error of a store that cannot be read. Rethrows any other error, such as of a store of a later version. */
function asDamage(error: unknown, damage: StoreDamage[]): undefined {
  if (error instanceof StateError && error.code !== 'state-corrupted') throw error;
  if (error instanceof StateCorrupted) damage.push({ at: error.place, fault: error.fault });
  else damage.push({ at: 'the stored state', fault: (error as Error).message });
  return undefined;
}

function* rowFaults({ tables, index }: View): Generator<StoreDamage> {
  for (const table of tables.values()) {
    for (const row of table.scan()) {
      const fault = rowFault(table, row, index);
      if (fault === undefined) continue;
      const key = table.definition.key(row).join('/');
      yield { at: `the row ${key} of the table ${table.definition.name}`, fault };
    }
  }
}
