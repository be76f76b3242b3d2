/** Starts the readers of an agent, and starts them again. src/server/readers/DESIGN.md */
import type { FromReader, ReaderMemory, ReaderSettings, ToReader } from './agent-reader.ts';
import { hereServer } from './agent-servers.ts';
import type { Telemetry } from './agent-telemetry.ts';
import { AgentThread } from './agent-thread.ts';
import type { Api } from './api/api.ts';
import type { AuditSink } from './api/audit.ts';
import type { ReaderMetrics } from './api/metrics/metrics.ts';
import { ToldMetrics } from './api/metrics/sums.ts';
import type { ProfileOfReader } from './api/routes/diagnosis.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import { delay, type World } from './base/ports.ts';
import type { MonitoredLog } from './model/monitor/log-lines.ts';
import type { StreamOpener } from './model/node-stream/stream-connection.ts';
import type { Log } from './server/context.ts';
import { readerLimits } from './server/readers/limits.ts';
import { threadSocket } from './server/readers/link.ts';
import { type HereMain, ReaderLink } from './server/readers/reader-link.ts';
import { type ThreadEnds, ThreadFault } from './server/readers/thread-ends.ts';
import type { Server } from './server/server.ts';
import type { Patience } from './server/servers.ts';
import type { Engine } from './state/engine/engine.ts';
import type { FedReader } from './state/engine/feed.ts';
import { FeedingEngine } from './state/engine/feeding.ts';

export interface ReadersOptions {
  readonly count: number;
  readonly feeding: FeedingEngine;
  readonly world: World;
  readonly log: MonitoredLog;
  readonly threadEnds: ThreadEnds;
}

/** The parts of the main thread that readers need. */
export interface ReadersHere {
  readonly server: Server;
  readonly api: Api;
  readonly settings: ReaderSettings;
  /** Takes lines of the audit log that readers do not write themselves. */
  readonly sink: AuditSink | undefined;
  /** Sends the spans of requests that readers have answered. */
  readonly telemetry: Telemetry | undefined;
}

/**
 * The readers of an agent.
 *
 * Invariants
 *  R1. Requests come to readers alone, until all of them have ended at the same time: then the main thread listens too.
 *  R2. A reader that has ended is replaced by a new one, which begins with the newest durable view.
 */
export class Readers {
  readonly #options: ReadersOptions;
  /** The readers that can be asked. */
  readonly #ready = new Set<ReaderThread>();
  readonly #all = new Set<ReaderThread>();
  readonly #told = new ToldMetrics<ReaderThread>();
  #here: ReadersHere | undefined;
  #address: { readonly host: string; readonly port: number } | undefined;
  #certificate: ServerCertificate | undefined;
  #isListeningHere = false;
  #isClosed = false;

  constructor(options: ReadersOptions) {
    this.#options = options;
    options.log.lines.onVerbose(() => this.#tellVerbosity());
  }

  /** Whether lines of the level debug are wanted, by the log itself or by somebody who reads it. */
  get #isVerbose(): boolean {
    return this.#here?.settings.isVerbose === true || this.#options.log.lines.wants('debug');
  }

  #tellVerbosity(): void {
    const isVerbose = this.#isVerbose;
    for (const thread of this.#all) thread.send({ kind: 'verbosity', isVerbose });
  }

  /** The engine that feeds them. */
  get feeding(): FeedingEngine {
    return this.#options.feeding;
  }

