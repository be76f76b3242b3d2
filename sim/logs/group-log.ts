/** The log that the servers of a cluster share. It outlives them. */
import type { Random } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Batch } from '../../src/state/engine/engine.ts';
import type { Fault } from '../faults.ts';
import type { Storage } from '../server.ts';

export interface GroupLogOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  /** Called with each batch at the moment in which it becomes durable. */
  readonly appended: (batch: Batch) => void;
  /** Takes a sentence that tells why the log does not hold a whole state. */
  readonly fault: (sentence: string) => void;
}

export interface GroupLog {
  /** Epoch of the newest term. */
  readonly epoch: number;
  /** The storage of another server. */
  addServer(): Storage;
  /** Ends the lease of the leader. */
  depose(): void;
  faults(random: Random): readonly Fault[];
  /** Leaders sleep at the changes of the log that have to be fenced. */
  faultsOfSleep(random: Random): readonly Fault[];
}
