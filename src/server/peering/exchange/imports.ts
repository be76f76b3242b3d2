import { inSlices, pause, type Step, takeSlice } from '../../../base/slices.ts';
import { each, type Steps } from '../../../base/steps.ts';
import { limits } from '../../../model/limits.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import type { ImportedInstance, ImportedService } from '../../../model/peering/imported.ts';
import { importedInstances, importedServices, peerings } from '../../../state/tables.ts';
import type { Transaction } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import { writeEventually } from '../../write-eventually.ts';
import type { ExchangeBounds } from './bounds.ts';
import type { PeerPlace } from './exported.ts';
import {
  type Amount,
  applied,
  bytesOf,
  type ExchangeChange,
  keyOfRow,
  type MayHave,
  measured,
  nothing,
} from './imported-rows.ts';
import { Told } from './told.ts';

/**
 * The rows imported from one peer.
 *
 * Invariants
 *  I1. All writes for a peer happen one after the other, for every stream and removal (`inTurn`). So
 *      the amount counted here is the amount in the state.
 *  I2. Nothing is written for a peering that is gone, is with another cluster by now, or is being
 *      deleted.
 *  I3. A peer has at most `limits.peering.imported…Max` rows: a change beyond that is refused whole.
 *  I4. No transaction removes more than `limits.peering.rowsPerTransactionMax` rows.
 */
export class Imports {
  readonly #context: ServerContext;
  readonly #place: PeerPlace;
  readonly #bounds: ExchangeBounds;
  readonly #signal: AbortSignal;
  #amount: Amount | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    context: ServerContext,
    place: PeerPlace,
    options: { readonly bounds: ExchangeBounds; readonly signal: AbortSignal },
  ) {
    this.#context = context;
    this.#place = place;
    this.#bounds = options.bounds;
    this.#signal = options.signal;
  }

  /** Runs the work after all work before it. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /**
   * Stores new services and instances and removes single instances, in one transaction; then
   * removes services. Resolves when everything is durable; `false`: the peering is gone.
   * @throws ChangeRefusal
   */
  async take(peeringId: string, change: ExchangeChange, mayHave: MayHave): Promise<boolean> {
    this.#amount ??= await this.#measure();
    const before = this.#amount;
    if (before === undefined) return false;
    const bounds = this.#bounds;
    const amount = await this.#write((transaction) => {
      if (!isThere(transaction, this.#place, peeringId)) return undefined;
      return applied(transaction, this.#place, { change, before, mayHave, bounds });
    });
    if (amount === undefined) return false;
    this.#amount = amount;
    for (const service of change.removedServices) await this.#removeService(service);
    return true;
  }

  /** Removes rows that are not in `told` at the moment of their removal. */
  async sweep(told: Told): Promise<void> {
    const { partition, name } = this.#place;
    const prefix = [partition, name];
    const snapshot = this.#context.state.read();
    const instances = snapshot.table(importedInstances).scan({ prefix });
    await this.#removeSome(instances, (row) => !told.hasInstance(row));
    const services = snapshot.table(importedServices).scan({ prefix });
    for (const row of await this.#findUntold(services, told)) {
      const key = { namespace: row.Namespace, name: row.Name };
      if (!told.hasService(key)) await this.#removeService(key);
    }
  }

  /** Removes everything. */
  async removeAll(): Promise<void> {
    await this.sweep(new Told());
    this.#amount = nothing;
  }

  async #findUntold(services: Iterable<ImportedService>, told: Told): Promise<ImportedService[]> {
    const found: ImportedService[] = [];
    const steps = each(services, (row) => {
      if (!told.hasService({ namespace: row.Namespace, name: row.Name })) found.push(row);
    });
    await this.#inSlices(steps);
    return found;
  }

  async #removeService(service: ServiceKey): Promise<void> {
    const prefix = [this.#place.partition, this.#place.name, service.namespace, service.name];
    for (let isDone = false; !isDone && !this.#signal.aborted; ) {
      isDone = await this.#removeRows((transaction) => {
        const table = transaction.table(importedInstances);
        const rows = firstOf(table.scan({ prefix }), this.#bounds.rowsPerTransactionMax);
        for (const row of rows) table.delete(...keyOfRow(row));
        const isLast = rows.length < this.#bounds.rowsPerTransactionMax;
        const isGone = isLast && transaction.table(importedServices).delete(...prefix);
        return { removed: rows, services: isGone ? 1 : 0, value: isLast };
      });
    }
  }

  /** Removes rows that are superfluous both when they are found and when they are removed. */
  async #removeSome(
    rows: Iterable<ImportedInstance>,
    isSuperfluous: (row: ImportedInstance) => boolean,
  ): Promise<void> {
    const { rowsPerTransactionMax } = this.#bounds;
    let part: ImportedInstance[] = [];
    const remove = () => {
      const candidates = part;
      part = [];
      return this.#removeRows((transaction) => {
        const table = transaction.table(importedInstances);
        const removed = candidates.filter(
          (row) => isSuperfluous(row) && table.delete(...keyOfRow(row)),
        );
        return { removed, services: 0, value: undefined };
      });
    };
    let looked = 0;
    for (const row of rows) {
      if (isSuperfluous(row)) part.push(row);
      if (part.length >= rowsPerTransactionMax) await remove();
      else if (++looked % rowsPerLook === 0) await pause(this.#context.world.timers);
      if (this.#signal.aborted) return;
    }
    if (part.length > 0) await remove();
  }

  async #removeRows<T>(
    run: (transaction: Transaction) => {
      readonly removed: readonly ImportedInstance[];
      readonly services: number;
      readonly value: T;
    },
  ): Promise<T> {
    const { removed, services, value } = await this.#write(run);
    const amount = this.#amount;
    if (amount !== undefined) {
      const bytes = removed.reduce((sum, row) => sum + bytesOf(row), 0);
      this.#amount = {
        services: amount.services - services,
        instances: amount.instances - removed.length,
        bytes: amount.bytes - bytes,
      };
    }
    return value;
  }

  #write<T>(run: (transaction: Transaction) => T): Promise<T> {
    const { state, world } = this.#context;
    return writeEventually({ state, timers: world.timers }, run, this.#signal);
  }

  #measure(): Promise<Amount | undefined> {
    return this.#inSlices(measured(this.#context.state.read(), this.#place));
  }

  /** `undefined`: the signal aborted before the end. */
  #inSlices<T>(steps: Steps<T>): Promise<T | undefined> {
    const { clock, timers } = this.#context.world;
    const take = (step: Step) => takeSlice(step, clock, limits.scheduler);
    return inSlices(steps, take, timers, this.#signal);
  }
}

/** Rows to look at between two pauses. Not in limits: it concerns this loop alone. */
const rowsPerLook = 2000;

function isThere(transaction: Transaction, { partition, name }: PeerPlace, id: string): boolean {
  const peering = transaction.table(peerings).get(partition, name);
  return peering?.ID === id && peering.State !== 'TERMINATED';
}

function firstOf<T>(items: Iterable<T>, count: number): T[] {
  const found: T[] = [];
  for (const item of items) {
    if (found.length >= count) break;
    found.push(item);
  }
  return found;
}
