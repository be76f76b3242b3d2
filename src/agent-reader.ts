/**
 * The program of a reader: a thread of an agent that answers requests from a copy of the state. The main thread, which
 * leads, starts it (`agent-readers.ts`) and feeds it the log. src/server/readers/DESIGN.md
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Beat, ThreadData } from './agent-thread.ts';
import { openUi, type UiSettings } from './agent-ui.ts';
import { Api, type ApiOptions } from './api/api.ts';
import type { AuditOptions, AuditSink } from './api/audit.ts';
import { AuditFile } from './api/audit-file.ts';
import type { ServerCertificate } from './api/server-certificate.ts';
import { present } from './base/assert.ts';
import { realWorld } from './base/ports-real.ts';
import { ThreadCounts } from './base/thread-counts.ts';
import { schedulerDefaults } from './scheduler/view.ts';
import type { Log } from './server/context.ts';
import { Keyring } from './server/keyring/keyring.ts';
import { type ThreadPort, threadSocket } from './server/readers/link.ts';
import { mainThread } from './server/readers/main-thread.ts';
import { Server } from './server/server.ts';
import type { Servers } from './server/servers.ts';
import type { Tracing } from './server/tracing/tracing.ts';
import { DurableIndex } from './state/engine/durable-index.ts';
import type { Fed } from './state/engine/feed.ts';
import { ReaderEngine } from './state/engine/reader.ts';
import { openState } from './state/state.ts';
import { allTables } from './state/tables.ts';
import type { State } from './state/types.ts';

/** Plain data, since it goes to another thread. */
export interface ReaderSettings {
  readonly region: string;
  readonly datacenter: string;
  readonly issuer: string | undefined;
  readonly rootKey: Uint8Array;
  readonly api: Pick<ApiOptions, 'name' | 'version' | 'connections' | 'hosts' | 'certificate'>;
  readonly acl: Omit<ApiOptions['acl'], 'secrets'>;
  readonly ui: UiSettings | undefined;
  /** `file`: `undefined` if the main thread writes the lines. */
  readonly audit:
    | { readonly file: string | undefined; readonly events: AuditOptions['events'] }
    | undefined;
  /** Whether messages of the level debug are logged. */
  readonly isVerbose: boolean;
  /** Whether requests of traces are noted. */
  readonly isTraced: boolean;
}

/** Memory that a reader shares with the main thread and the other readers. */
export interface ReaderMemory {
  readonly durable: SharedArrayBuffer;
}

interface ReaderData extends ReaderSettings, ReaderMemory, ThreadData {}

/** Messages to a reader, besides frames of streams. */
export type ToReader = Fed | Control | { readonly kind: 'verbosity'; readonly isVerbose: boolean };
type Control =
  | { readonly kind: 'listen'; readonly host: string; readonly port: number }
  | { readonly kind: 'renew'; readonly certificate: ServerCertificate }
  | { readonly kind: 'close' };

/** Messages of a reader, besides frames of streams. */
export type FromReader =
  | { readonly kind: 'ready' }
  | { readonly kind: 'listening'; readonly address: string }
  | {
      readonly kind: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly fields: object;
      readonly sentence: string;
    }
  | { readonly kind: 'audit'; readonly line: string }
  | ({ readonly kind: 'traced' } & Traced);

/** A request that belongs to a trace. */
export interface Traced {
  readonly request: Parameters<Tracing['request']>[0];
  readonly isError: boolean;
}

const world = realWorld;

