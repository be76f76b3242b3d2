import type { FileHandle } from 'node:fs/promises';
import { limits } from '../../model/limits.ts';
import { allDefences, type Defences } from '../defences.ts';
import { ByteBlock } from './byte-block.ts';
import { logWriterLimits } from './limits.ts';
import { LogFiles, type NewestLog } from './log-files.ts';
import { afterStep, type LogLimits, type LogPosition, logLimits, planLogStep } from './log-plan.ts';
import type { ByteSource } from './pipe-reader.ts';
import type { LogSettings } from './protocol.ts';

/** Whether a retry may help. An obstacle in the file's place stays. */
const mayPass = ({ code = '' }: NodeJS.ErrnoException): boolean =>
  !['EISDIR', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'EROFS'].includes(code);

export interface LogProgress {
  /** How many bytes of the source are written or given up. */
  readonly sourceBytes: number;
  readonly fileIndex: number;
  /** The file has just been made, and the oldest is about to be removed. */
  readonly isNewFile: boolean;
}

export interface LogWriterParts {
  /** Awaited before the next write. Must not reject. */
  readonly onProgress?: (progress: LogProgress) => Promise<void> | void;
  readonly defences?: Defences;
  /** Where the stream goes on, if the caller knows it. */
  readonly newest?: Promise<NewestLog>;
}

/**
 * Writes one stream of a task's output to its rotated files (`<name>.<stream>.N`). At most one
 * buffer is waiting to be written; while it is full the task's own writes wait.
 */
export class LogWriter {
  /** Resolves when the stream has ended and all of it is written. Never rejects. */
  readonly drained: Promise<void>;

  readonly #source: ByteSource;
  readonly #settings: LogSettings;
  readonly #files: LogFiles;
  readonly #limits: LogLimits;
  #gathered = new ByteBlock();
  #onItsWay = new ByteBlock();
  #ended = false;
  #wake: () => void = () => {};
  #lastFlushMs = 0;
  #file: FileHandle | undefined;
  #fileIndex = 0;
  #position: LogPosition = { fileBytes: 0, inLine: false };
  #lostBytes = 0;
  #sourceBytes = 0;
  readonly #onProgress: (progress: LogProgress) => Promise<void> | void;

  constructor(
    source: ByteSource,
    settings: LogSettings,
    stream: 'stdout' | 'stderr',
    { onProgress = () => {}, defences = allDefences, newest }: LogWriterParts = {},
  ) {
    this.#onProgress = onProgress;
    this.#source = source;
    this.#settings = settings;
    this.#files = new LogFiles(settings.directory, settings.name, stream, defences);
    this.#limits = logLimits(settings.maxFileBytes);
    source.on('data', (bytes) => this.#takeBytes(bytes));
    source.on('error', () => this.#end());
    source.on('close', () => this.#end());
    source.on('end', () => this.#end());
    source.resume();
    this.drained = this.#run(newest ?? this.#files.newest());
  }

  /** Stops waiting for the end of a stream that a process outside the task keeps open. */
  stop(): void {
    this.#source.destroy();
    this.#end();
  }

  #takeBytes(bytes: Buffer): void {
    this.#gathered.add(bytes);
    if (this.#isFull) this.#source.pause();
    this.#wake();
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }

  async #run(newest: Promise<NewestLog>): Promise<void> {
    await this.#begin(await newest);
    for (;;) {
      while (this.#gathered.length === 0 && !this.#ended) await this.#whenChanged();
      if (this.#gathered.length === 0) break;
      await this.#gatherBytes();
      [this.#gathered, this.#onItsWay] = [this.#onItsWay, this.#gathered];
      await this.#write(this.#onItsWay.bytes);
      this.#onItsWay.clear();
      await this.#tellProgress(false);
      this.#lastFlushMs = performance.now();
      if (!this.#ended) this.#source.resume();
    }
    await this.#file?.close().catch(() => {});
  }

  get #isFull(): boolean {
    return this.#gathered.length >= limits.supervisor.pipeBufferBytes;
  }

  #whenChanged(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Lets output gather until a flush is due, the buffer is full or the stream has ended. */
  async #gatherBytes(): Promise<void> {
    const dueMs = this.#lastFlushMs + logWriterLimits.flushIntervalMs - performance.now();
    if (dueMs <= 0) return;
    let due = false;
    const timer = setTimeout(() => {
      due = true;
      this.#wake();
    }, dueMs);
    while (!due && !this.#ended && !this.#isFull) await this.#whenChanged();
    clearTimeout(timer);
  }

  async #write(pending: Buffer): Promise<void> {
    let rest = pending;
    while (rest.length > 0) {
      const step = planLogStep(rest, this.#position, this.#limits);
      if (step.bytes > 0) await this.#appendBytes(rest.subarray(0, step.bytes));
      this.#position = afterStep(this.#position, rest, step);
      this.#sourceBytes += step.bytes;
      rest = rest.subarray(step.bytes);
      if (step.rotate) await this.#rotate();
    }
  }

  async #appendBytes(bytes: Buffer): Promise<void> {
    for (let attempt = 0, done = 0; ; attempt++) {
      try {
        this.#file ??= await this.#files.openToAppend(this.#fileIndex);
        if (this.#lostBytes > 0) await this.#tellLoss(this.#file);
        while (done < bytes.length) {
          done += (await this.#file.write(bytes, done)).bytesWritten;
        }
        return;
      } catch (error) {
        // The allocation's directory is gone, so nobody needs these bytes.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        if (
          !mayPass(error as NodeJS.ErrnoException) ||
          attempt >= logWriterLimits.retriesMax ||
          this.#lostBytes > 0
        ) {
          this.#lostBytes += bytes.length - done;
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, logWriterLimits.retryDelayMs));
      }
    }
  }

  async #tellLoss(file: FileHandle): Promise<void> {
    const sentence = `\n[${this.#lostBytes} bytes of output were lost: they could not be written]\n`;
    await file.write(sentence);
    this.#lostBytes = 0;
  }

  async #rotate(): Promise<void> {
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
    this.#fileIndex++;
    const oldest = this.#fileIndex - this.#settings.maxFiles;
    // Before the oldest is removed, so that a reader always finds the next one.
    await this.#appendBytes(Buffer.alloc(0));
    await this.#tellProgress(true);
    if (oldest >= 0) await this.#files.remove(oldest).catch(() => {});
  }

  async #tellProgress(isNewFile: boolean): Promise<void> {
    const sourceBytes = this.#sourceBytes;
    await this.#onProgress({ sourceBytes, fileIndex: this.#fileIndex, isNewFile });
  }

  /** Goes on where an earlier run of the task ended. */
  async #begin({ index, fileBytes, file }: NewestLog): Promise<void> {
    this.#fileIndex = index;
    this.#file = file;
    this.#position = { fileBytes, inLine: false };
    if (file === undefined) await this.#appendBytes(Buffer.alloc(0));
  }
}
