import type { Timers } from '../../base/ports.ts';
import type { Bytes } from '../codec.ts';
import { DataDirectoryFull, Fenced } from '../errors.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from './engine.ts';
import {
  batchChecksum,
  checkPart,
  checkParts,
  LogCheck,
  type LogRecord,
  noSnapshot,
  type PartRecord,
  partChecksum,
  type SnapshotRecord,
} from './log-check.ts';

/** Faults of a disk. They may be changed at any time. */
export interface MemoryFaults {
  /** How long an append takes. Default: no time. */
  appendDelayMs?: number | undefined;
  /** The error of the next appends, if they are to fail. The disk keeps nothing of them. */
  failAppend?: ((batch: Batch) => Error | undefined) | undefined;
  /** The error of the next snapshots, if they are to fail. */
  failSnapshot?: (() => Error | undefined) | undefined;
  /** Appends and snapshots beyond it fail as on a full disk. */
  capacityBytes?: number | undefined;
}

/** The fate of the append that is under way at a crash. */
export type CrashFate = 'lost' | 'kept' | 'torn';

/** A disk that outlives the engines opened on it, for tests and the simulator. */
export class MemoryDisk {
  readonly faults: MemoryFaults = {};
  snapshot: SnapshotRecord = noSnapshot;
  parts: PartRecord[] = [];
  log: LogRecord[] = [];
  /** Sequence of the last batch whose append was acknowledged. */
  acknowledged = 0;
  /** The batch that is written but not yet durable. */
  unsynced: LogRecord | undefined;
  epoch = 0;
  engine: MemoryEngine | undefined;

  get usedBytes(): number {
    return [...this.parts, ...this.log].reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  }

  /** Ends the process: its engine can do nothing more. */
  crash(fate: CrashFate): void {
    this.epoch++;
    this.engine = undefined;
    const last = this.unsynced;
    this.unsynced = undefined;
    if (last === undefined || fate === 'lost') return;
    const half = last.bytes.slice(0, last.bytes.byteLength >> 1);
    this.log.push(fate === 'kept' ? last : { ...last, bytes: half });
  }

  /** Inverts a bit of the byte at this position of everything stored. */
  flip(position: number): void {
    let offset = position;
    for (const { bytes } of [...this.parts, ...this.log]) {
      if (offset < bytes.byteLength) {
        bytes[offset]! ^= 1 << (position & 7);
        return;
      }
      offset -= bytes.byteLength;
    }
  }

  /** Loses the last batches, although they were acknowledged. */
  cut(batches: number): void {
    this.log.splice(Math.max(0, this.log.length - batches));
  }
}

/** Keeps the log on a {@link MemoryDisk}. Opening a second engine on it fences the first. */
export class MemoryEngine implements Engine {
  readonly #disk: MemoryDisk;
  readonly #timers: Timers | undefined;
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #epoch = 0;
  #sequence = 0;
  #index = 0;

  /** `timers` are needed where appends take time. */
  constructor(disk = new MemoryDisk(), timers?: Timers) {
    this.#disk = disk;
    this.#timers = timers;
  }

  get leadership(): Leadership {
    return { leader: this.#disk.engine === this, epoch: this.#epoch };
  }

  async *load(): AsyncGenerator<Loaded> {
    const disk = this.#disk;
    const former = disk.engine;
    disk.engine = this;
    this.#epoch = ++disk.epoch;
    disk.unsynced = undefined;
    former?.fence();
    this.#dropTornTail();
    for (const [ordinal, part] of disk.parts.entries()) {
      checkPart(disk.snapshot, ordinal, part);
      yield { kind: 'snapshot-part', bytes: part.bytes };
    }
    checkParts(disk.snapshot, disk.parts.length);
    const check = new LogCheck(disk.snapshot);
    for (const record of disk.log) {
      check.next(record);
      yield { kind: 'batch', batch: record };
    }
    check.end(disk.acknowledged);
    this.#sequence = check.sequence;
    this.#index = check.index;
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    const disk = this.#disk;
    this.#checkLeads(epoch);
    if (expectedIndex !== this.#index) throw new Fenced(`the log ends at index ${this.#index}`);
    const sequence = this.#sequence + 1;
    const fault = disk.faults.failAppend?.(batch);
    if (fault !== undefined) throw fault;
    this.#reserveBytes(batch.bytes.byteLength);
    const record = { ...batch, sequence, checksum: batchChecksum(sequence, batch) };
    disk.unsynced = record;
    await this.#delay();
    if (disk.unsynced !== record) throw new Fenced('the disk was taken over');
    disk.unsynced = undefined;
    disk.log.push(record);
    disk.acknowledged = sequence;
    this.#sequence = sequence;
    this.#index = batch.lastIndex;
  }

  async saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    const stored: PartRecord[] = [];
    for await (const bytes of parts) {
      const fault = this.#disk.faults.failSnapshot?.();
      if (fault !== undefined) throw fault;
      this.#reserveBytes(bytes.byteLength);
      const ordinal = stored.length;
      stored.push({ ordinal, bytes, checksum: partChecksum(index, ordinal, bytes) });
    }
    this.#checkLeads(epoch);
    const disk = this.#disk;
    const covered = disk.log.findLast((record) => record.lastIndex <= index);
    const sequence = covered?.sequence ?? disk.snapshot.sequence;
    disk.snapshot = { index, sequence, parts: stored.length };
    disk.parts = stored;
    disk.log = disk.log.filter((record) => record.sequence > sequence);
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listen);
    return () => {
      this.#listeners.delete(listen);
    };
  }

  async close(): Promise<void> {
    if (this.#disk.engine === this) this.#disk.engine = undefined;
  }

  /** Another engine has opened the disk. */
  fence(): void {
    const { leadership } = this;
    for (const listen of [...this.#listeners]) listen({ kind: 'leadership', leadership });
  }

  /** Drops the last batch if it was not acknowledged and is torn. */
  #dropTornTail(): void {
    const { log, acknowledged } = this.#disk;
    const last = log.at(-1);
    if (last === undefined || last.sequence <= acknowledged) return;
    if (batchChecksum(last.sequence, last) !== last.checksum) log.pop();
  }

  #checkLeads(epoch: number): void {
    if (epoch !== this.#epoch || this.#disk.engine !== this) {
      throw new Fenced('another process has opened the disk');
    }
  }

  #reserveBytes(bytes: number): void {
    const { capacityBytes } = this.#disk.faults;
    if (capacityBytes === undefined) return;
    if (this.#disk.usedBytes + bytes > capacityBytes) throw new DataDirectoryFull('(memory)');
  }

  async #delay(): Promise<void> {
    const { appendDelayMs } = this.#disk.faults;
    const timers = this.#timers;
    if (appendDelayMs === undefined || timers === undefined) return;
    await new Promise<void>((resolve) => timers.after(appendDelayMs, resolve));
  }
}