  /** Starts all, which do not listen yet. Resolves with `false` if they cannot be started. */
  async begin(here: ReadersHere): Promise<boolean> {
    this.#here = here;
    try {
      requireSharedPorts();
      const threads = Array.from({ length: this.#options.count }, () => this.#newThread(here));
      await Promise.all([this.#feed(threads), ...threads.map(({ ready }) => ready)]);
      for (const thread of threads) this.#ready.add(thread);
      return true;
    } catch (error) {
      await this.#giveUp(error);
      return false;
    }
  }

  /** Resolves with the address at which all listen, or else the main thread. */
  async listen(http: { readonly host: string; readonly port: number }): Promise<string> {
    const { api } = this.#here!;
    try {
      const address = await this.#listenInReaders(http);
      api.reachedAt(address);
      this.#options.log.info({ readers: this.#ready.size, address }, 'readers answer requests');
      return address;
    } catch (error) {
      await this.#giveUp(error);
      return api.listen(http);
    }
  }

  async #listenInReaders({ host, port }: { host: string; port: number }): Promise<string> {
    const [first, ...others] = [...this.#ready];
    const address = await first!.listen(host, port);
    const taken = Number(/\d+$/.exec(address)![0]);
    await Promise.all(others.map((one) => one.listen(host, taken)));
    this.#address = { host, port: taken };
    return address;
  }

  async #giveUp(error: unknown): Promise<void> {
    this.#options.log.warn({ error }, 'there are no readers: the main thread answers everything');
    await this.close();
  }

  /** The connection that a node holds to a reader. */
  readonly streamTo = async (
    nodeId: string,
    patience: Patience,
  ): Promise<StreamOpener | undefined> => {
    const asked = [...this.#ready].map(({ link }) => link.streamTo(nodeId, patience));
    const found = await Promise.allSettled(asked);
    return found.map((one) => (one.status === 'fulfilled' ? one.value : undefined)).find(Boolean);
  };

  /** The profile of the reader `reader-1` and so on, in the order of their starts. */
  readonly profile: ProfileOfReader = async (thread, request) => {
    const found = [...this.#ready].find((_, at) => thread === `reader-${at + 1}`);
    return found && Buffer.from(await found.link.profile(request));
  };

  /** The parts of the API that are asked of readers. */
  get apiParts() {
    return { metricsOfReaders: this.metrics, profileOfReader: this.profile };
  }

  /** The metrics of all readers, also of those that have ended. */
  readonly metrics = async (): Promise<readonly ReaderMetrics[]> => {
    const patience = { deadlineMs: readerLimits.answerMs };
    const note = async (thread: ReaderThread): Promise<void> => {
      const families = JSON.parse(await thread.link.metrics(patience)) as ReaderMetrics;
      if (this.#ready.has(thread)) this.#told.note(thread, families);
    };
    await Promise.allSettled([...this.#ready].map(note));
    return this.#told.all;
  };

  renew(certificate: ServerCertificate): void {
    this.#certificate = certificate;
    for (const thread of this.#all) thread.send({ kind: 'renew', certificate });
  }

  /** Whether they log messages of the level debug. */
  setVerbose(isVerbose: boolean): void {
    if (this.#here === undefined) return;
    this.#here = { ...this.#here, settings: { ...this.#here.settings, isVerbose } };
    this.#tellVerbosity();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#all].map((thread) =>
        this.#ready.has(thread) ? thread.close() : thread.terminate(),
      ),
    );
  }

  #newThread({ server, api, settings, sink, telemetry }: ReadersHere): ReaderThread {
    const { feeding, world, log, threadEnds } = this.#options;
    const { answer, lags } = hereServer(server, api);
    const here: HereMain = {
      answer,
      lags,
      streamTo: async (nodeId, patience) =>
        server.streams.held(nodeId) ?? this.streamTo(nodeId, patience),
      // Between two terms peers are refused, as where the main thread listens.
      takePeer: async (link) =>
        server.leads ? server.peerings.accept(link) : link.close('the server does not lead'),
    };
    const certificate = this.#certificate ?? settings.api.certificate;
    const thread = new ReaderThread({
      settings: { ...settings, api: { ...settings.api, certificate }, isVerbose: this.#isVerbose },
      durable: feeding.durable.memory,
      here,
      sink,
      telemetry,
      world,
      log,
      threadEnds,
    });
    this.#all.add(thread);
    void thread.ended.then((error) => this.#replace(thread, error));
    return thread;
  }

  #feed(threads: readonly ReaderThread[]): Promise<void> {
    return this.#options.feeding.feed(this.#here!.server.context.state.read(), threads);
  }

  /** R1, R2. */
  async #replace(thread: ReaderThread, error: Error | undefined): Promise<void> {
    const { feeding, log, world } = this.#options;
    feeding.forget(thread);
    this.#all.delete(thread);
    this.#ready.delete(thread);
    this.#told.end(thread);
    if (this.#isClosed || this.#address === undefined) return;
    const { host, port } = this.#address;
    log.error({ error }, 'a reader has ended: it is started again');
    const here = this.#here!;
    if (this.#ready.size === 0 && !this.#isListeningHere) {
      this.#isListeningHere = true;
      await here.api.listen({ host, port, isShared: true }).catch((fault: unknown) => {
        this.#isListeningHere = false;
        log.error({ error: fault }, 'the main thread cannot listen');
      });
    }
    await delay(world.timers, readerLimits.restartMs);
    if (this.#isClosed) return;
    const next = this.#newThread(here);
    try {
      await Promise.all([this.#feed([next]), next.ready]);
      this.#ready.add(next);
      await next.listen(host, port);
      log.info({}, 'a reader answers again');
    } catch {
      // Then it is replaced itself.
      next.terminate();
    }
  }
}

/**
 * The readers of an agent over the engine; `undefined`: there are none.
 *
 * @throws Error where several processes may hold the log
 */
export function readersOf(
  {
    readers: count = 0,
    http,
    ...rest
  }: Omit<ReadersOptions, 'count' | 'feeding'> & {
    readonly readers?: number;
    readonly http?: object | undefined;
  },
  engine: Engine,
): Readers | undefined {
  if (count === 0 || http === undefined) return undefined;
  if (engine.end !== undefined) throw new Error('readers need a log that this process holds alone');
  return new Readers({ count, feeding: new FeedingEngine(engine, rest.world.timers), ...rest });
}

/** @throws Error */
function requireSharedPorts(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 23 || (major === 23 && minor >= 1)) return;
  throw new Error(`Node ${process.versions.node} cannot share a port among threads: 23.1 can`);
}

interface ThreadOptions extends Pick<ReadersHere, 'sink' | 'settings' | 'telemetry'> {
  readonly here: HereMain;
  readonly durable: SharedArrayBuffer;
  readonly world: World;
  readonly log: Log;
  readonly threadEnds: ThreadEnds;
}

/** A reader, as the main thread has it. */
class ReaderThread implements FedReader {
  /** Resolves when it shows the state that it was started with. */
  readonly ready: Promise<void>;
  /** Resolves with the reason, if it is known. */
  readonly ended: Promise<Error | undefined>;
  readonly link: ReaderLink;
  readonly #options: ThreadOptions;
  readonly #thread: AgentThread;
  #isReady: () => void = () => {};
  #listens: (address: string) => void = () => {};

  constructor(options: ThreadOptions) {
    const { settings, durable, here, world, log, threadEnds: ends } = options;
    this.#options = options;
    const data: ReaderSettings & ReaderMemory = { ...settings, durable };
    const { silentBeats } = readerLimits;
    this.#thread = new AgentThread({ noun: 'reader', data, silentBeats, world, log, ends });
    const { worker, ended } = this.#thread;
    const socket = threadSocket(worker);
    const onError = (error: unknown) => log.error({ error }, 'a stream of a reader failed');
    this.link = new ReaderLink({ id: 'reader', socket, timers: world.timers, here, onError });
    worker.on('message', (message: FromReader) => {
      if (!socket.take(message)) this.#takeMessage(message);
    });
    this.ended = ended.finally(() => socket.ended());
    this.ready = this.#orEnd(
      new Promise((resolve) => {
        this.#isReady = resolve;
      }),
    );
    this.ready.catch(() => {});
  }

  send(message: ToReader): void {
    this.#thread.worker.postMessage(message);
  }

  taken(): number {
    return this.#thread.taken();
  }

  tooSlow(): void {
    this.#thread.end(new ThreadFault('slow', 'it does not keep up with the log'));
  }

  terminate(): void {
    this.#thread.end();
  }

  /** Resolves with its address. */
  listen(host: string, port: number): Promise<string> {
    const listening = new Promise<string>((resolve) => {
      this.#listens = resolve;
    });
    this.send({ kind: 'listen', host, port });
    return this.#orEnd(listening);
  }

  async close(): Promise<void> {
    this.send({ kind: 'close' });
    const late = this.#options.world.timers.after(readerLimits.endMs, () => this.terminate());
    await this.ended;
    late.clear();
  }

  #takeMessage(message: FromReader): void {
    const { log, sink, telemetry } = this.#options;
    if (message.kind === 'ready') this.#isReady();
    else if (message.kind === 'listening') this.#listens(message.address);
    else if (message.kind === 'audit') sink?.write(message.line);
    else if (message.kind === 'traced') telemetry?.tracing.request(message.request, message);
    else log[message.level](message.fields, message.sentence);
  }

  #orEnd<T>(promise: Promise<T>): Promise<T> {
    const ended = this.ended.then((error) => {
      throw error ?? new Error('the thread has ended');
    });
    return Promise.race([promise, ended]);
  }
}