async function runReader(data: ReaderData): Promise<void> {
  const port = present(parentPort, 'this file runs as a worker');
  const tell = (message: FromReader) => port.postMessage(message);
  const verbosity = { isVerbose: data.isVerbose };
  const log = logTo(port, verbosity);
  const durable = new DurableIndex(data.durable);
  const counts = new ThreadCounts(data.counts);
  const engine = new ReaderEngine(durable, (bytes) => counts.noteTaken(bytes), world);
  const socket = threadSocket(port);
  const controls = controlsOf();
  port.on('message', (message: ToReader | Beat) => {
    if (socket.take(message)) return;
    if (message.kind === 'beat') counts.noteAnswer();
    else if (message.kind === 'verbosity') verbosity.isVerbose = message.isVerbose;
    else if (message.kind === 'listen' || message.kind === 'renew' || message.kind === 'close') {
      controls.take(message);
    } else engine.take(message);
  });
  const state = await openState({
    tables: allTables,
    engine,
    timers: world.timers,
    report: (error) => {
      // The main thread starts it again.
      log.error({ error }, 'a reader cannot go on');
      process.exit(1);
    },
  });
  const servers = mainThread({
    socket,
    ...world,
    address: () => api.address,
    isCurrent: () => state.read().index >= durable.read(),
  });
  const server = newServer(data, { state, servers, log });
  const audit = data.audit && auditOf(data.audit, log, (line) => tell({ kind: 'audit', line }));
  const ui = openUi(data.ui, { timers: world.timers, log });
  const api = new Api({
    ...data.api,
    ui: { source: ui },
    server,
    acl: { ...data.acl, secrets: world.secrets },
    audit,
    tracing: data.isTraced ? { request: tracingTo(tell) } : undefined,
    isReader: true,
  });
  await server.start();
  servers.join({
    streams: server.streams,
    metrics: async () => JSON.stringify(api.metricsOfThread()),
    onError: (error) => log.error({ error }, 'a stream of the main thread failed'),
  });
  const close = async (): Promise<void> => {
    ui?.close();
    await api.close();
    server.stop();
    await state.close();
    await audit?.close();
    port.close();
  };
  controls.open((message) => {
    if (message.kind === 'renew') api.renewCertificate(message.certificate);
    else if (message.kind === 'close') void close();
    else {
      const listening = api.listen({ ...message, isShared: true });
      void listening.then((address) => tell({ kind: 'listening', address }));
    }
  });
  tell({ kind: 'ready' });
}

/** Messages wait for the reader to be open: a certificate may be renewed while it starts. */
function controlsOf() {
  const waiting: Control[] = [];
  let run = (message: Control): void => void waiting.push(message);
  return {
    take: (message: Control) => run(message),
    open: (opened: typeof run) => {
      run = opened;
      waiting.forEach(opened);
    },
  };
}

function newServer(
  { region, datacenter, issuer, rootKey, api }: ReaderData,
  parts: { readonly state: State; readonly servers: Servers; readonly log: Log },
): Server {
  return new Server({
    ...parts,
    world,
    region,
    datacenter,
    issuer,
    keyring: Keyring.follow(parts.state, rootKey, world),
    version: api.version,
    outbound: () => Promise.reject(new Error('logins run on the main thread')),
    rootSecret: undefined,
    scheduler: schedulerDefaults,
  });
}

/** The main thread sends the spans of requests. A reader runs no write, so each request has a trace already. */
const tracingTo =
  (tell: (message: FromReader) => void): Tracing['request'] =>
  (request, { isError }) => {
    tell({ kind: 'traced', request, isError });
    return request.parent?.traceId ?? '';
  };

/** All threads append to the same file, each a line at a time. */
function auditOf(
  { file, events }: NonNullable<ReaderSettings['audit']>,
  log: Log,
  write: AuditSink['write'],
) {
  const sink = file === undefined ? undefined : new AuditFile(file, log);
  return { sink: sink ?? { write }, events, close: async () => sink?.close() };
}

/** A log whose lines the main thread writes. */
function logTo(port: ThreadPort, verbosity: { readonly isVerbose: boolean }): Log {
  const lines = (level: (FromReader & { kind: 'log' })['level']) => {
    return (fields: object, sentence: string): void => {
      try {
        port.postMessage({ kind: 'log', level, fields, sentence });
      } catch {
        // An error may hold what no message can.
        port.postMessage({ kind: 'log', level, fields: {}, sentence });
      }
    };
  };
  const debug = lines('debug');
  return {
    debug: (fields, sentence) => {
      if (verbosity.isVerbose) debug(fields, sentence);
    },
    info: lines('info'),
    warn: lines('warn'),
    error: lines('error'),
  };
}

void runReader(workerData as ReaderData);
