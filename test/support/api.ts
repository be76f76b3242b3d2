import type { DefaultPolicy } from '../../src/acl/authorizer.ts';
import { Api } from '../../src/api/api.ts';
import type { AuditOptions } from '../../src/api/audit.ts';
import type { ForeignDialect } from '../../src/api/dialect/dialect.ts';
import type { ServerCertificate } from '../../src/api/server-certificate.ts';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { schedulerDefaults } from '../../src/scheduler/view.ts';
import { noReset } from '../../src/server/acl/bootstrap.ts';
import { type Log, silentLog } from '../../src/server/context.ts';
import { Keyring } from '../../src/server/keyring/keyring.ts';
import { type Outbound, OutboundError } from '../../src/server/login/outbound.ts';
import type { Exchange } from '../../src/server/peering/exchange.ts';
import type { PeeringTransport } from '../../src/server/peering/link.ts';
import { Server } from '../../src/server/server.ts';
import { MemoryDisk } from '../../src/state/engine/memory.ts';
import { memoryState } from '../../src/state/state.test-helper.ts';
import { allTables } from '../../src/state/tables.ts';
import { type Assemble, startThree, testsFollower } from './follower.ts';
import { letIn } from './introduction.ts';
import { startReader, testsReader } from './reader.ts';

export interface CallOptions {
  readonly body?: unknown;
  /** `null`: no token. By default the root token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The address of the caller. */
  readonly address?: string;
}

export interface Called {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

export const rootToken = '11111111-1111-4111-8111-111111111111';
export { introduction } from './introduction.ts';

/** Infos of the server's log that are kept. */
const infosKept = 20;

/** An unreachable identity provider. */
export const nowhere: Outbound = async ({ url }) => {
  throw new OutboundError(`${url} cannot be reached: ECONNREFUSED`);
};

const rootKey = new Uint8Array(32).fill(1);

/** The server and its API on simulated time and memory, called without a port. */
export async function startApi({
  aclEnabled = true,
  aclDefaultPolicy = 'deny' as DefaultPolicy,
  seed = 1,
  startMs = Date.UTC(2026, 0, 1),
  outbound = nowhere as Outbound,
  audit = undefined as AuditOptions | undefined,
  hasRoot = true,
  bootstrapReset = noReset,
  log = silentLog as Log,
  world = new SimulatedWorld(seed, startMs),
  disk = new MemoryDisk(),
  peers = undefined as PeeringTransport | undefined,
  exchange = undefined as Exchange | undefined,
  datacenter = 'dc1',
  hosts = [] as readonly string[],
  dialects = [] as readonly ForeignDialect[],
  node = undefined as string | undefined,
  certificate = undefined as ServerCertificate | undefined,
} = {}) {
  const infos: object[] = [];
  const assemble: Assemble = (state, keyring, { servers, readers, ...thread } = {}) => {
    const server = new Server({
      state,
      world,
      log: recordingLog(log, infos),
      keyring,
      outbound,
      datacenter,
      ...(servers && { servers }),
      readers,
      ...(peers && { peers }),
      ...(exchange && { exchange: exchange }),
      region: 'global',
      rootSecret: hasRoot ? rootToken : undefined,
      bootstrapReset,
      scheduler: schedulerDefaults,
    });
    const api = new Api({
      server,
      acl: {
        enabled: aclEnabled,
        defaultPolicy: aclDefaultPolicy,
        secrets: world.secrets,
      },
      name: 'test',
      version: '0.0.0',
      connections: { perAddressMax: 0, perLoopbackMax: 0 },
      hosts,
      dialects,
      node: () => node,
      certificate,
      audit,
      ...thread,
    });
    return { server, api };
  };
  const { state, server, api } = await startServer(world, disk, assemble);
  await letIn(state, world);

  /** Lets everything that is ready happen, without time passing. */
  const settle = () => world.advance(0);
  /** Why the newest login was refused, as the answer says and as only the log does. */
  const whyRefused = ({ json }: Called): string => {
    const logged = infos.findLast((fields) => 'reason' in fields) as { reason: string } | undefined;
    return `${json.detail} ${logged?.reason ?? ''}`;
  };
  return {
    world,
    disk,
    state,
    server,
    api,
    ...callsOf(api),
    settle,
    worked: workedOn(settle),
    whyRefused,
  };
}

/** The server under test is alone, or what the environment says. */
function startServer(world: SimulatedWorld, disk: MemoryDisk, assemble: Assemble) {
  if (testsFollower) return startThree(world, rootKey, assemble, { disk });
  if (testsReader) return startReader(world, rootKey, assemble, disk);
  return startAlone(world, disk, assemble);
}

async function startAlone(world: SimulatedWorld, disk: MemoryDisk, assemble: Assemble) {
  const state = await memoryState(allTables, world, disk);
  const { server, api } = assemble(state, await Keyring.open(state, rootKey, world));
  await server.start();
  return { state, server, api };
}
/** The result of work in slices, which waits for its turns. */
const workedOn =
  (settle: () => Promise<void>) =>
  async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) await settle();
    return work;
  };

