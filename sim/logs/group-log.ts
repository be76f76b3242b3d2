/** The log that the servers of a cluster share. It outlives them. */
import type { Random } from '../../src/base/ports.ts';
import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Batch } from '../../src/state/engine/engine.ts';
import type { Fault } from '../faults.ts';
import type { Storage } from '../server.ts';

export interface GroupLogOptions {
  readonly world: SimulatedWorld;
  readonly random: Random;
  /**
   * Called with each batch at the moment in which it becomes durable.
   *
   * @param isRecovery whether an operator has put it after batches were lost
   */
  readonly appended: (batch: Batch, isRecovery?: boolean) => void;
  /** Takes a sentence that tells why the log does not hold a whole state. */
  readonly fault: (sentence: string) => void;
  /** Takes a sentence that tells what a server says of the log and cannot know. */
  readonly overstated: (sentence: string) => void;
  /** Whether servers keep on their machines what they know of the log. */
  readonly keepsMemory: boolean;
}

export interface GroupLog {
  /** Epoch of the newest term. */
  readonly epoch: number;
  /** The storage of another server. */
  addServer(): Storage;
  /** The storage of a server that does not belong to the cluster; absent where every server may write. */
  addStranger?(): Storage;
  /** Whether a fault of the log explains the error of a server; absent where it explains none by itself. */
  explains?(error: unknown): boolean;
  /** Ends the lease of the leader. */
  depose(): void;
  faults(random: Random): readonly Fault[];
  /** Operators change what servers may do with the log. */
  faultsOfOperators(): readonly Fault[];
  /** Leaders sleep at the changes of the log that have to be fenced. */
  faultsOfSleep(random: Random): readonly Fault[];
}
