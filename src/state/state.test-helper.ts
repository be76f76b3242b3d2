import type { World } from '../base/ports.ts';
import { MemoryDisk, MemoryEngine } from './engine/memory.ts';
import { openState, type StateOptions } from './state.ts';
import type { AnyDefinition } from './table.ts';
import type { State } from './types.ts';

/** No transaction waits for another one, so that all is done without time passing. */
export const noLinger = { lingerMs: 0 };

/** A state in memory with frozen rows, for tests. A crash leaves its disk, to open it again. */
export function memoryState(
  tables: readonly AnyDefinition[],
  world: Pick<World, 'timers'>,
  disk = new MemoryDisk(),
  { limits, ...options }: Partial<StateOptions> = {},
): Promise<State> {
  const engine = new MemoryEngine(disk, world.timers);
  const of = { tables, engine, timers: world.timers, freeze: true, ...options };
  return openState({ ...of, limits: { ...noLinger, ...limits } });
}
