import { PassThrough, type Readable } from 'node:stream';
import { delay, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import { allDefences, type Defences } from '../../defences.ts';
import { LogFiles } from '../../supervisor/log-files.ts';
import { type LogProgress, LogWriter } from '../../supervisor/log-writer.ts';
import type { LogSettings } from '../../supervisor/protocol.ts';
import { FrameReader, readStamp, secondsOf } from './log-frames.ts';
import { type LogMark, StreamReading } from './log-mark.ts';
import {
  bytesBeyond,
  freshNote,
  type LogNote,
  readNote,
  type StreamName,
  type StreamNote,
  streamNames,
  writeNote,
} from './log-mark-file.ts';
import { type Runtime, reasonOf, statusOf } from './runtime.ts';

export interface LogCollectorOptions {
  readonly runtime: Runtime;
  readonly timers: Timers;
  readonly runId: string;
  readonly containerId: string;
  readonly settings: LogSettings;
  readonly markPath: string;
  readonly tty: boolean;
  readonly defences?: Defences | undefined;
}

/**
 * Writes the output of a container to the task's log files, as for every other task.
 *
 * The runtime keeps the output. The collector goes on after the place that it reached before, known
 * by the time of an entry and a count of bytes (`log-mark.ts`).
 *
 * Invariants
 *  G1. Each byte that the runtime kept is written once, despite lost connections, killed agents and
 *      restarted runtimes.
 *  G2. A file is removed only after the note says that its bytes are written.
 *  G3. When `finish` resolves, all output that the runtime has is written.
 */
export class LogCollector {
  readonly #options: LogCollectorOptions;
  readonly #streams: Readonly<Record<StreamName, CollectedStream>>;
  readonly #ended = new AbortController();
  #note: LogNote;
  #saving: Promise<void> = Promise.resolve();
  #savedMs = 0;
  #loop: Promise<void> = Promise.resolve();

  private constructor(options: LogCollectorOptions, note: LogNote, beyond: readonly number[]) {
    this.#options = options;
    this.#note = note;
    const make = (name: StreamName, index: number) =>
      new CollectedStream(name, options.settings, {
        reading: new StreamReading(note.streams[name].mark, beyond[index]),
        onWritten: (written) => this.#noteWritten(name, written),
        defences: options.defences ?? allDefences,
      });
    this.#streams = { stdout: make('stdout', 0), stderr: make('stderr', 1) };
  }

  /** Writes the note for a container that is about to start. */
  static async prepare(runId: string, settings: LogSettings, markPath: string): Promise<void> {
    await writeNote(markPath, await freshNote(runId, settings));
  }

  static async open(options: LogCollectorOptions): Promise<LogCollector> {
    const { runId, settings, markPath } = options;
    const note = (await readNote(markPath, runId)) ?? (await freshNote(runId, settings));
    const beyond = await Promise.all(
      streamNames.map((name) => bytesBeyond(note.streams[name], settings, name)),
    );
    const collector = new LogCollector(options, note, beyond);
    collector.#loop = collector.#followLog();
    return collector;
  }

  /** After the container's end. Resolves when all its output is written. Never rejects. */
  async finish(): Promise<void> {
    await this.#stopFollowing();
    await this.#read(false, this.#options.runtime.closed).catch(() => {});
    await this.#close();
  }

  /** To be called when the agent ends. Never rejects. */
  async leave(): Promise<void> {
    await this.#stopFollowing();
    await this.#close();
  }

  async #stopFollowing(): Promise<void> {
    this.#ended.abort();
    await this.#loop;
  }

  async #close(): Promise<void> {
    await Promise.all(streamNames.map((name) => this.#streams[name].close()));
    await this.#saveNote();
  }

  async #followLog(): Promise<void> {
    const { timers, runtime } = this.#options;
    const signal = AbortSignal.any([this.#ended.signal, runtime.closed]);
    while (!signal.aborted) {
      // Podman loses lines of fast output when it follows a log, but not when it reads one.
      const follows = runtime.identity?.kind !== 'podman';
      const begunMs = performance.now();
      await this.#read(follows, signal).catch((error: unknown) => {
        // The container is gone, which its watcher knows by now.
        if (statusOf(error) === 404) this.#ended.abort();
      });
      const readMs = performance.now() - begunMs;
      await runtime.whenReturned(signal);
      // Each read makes the runtime go through the whole log, so the pause grows with the duration.
      const { logPollMs, logPollMaxMs } = limits.docker;
      const restMs = Math.min(Math.max(logPollMs, 10 * readMs), logPollMaxMs);
      await delay(timers, follows ? limits.docker.logRetryMs : restMs, signal);
    }
  }

  /** Reads from the reached place to the end of the log or, following, of the container. */
  async #read(follow: boolean, signal: AbortSignal): Promise<void> {
    const { runtime, containerId, tty } = this.#options;
    for (const name of streamNames) this.#streams[name].reading.restart();
    const marks = streamNames.map((name) => secondsOf(this.#streams[name].reading.mark.key));
    const source = await runtime.call(
      (client) =>
        new Promise<Readable>((resolve, reject) => {
          const query = {
            stdout: true,
            stderr: true,
            follow,
            timestamps: !tty,
            // A second early, as known entries are skipped and none may be missed.
            since: tty ? 0 : Math.max(0, Math.min(...marks) - 1),
          };
          client.modem.dial(
            {
              path: `/containers/${containerId}/logs?`,
              method: 'GET',
              isStream: true,
              statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
              options: query,
            },
            (error: unknown, stream: unknown) =>
              error ? reject(error as Error) : resolve(stream as Readable),
          );
        }),
    );
    const stop = () => source.destroy();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      await this.#takeAll(source);
    } catch (error) {
      if (!signal.aborted) throw new Error(reasonOf(error));
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #takeAll(source: Readable): Promise<void> {
    const frames = new FrameReader();
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (this.#options.tty) {
        await this.#streams.stdout.take('', chunk);
        continue;
      }
      for (const { stream, data } of frames.push(chunk)) {
        const { key, data: printed } = readStamp(data);
        await this.#streams[stream].take(key, printed);
      }
    }
  }

  /** G2: awaited by the writer before it goes on. */
  async #noteWritten(
    name: StreamName,
    written: StreamNote & { isNewFile: boolean },
  ): Promise<void> {
    const { mark, fileIndex, fileBytes } = written;
    const streams = { ...this.#note.streams, [name]: { mark, fileIndex, fileBytes } };
    this.#note = { ...this.#note, streams };
    const dueMs = this.#savedMs + limits.docker.logNoteIntervalMs;
    if (written.isNewFile || performance.now() >= dueMs) await this.#saveNote();
  }

  #saveNote(): Promise<void> {
    this.#savedMs = performance.now();
    this.#saving = this.#saving
      .then(() => writeNote(this.#options.markPath, this.#note))
      // The task's directory is gone, or the disk is full: then the next agent reads more again.
      .catch(() => {});
    return this.#saving;
  }
}

interface StreamHooks {
  readonly defences: Defences;
  readonly reading: StreamReading;
  onWritten(written: StreamNote & { isNewFile: boolean }): Promise<void>;
}

/** Output that was passed to the writer and is not known to be written. */
interface Pending {
  readonly mark: LogMark;
  /** Counted over all passed output. */
  readonly endsAtBytes: number;
}

class CollectedStream {
  readonly reading: StreamReading;
  readonly #pipe = new PassThrough();
  readonly #writer: LogWriter;
  readonly #files: LogFiles;
  readonly #hooks: StreamHooks;
  #pending: Pending[] = [];
  #handedBytes = 0;
  #written: { mark: LogMark; atBytes: number };

  constructor(name: StreamName, settings: LogSettings, hooks: StreamHooks) {
    this.#files = new LogFiles(settings.directory, settings.name, name);
    this.#hooks = hooks;
    this.reading = hooks.reading;
    this.#written = { mark: hooks.reading.mark, atBytes: 0 };
    this.#writer = new LogWriter(this.#pipe, settings, name, {
      onProgress: (progress) => this.#progress(progress),
      defences: hooks.defences,
    });
  }

  /** Resolves when there is room for more. */
  async take(key: string, entry: Buffer): Promise<void> {
    const before = this.reading.mark;
    const { data, isGap } = this.reading.take(key, entry);
    if (isGap) await this.#handToWriter(Buffer.from(gapSentence), before);
    if (data.length > 0) await this.#handToWriter(data, this.reading.mark);
  }

  async close(): Promise<void> {
    this.#pipe.end();
    await this.#writer.drained;
  }

  async #handToWriter(data: Buffer, mark: LogMark): Promise<void> {
    this.#handedBytes += data.length;
    this.#pending.push({ mark, endsAtBytes: this.#handedBytes });
    if (this.#pipe.write(data)) return;
    await new Promise<void>((resolve) => {
      this.#pipe.once('drain', resolve);
      this.#pipe.once('close', resolve);
    });
  }

  async #progress({ sourceBytes, fileIndex, isNewFile }: LogProgress): Promise<void> {
    let passed = 0;
    for (const { endsAtBytes, mark } of this.#pending) {
      if (endsAtBytes > sourceBytes) break;
      this.#written = { mark, atBytes: endsAtBytes };
      passed++;
    }
    this.#pending = this.#pending.slice(passed);
    const within = sourceBytes - this.#written.atBytes;
    const bytes = await this.#files.sizeOf(fileIndex);
    // A note names the end of an entry; written bytes of the next entry are beyond it.
    await this.#hooks.onWritten({
      mark: this.#written.mark,
      fileIndex,
      fileBytes: bytes - within,
      isNewFile,
    });
  }
}

const gapSentence = '\n[output was lost: the container runtime no longer has it]\n';
