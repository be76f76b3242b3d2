import { instantToMs } from '../../base/instant.ts';
import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type {
  RestoredForNode,
  RestoreRecord,
  UnknownAllocation,
} from '../../model/snapshot/restore-record.ts';
import { allocations, clusterIdentity } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';
import type { ServerContext } from '../context.ts';

/**
 * The nodes after a restore.
 *
 * Invariants
 *  N1. For `limits.snapshot.unknownGraceMs` after a restore, a node hears of it before it hears which
 *      allocations it should run: in each term it has to register first, and its question names the last restore
 *      that it has heard of, since the answer to its registration may be lost or late. So the node keeps allocations
 *      that the snapshot does not know, and reports all that it has.
 *  N2. The allocations that are listed were reported in this term. As every node registers again in each
 *      term, the next leader hears of all of them.
 */
export class NodeReturns {
  readonly #context: Pick<ServerContext, 'state' | 'world'>;
  readonly #registered = new Set<string>();
  readonly #unknown = new Map<string, UnknownAllocation>();

  constructor(context: Pick<ServerContext, 'state' | 'world'>) {
    this.#context = context;
  }

  /** @throws RosterError `node-not-registered`, upon which a node registers */
  requireRegistered(nodeId: string): void {
    if (this.#registered.has(nodeId) || this.#restore() === undefined) return;
    throw refusal('node-not-registered', { id: nodeId });
  }

  /**
   * `heard`: the index of the last restore that the node has heard of; `undefined`: its program does not tell.
   * @throws RosterError `node-not-registered`, upon which a node registers
   */
  requireHeard(nodeId: string, heard: number | undefined): void {
    this.requireRegistered(nodeId);
    const { Index = 0 } = this.#restore() ?? {};
    if (heard !== undefined && heard < Index) throw refusal('node-not-registered', { id: nodeId });
  }

  /** Notes that the node registers. Returns what it is told of a restore. */
  noteRegistered(nodeId: string): RestoredForNode | undefined {
    const restore = this.#restore();
    if (restore === undefined) return undefined;
    this.#registered.add(nodeId);
    const forMs = instantToMs(restore.UnknownUntil) - this.#context.world.clock.nowMs();
    return { Index: restore.Index, UnknownFor: forMs * 1e6 };
  }

  /** Notes which of the allocations that a node reports are unknown here. */
  noteReports(nodeId: string, reports: readonly AllocationReport[]): void {
    if (this.#restore() === undefined) return;
    const table = this.#context.state.read().table(allocations);
    for (const { ID, ClientStatus } of reports) {
      const isKnown = rowWithId(table, ID) !== undefined;
      if (isKnown || isClientTerminal({ ClientStatus })) this.#unknown.delete(ID);
      else if (this.#unknown.size < limits.snapshot.unknownListedMax) {
        this.#unknown.set(ID, { ID, NodeID: nodeId, ClientStatus });
      }
    }
  }

  /** The unknown allocations that nodes keep. */
  unknown(): readonly UnknownAllocation[] {
    return this.#restore() === undefined ? [] : [...this.#unknown.values()];
  }

  #restore(): RestoreRecord | undefined {
    const { state, world } = this.#context;
    return currentRestore(state.read(), world.clock.nowMs());
  }
}

/** The restore after which nodes still keep unknown allocations. */
export function currentRestore(snapshot: Snapshot, nowMs: number): RestoreRecord | undefined {
  const restore = snapshot.table(clusterIdentity).get('cluster')?.Restore;
  return restore !== undefined && nowMs < instantToMs(restore.UnknownUntil) ? restore : undefined;
}