/** Passes everything on, and keeps the newest infos. */
const recordingLog = (log: Log, infos: object[]): Log => ({
  ...log,
  info(fields, sentence) {
    infos.push(fields);
    if (infos.length > infosKept) infos.shift();
    log.info(fields, sentence);
  },
});

function callsOf(api: Api) {
  async function call(method: string, url: string, options: CallOptions = {}): Promise<Called> {
    const [path = '', query = ''] = url.split('?', 2);
    const { token = rootToken, body, headers = {}, address } = options;
    // The event stream has no end, and a snapshot needs turns to be made: they are aborted.
    const isAborted =
      path === '/v1/event/stream' || (method === 'GET' && path === '/v1/operator/snapshot');
    // Logs have no end, and profiles take time: they are aborted once they have begun.
    const leave = isLong(path) && options.signal === undefined ? new AbortController() : undefined;
    const { signal = isAborted ? AbortSignal.abort() : leave?.signal } = options;
    const answer = await api.handle({
      method,
      path,
      query,
      headers: { ...(token !== null && { 'x-registry-token': token }), ...headers },
      body: body === undefined ? undefined : encode(body),
      ...(address !== undefined && { remoteAddress: address }),
      ...(signal && { onGone: onAbort(signal) }),
    });
    leave?.abort();
    const bytes = await bytesOf(answer.body).catch((error) => {
      if (!signal?.aborted) throw error;
      return Buffer.alloc(0);
    });
    const text = bytes.toString();
    const isJson = /json/.test(answer.headers['content-type'] ?? '') && text !== '';
    return { ...answer, bytes, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** Parses the lines of a stream until `stop` is called. */
  async function follow(url: string, token: string | null = rootToken) {
    const [path = '', query = ''] = url.split('?', 2);
    const gone = new AbortController();
    const headers = token === null ? {} : { 'x-registry-token': token };
    const onGone = onAbort(gone.signal);
    const answer = await api.handle({
      method: 'GET',
      path,
      query,
      headers,
      body: undefined,
      onGone,
    });
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const lines: any[] = [];
    const isOver = (async () => {
      if (typeof answer.body === 'string' || answer.body === undefined) return;
      for await (const part of answer.body as AsyncIterable<Uint8Array>) {
        for (const line of Buffer.from(part).toString().trimEnd().split('\n')) {
          lines.push(JSON.parse(line));
        }
      }
    })().catch((error) => {
      if (!gone.signal.aborted) throw error;
    });
    return { status: answer.status, lines, isOver, stop: () => gone.abort() };
  }

  return { call, follow };
}

const isLong = (path: string): boolean => /^\/v1\/agent\/(monitor$|pprof\/)/.test(path);

const onAbort = (signal: AbortSignal) => (run: () => void) => {
  if (signal.aborted) run();
  signal.addEventListener('abort', run);
  return () => signal.removeEventListener('abort', run);
};

export type TestApi = Awaited<ReturnType<typeof startApi>>;

const encode = (body: unknown): Uint8Array =>
  body instanceof Uint8Array
    ? body
    : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));

async function bytesOf(body: unknown): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  const parts: Uint8Array[] = [];
  for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part);
  return Buffer.concat(parts);
}

/** A valid job, with the changes of a test. */
export const jobBody = (changes: object = {}, group: object = {}, task: object = {}) => ({
  Job: {
    ID: 'web',
    Type: 'service',
    TaskGroups: [
      {
        Name: 'web',
        Count: 1,
        Tasks: [
          {
            Name: 'server',
            Driver: 'mock',
            Config: { run_for: '10s' },
            Resources: { CPU: 100, MemoryMB: 64 },
            ...task,
          },
        ],
        ...group,
      },
    ],
    ...changes,
  },
});

export const nodeBody = (changes: object = {}) => ({
  SecretID: '33333333-3333-4333-8333-333333333333',
  Node: {
    ID: '44444444-4444-4444-8444-444444444444',
    Name: 'node-1',
    Datacenter: 'dc1',
    Attributes: { 'kernel.name': 'linux', 'roster.service_discovery': 'true' },
    NodeResources: {
      Cpu: { CpuShares: 4000, TotalCpuCores: 2 },
      Memory: { MemoryMB: 8192 },
      Disk: { DiskMB: 100_000 },
      Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
    },
    Drivers: { mock: { Detected: true, Healthy: true } },
    ...changes,
  },
});
