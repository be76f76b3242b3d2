import { defaultPartition } from '../../../model/namespace/namespace.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import { serviceOfText, textOfService } from '../../../model/peering/exports.ts';
import type { Sending } from '../../../model/peering/why.ts';
import { serviceRegistrations } from '../../../state/tables.ts';
import type { Snapshot } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import type { ExchangeLink } from '../exchange.ts';
import type { ExchangeBounds } from './bounds.ts';
import { exportedInstance, GrowingChange } from './change.ts';
import { type Exported, ownInstances } from './exported.ts';
import { protocolOf } from './protocols.ts';

/**
 * Tells one peer, over one stream, the services exported to it.
 *
 * Invariants (X1 and X3 of `model/peering/exchange.ts`)
 *  S1. It keeps the names of the told services, and keys of services and instances that are yet to be
 *      told, at most `limits.peering.changedInstancesMax` instances. If more change while the peer is
 *      slow, the keys are dropped and everything is told again from `begin`.
 *  S2. The state is read when there is room in the window, never before.
 *  S3. A change of a told service is noted until it is told. So the peer ends up with the current
 *      state, however long it takes.
 *  S4. One change is sent at a time, and others get their turn before the next one.
 */
export class Sender {
  readonly #context: ServerContext;
  readonly #exported: Exported;
  readonly #link: ExchangeLink;
  readonly #bounds: ExchangeBounds;
  /** Told services, as texts, with the time of the last acknowledged change. */
  readonly #told = new Map<string, number>();
  /** Services to be told in full, told again without their instances, or removed, each with the time of its change. */
  readonly #services = new Map<string, number>();
  /** Changed instances of told services, each with the time of its change. */
  readonly #instances = new Map<string, Map<string, number>>();
  #instanceCount = 0;
  /** The service that is being told in full, and its last instance that was told. */
  #telling: { readonly text: string; after: string; readonly sinceMs: number } | undefined;
  /** Changes that are not acknowledged, the oldest first. */
  readonly #underWay: {
    readonly id: number;
    readonly touched: ReadonlySet<string>;
    readonly sinceMs: number;
  }[] = [];
  /** When the oldest loss or change of rules came; `undefined`: none waits. */
  #allSinceMs: number | undefined;
  #lastId = 0;
  /** Between `begin` and `complete`. */
  #isTellingAll = false;
  /** More has changed than is kept: everything is told again. */
  #hasLost = true;
  #mustReview = false;
  #isScheduled = false;
  #isClosed = false;

  constructor(
    context: ServerContext,
    options: {
      readonly exported: Exported;
      readonly link: ExchangeLink;
      readonly bounds: ExchangeBounds;
    },
  ) {
    this.#context = context;
    this.#exported = options.exported;
    this.#link = options.link;
    this.#bounds = options.bounds;
  }

  get peering(): ExchangeLink['peering'] {
    return this.#link.peering;
  }

  start(): void {
    this.#allSinceMs = this.#nowMs;
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Notes a new, changed or removed instance of this cluster. */
  noteInstance(service: ServiceKey, id: string): void {
    const text = textOfService(service);
    if (this.#told.has(text)) {
      if (!this.#hasLost) this.#noteOf(text, id);
    } else if (this.#exported.isExported(service, this.peering)) this.#want(text);
    else return;
    this.#schedule();
  }

  /** Notes a service whose first routing entry came or whose last one went. */
  noteChain(text: string): void {
    const isExported = this.#exported.isExported(serviceOfText(text), this.peering);
    if (isExported === this.#told.has(text)) return;
    this.#want(text);
    this.#schedule();
  }

  /** Notes a service whose protocol may have changed; `*`: all services. */
  noteProtocol(text: string): void {
    if (text === '*') for (const told of this.#told.keys()) this.#want(told);
    else if (this.#told.has(text)) this.#want(text);
    this.#schedule();
  }

  /** Looks at all services again, since the export rules changed. */
  review(): void {
    this.#mustReview = true;
    this.#allSinceMs ??= this.#nowMs;
    this.#schedule();
  }

  /** Handles an acknowledgement. Returns a reason if the peer was not allowed to send it. */
  acknowledge(id: number): string | undefined {
    const oldest = this.#underWay[0];
    if (oldest?.id !== id) {
      const expected = oldest === undefined ? 'none is under way' : `${oldest.id} comes first`;
      return `the change ${id} was acknowledged, but ${expected}`;
    }
    this.#underWay.shift();
    const atMs = this.#context.world.clock.nowMs();
    for (const text of oldest.touched) if (this.#told.has(text)) this.#told.set(text, atMs);
    this.#schedule();
    return undefined;
  }

  /** Time since the oldest change that the peer has not acknowledged; 0: it has all. */
  get lagMs(): number {
    const sinceMs = this.#underWay[0]?.sinceMs ?? this.#oldestMs;
    return sinceMs === undefined ? 0 : Math.max(this.#nowMs - sinceMs, 0);
  }

  get #nowMs(): number {
    return this.#context.world.clock.nowMs();
  }

  /** The time of the oldest change that is yet to be told; `undefined`: there is none. */
  get #oldestMs(): number | undefined {
    const [service] = this.#services.values();
    const instances = [...this.#instances.values()].map((ids) => ids.values().next().value);
    const waiting = [this.#allSinceMs, this.#telling?.sinceMs, service, ...instances];
    const found = waiting.filter((time) => time !== undefined);
    return found.length === 0 ? undefined : found.reduce((least, time) => Math.min(least, time));
  }

  #want(text: string, sinceMs = this.#nowMs): void {
    if (!this.#services.has(text)) this.#services.set(text, sinceMs);
  }

  stateOf(service: ServiceKey): Sending {
    const text = textOfService(service);
    const isWaiting =
      this.#hasLost ||
      this.#services.has(text) ||
      this.#instances.has(text) ||
      this.#telling?.text === text;
    if (isWaiting) return { kind: 'waiting' };
    if (this.#underWay.some(({ touched }) => touched.has(text))) return { kind: 'sent' };
    const atMs = this.#told.get(text);
    return atMs === undefined ? { kind: 'not told' } : { kind: 'acknowledged', atMs };
  }

  #noteOf(text: string, id: string): void {
    const changed = this.#instances.get(text) ?? new Map<string, number>();
    if (changed.has(id)) return;
    if (this.#instanceCount >= this.#bounds.changedInstancesMax) {
      this.#hasLost = true;
      this.#allSinceMs ??= this.#oldestMs ?? this.#nowMs;
      this.#forgetInstances();
      return;
    }
    this.#instances.set(text, changed.set(id, this.#nowMs));
    this.#instanceCount++;
  }

  #forgetInstances(): void {
    this.#instances.clear();
    this.#instanceCount = 0;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    this.#context.world.timers.soon(() => {
      this.#isScheduled = false;
      this.#sendNext();
    });
  }

  /** Sends one change, or the frame between two passes over everything. */
  #sendNext(): void {
    if (this.#isClosed || this.#underWay.length >= this.#bounds.window) return;
    if (this.#hasLost && !this.#isTellingAll) this.#begin();
    else if (this.#mustReview) this.#lookAtAll();
    const sinceMs = this.#oldestMs ?? this.#nowMs;
    const change = new GrowingChange(this.#bounds);
    this.#fillChange(change, this.#context.state.read());
    if (!change.isEmpty) this.#send(change, sinceMs);
    else if (this.#isTellingAll && !this.#hasWork) this.#complete();
    if (this.#hasWork || this.#isTellingAll || this.#hasLost) this.#schedule();
  }

  get #hasWork(): boolean {
    const isAny = this.#services.size > 0 || this.#instances.size > 0;
    return isAny || this.#telling !== undefined || this.#mustReview;
  }

  #begin(): void {
    this.#told.clear();
    this.#services.clear();
    this.#forgetInstances();
    this.#telling = undefined;
    this.#hasLost = false;
    this.#isTellingAll = true;
    this.#post(() => this.#link.send({ type: 'begin' }));
    this.#lookAtAll();
  }

  #complete(): void {
    this.#isTellingAll = false;
    this.#post(() => this.#link.send({ type: 'complete' }));
  }

  #lookAtAll(): void {
    this.#mustReview = false;
    const sinceMs = this.#allSinceMs ?? this.#nowMs;
    this.#allSinceMs = undefined;
    const wanted = this.#exported.servicesTo(this.peering);
    for (const text of wanted) if (!this.#told.has(text)) this.#want(text, sinceMs);
    for (const text of this.#told.keys()) {
      if (!this.#exported.isExported(serviceOfText(text), this.peering)) {
        this.#want(text, sinceMs);
      }
    }
  }

  #send(change: GrowingChange, sinceMs: number): void {
    const id = ++this.#lastId;
    this.#underWay.push({ id, touched: change.touched, sinceMs });
    this.#post(() => this.#link.send(change.frame(id)));
  }

  #post(send: () => boolean): void {
    if (!this.#isClosed && !send()) this.#isClosed = true;
  }

  /**
   * Half of the frame is kept for services told in full, so that they and changed instances do not
   * hold up each other.
   */
  #fillChange(change: GrowingChange, snapshot: Snapshot): void {
    const { instancesPerChangeMax } = this.#bounds;
    this.#fillChanged(change, snapshot, instancesPerChangeMax / 2);
    this.#fillWhole(change, snapshot);
    this.#fillChanged(change, snapshot, instancesPerChangeMax);
  }

  #fillChanged(change: GrowingChange, snapshot: Snapshot, countMax: number): void {
    const isFull = () => change.isFull || change.count >= countMax;
    for (const [text, ids] of this.#instances) {
      if (isFull()) return;
      const service = serviceOfText(text);
      if (!this.#exported.isExported(service, this.peering)) {
        this.#removeService(change, text);
        continue;
      }
      for (const id of ids.keys()) {
        if (isFull()) return;
        ids.delete(id);
        this.#instanceCount--;
        this.#tellInstance(change, snapshot, { ...service, id });
      }
      this.#instances.delete(text);
    }
  }

  #tellInstance(
    change: GrowingChange,
    snapshot: Snapshot,
    key: ServiceKey & { readonly id: string },
  ): void {
    const row = snapshot
      .table(serviceRegistrations)
      .get(defaultPartition, key.namespace, key.name, key.id);
    if (row === undefined || !change.instance(exportedInstance(row))) change.removedInstance(key);
  }

  #fillWhole(change: GrowingChange, snapshot: Snapshot): void {
    while (!change.isFull) {
      if (this.#telling !== undefined) this.#tellOn(change, snapshot, this.#telling);
      else {
        const [next] = this.#services;
        if (next === undefined) return;
        this.#services.delete(next[0]);
        this.#addService(change, snapshot, next);
      }
    }
  }

  #addService(
    change: GrowingChange,
    snapshot: Snapshot,
    [text, sinceMs]: readonly [string, number],
  ): void {
    const service = serviceOfText(text);
    const isTold = this.#told.has(text);
    if (!this.#exported.isExported(service, this.peering)) {
      if (isTold) this.#removeService(change, text);
      return;
    }
    change.service({ ...service, protocol: protocolOf(snapshot, this.peering.partition, service) });
    if (isTold) return;
    this.#told.set(text, 0);
    if (this.peering.partition === defaultPartition) this.#telling = { text, after: '', sinceMs };
  }

  #tellOn(
    change: GrowingChange,
    snapshot: Snapshot,
    telling: { readonly text: string; after: string; readonly sinceMs: number },
  ): void {
    const service = serviceOfText(telling.text);
    // The service may have been removed by a change, or is about to be.
    if (this.#told.has(telling.text) && this.#exported.isExported(service, this.peering)) {
      const from = telling.after === '' ? undefined : telling.after;
      for (const row of ownInstances(snapshot, service, from)) {
        if (row.ID === from) continue;
        if (change.isFull) return;
        telling.after = row.ID;
        if (!change.instance(exportedInstance(row))) this.#leaveOut(row.ID);
      }
    }
    this.#telling = undefined;
  }

  #removeService(change: GrowingChange, text: string): void {
    const ids = this.#instances.get(text);
    this.#instanceCount -= ids?.size ?? 0;
    this.#instances.delete(text);
    if (this.#told.delete(text)) change.removedService(serviceOfText(text));
  }

  #leaveOut(id: string): void {
    const { log } = this.#context;
    log.warn(
      { peer: this.peering.name, instance: id },
      'an instance of a service is too large for a peer',
    );
  }
}
