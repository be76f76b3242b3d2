import {
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  credentials,
  logVerbosity,
  Metadata,
  setLogVerbosity,
} from '@grpc/grpc-js';
import type { Clock, Timers } from '../../../base/ports.ts';
import { releaseUnshared } from '../../../base/release.ts';
import {
  type Comparison,
  type EtcdClient,
  EtcdError,
  type EtcdStatus,
  type KeySpan,
  type KeyValue,
  type Operation,
  type RangeAnswer,
  type RangeRequest,
  type TxnAnswer,
  type TxnRequest,
  type WatchListener,
} from './client.ts';
import { errorOf, isLoginOver } from './grpc-errors.ts';
import { LeaseStream } from './lease-stream.ts';
import { type EtcdLimits, etcdLimits } from './limits.ts';
import type { OpenStream } from './open-stream.ts';
import {
  alarmNoSpace,
  compareResults,
  compareTargets,
  type HeaderForm,
  type KeyValueForm,
  type Method,
  methods,
  type RangeForm,
} from './protocol.ts';
import { WatchStream } from './watch-stream.ts';

export interface EtcdAddress {
  /** Each `host:port`. */
  readonly endpoints: readonly string[];
  /** `undefined`: without TLS. All in PEM. */
  readonly tls?:
    | {
        /** `undefined`: the authorities of the system. */
        readonly authorities?: string | undefined;
        readonly certificate?: string | undefined;
        readonly privateKey?: string | undefined;
      }
    | undefined;
  readonly login?:
    | {
        readonly user: string;
        /** Read anew before each login, since it may have been changed meanwhile. */
        readonly password: () => Promise<string>;
      }
    | undefined;
}

export interface GrpcEtcdOptions extends EtcdAddress {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly limits?: Partial<EtcdLimits>;
}

interface Connection {
  readonly endpoint: string;
  readonly client: Client;
}

/**
 * Etcd over gRPC.
 *
 * Invariants
 *  G1. One channel for each endpoint, for as long as the client lives. All calls go to one endpoint, until
 *      it fails: then to the next. The status alone is asked of each, since the database of each has its own size.
 *  G2. A read is sent to the next endpoint within its time. Nothing that changes etcd is ever sent twice.
 *  G3. A call without an answer is `unknown` after its time.
 */
export class GrpcEtcdClient implements EtcdClient {
  readonly #options: GrpcEtcdOptions;
  readonly #limits: EtcdLimits;
  readonly #connections: readonly Connection[];
  readonly #leases: LeaseStream;
  readonly #watches = new Set<WatchStream>();
  #at = 0;
  #token: Promise<string> | undefined;
  #isClosed = false;

  constructor(options: GrpcEtcdOptions) {
    // Faults of connections come with the calls; the library would print them as well.
    setLogVerbosity(logVerbosity.NONE);
    this.#options = options;
    this.#limits = { ...etcdLimits, ...options.limits };
    const trust = credentialsOf(options.tls);
    this.#connections = options.endpoints.map((endpoint) => ({
      endpoint,
      client: new Client(endpoint, trust, channelOptions(this.#limits)),
    }));
    this.#leases = new LeaseStream({
      open: () => this.#openStream(methods.keepAlive),
      failed: (endpoint) => this.#leaveEndpoint(endpoint),
      timers: options.timers,
      callMs: this.#limits.callMs,
    });
  }

  async range(request: RangeRequest): Promise<RangeAnswer> {
    const answer = await this.#read(methods.range, rangeForm(request));
    return { header: headerOf(answer.header), keys: keysOf(answer), more: answer.more };
  }

  async transact({ compare, success, failure = [] }: TxnRequest): Promise<TxnAnswer> {
    const request = {
      compare: compare.map(compareForm),
      success: success.map(operationForm),
      failure: failure.map(operationForm),
    };
    const { header, succeeded, responses } = await this.#callOnce(methods.transact, request);
    const ranges = responses.flatMap(({ responseRange: found }) => (found ? [keysOf(found)] : []));
    return { header: headerOf(header), succeeded, ranges };
  }

  async compact(revision: number): Promise<void> {
    await this.#callOnce(methods.compact, { revision });
  }

  async grantLease(ttlSeconds: number): Promise<string> {
    return String((await this.#callOnce(methods.grantLease, { ttl: ttlSeconds })).id);
  }

  keepAlive(lease: string): Promise<boolean> {
    return this.#leases.keepAlive(lease);
  }

  async revokeLease(lease: string): Promise<void> {
    await this.#callOnce(methods.revokeLease, { id: lease });
  }

  watch(span: KeySpan, listener: WatchListener): () => void {
    const watch = new WatchStream({
      open: () => this.#openStream(methods.watch),
      failed: (endpoint) => this.#leaveEndpoint(endpoint),
      timers: this.#options.timers,
      reconnectMs: this.#limits.reconnectMs,
      span,
      listener,
      keyValueOf,
    });
    this.#watches.add(watch);
    return () => {
      this.#watches.delete(watch);
      watch.stop();
    };
  }

  async status(): Promise<readonly EtcdStatus[]> {
    const asked = this.#connections.map((connection) => this.#statusOf(connection));
    const told = await Promise.allSettled(asked);
    const found = told.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    // Rejects with the error of the first endpoint.
    return found.length === 0 ? [await asked[0]!] : found;
  }

  async #statusOf(connection: Connection): Promise<EtcdStatus> {
    const { callMs } = this.#limits;
    const answer = await this.#callOnce(methods.status, {}, callMs, connection);
    const { version, dbSize, dbSizeInUse, dbSizeQuota } = answer;
    const quotaBytes = Number(dbSizeQuota);
    return {
      endpoint: connection.endpoint,
      version,
      dbBytes: Number(dbSize),
      dbBytesInUse: Number(dbSizeInUse),
      quotaBytes: quotaBytes > 0 ? quotaBytes : undefined,
    };
  }

  async isOutOfSpace(): Promise<boolean> {
    const { alarms } = await this.#read(methods.alarms, {});
    return alarms.some(({ alarm }) => alarm === alarmNoSpace);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const watch of this.#watches) watch.stop();
    this.#leases.stop();
    for (const { client } of this.#connections) client.close();
  }

  /** Sends a read to one endpoint after the other. */
  async #read<Answer>(method: Method<Answer>, request: object): Promise<Answer> {
    const { callMs } = this.#limits;
    const attempts = this.#connections.length;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#callOnce(method, request, callMs / attempts);
      } catch (error) {
        if (attempt >= attempts || (error as EtcdError).kind !== 'unknown') throw error;
      }
    }
  }

  /** Sends a request once. If it was refused for its login, it was not done, and is sent again after a new login. */
  async #callOnce<Answer>(
    method: Method<Answer>,
    request: object,
    timeMs = this.#limits.callMs,
    connection?: Connection,
  ): Promise<Answer> {
    try {
      return await this.#send(method, request, timeMs, connection);
    } catch (error) {
      if (!(error instanceof EtcdError) || !isLoginOver(error.cause) || !this.#options.login)
        throw error;
      this.#token = undefined;
      return this.#send(method, request, timeMs, connection);
    }
  }

  /** @param connection the default is that of the endpoint in use */
  async #send<Answer>(
    method: Method<Answer>,
    request: object,
    timeMs: number,
    connection?: Connection,
  ): Promise<Answer> {
    const metadata = await this.#metadata(method);
    if (this.#isClosed) throw new EtcdError('refused', 'the connection to etcd is closed');
    const { endpoint, client } = connection ?? this.#connections[this.#at]!;
    const options = { deadline: this.#options.clock.nowMs() + timeMs };
    const { path, encode, decode } = method;
    const sent = encode(request);
    const asIs = (bytes: Buffer) => bytes;
    return new Promise<Answer>((resolve, reject) => {
      client.makeUnaryRequest(path, asIs, decode, sent, metadata, options, (error, answer) => {
        if (error === null && answer !== undefined) {
          releaseUnshared(sent);
          return resolve(answer);
        }
        const failure = errorOf(error, endpoint);
        if (failure.kind === 'unknown') this.#leaveEndpoint(endpoint);
        reject(failure);
      });
    });
  }

  async #openStream<Answer>({ path, encode, decode }: Method<Answer>): Promise<OpenStream> {
    const metadata = await this.#metadata();
    // A member that has lost the others ends the stream.
    metadata.set('hasleader', 'true');
    if (this.#isClosed) throw new EtcdError('refused', 'the connection to etcd is closed');
    const { endpoint, client } = this.#connections[this.#at]!;
    const stream = client.makeBidiStreamRequest(path, encode, decode, metadata);
    stream.on('error', (error: unknown) => {
      if (isLoginOver(error)) this.#token = undefined;
    });
    return { stream: stream as ClientDuplexStream<object, unknown>, endpoint };
  }

  /** An endpoint failed: later calls go to the next endpoint. */
  #leaveEndpoint(endpoint: string): void {
    if (this.#connections[this.#at]?.endpoint !== endpoint) return;
    this.#at = (this.#at + 1) % this.#connections.length;
  }

  async #metadata(method?: Method<unknown>): Promise<Metadata> {
    const metadata = new Metadata();
    const { login } = this.#options;
    if (login === undefined || method === methods.authenticate) return metadata;
    this.#token ??= this.#logIn(login);
    try {
      metadata.set('token', await this.#token);
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
    return metadata;
  }

  async #logIn({ user, password }: NonNullable<EtcdAddress['login']>): Promise<string> {
    const read = await password().catch((error: Error) => {
      throw new EtcdError('refused', `the password for etcd: ${error.message}`, error);
    });
    const asked = { name: user, password: read };
    return (await this.#send(methods.authenticate, asked, this.#limits.callMs)).token;
  }
}

function credentialsOf(tls: EtcdAddress['tls']) {
  if (tls === undefined) return credentials.createInsecure();
  const [authorities, key, certificate] = [tls.authorities, tls.privateKey, tls.certificate].map(
    (pem) => (pem === undefined ? null : Buffer.from(pem)),
  );
  return credentials.createSsl(authorities, key, certificate);
}

const channelOptions = (limits: EtcdLimits): ClientOptions => ({
  'grpc.keepalive_time_ms': limits.pingMs,
  'grpc.keepalive_timeout_ms': limits.pingAnswerMs,
  // Etcd counts a ping without a call as an attack. The channel in use always has the watch.
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': limits.reconnectMs / 2,
  'grpc.max_reconnect_backoff_ms': limits.reconnectMs,
  'grpc.max_receive_message_length': limits.answerBytes,
  'grpc.max_send_message_length': limits.answerBytes,
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
});

const key = (text: string): Buffer => Buffer.from(text, 'latin1');

const rangeForm = ({ key: from, end, ...rest }: RangeRequest): object => ({
  key: key(from),
  ...(end !== undefined && { rangeEnd: key(end) }),
  ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
});

function compareForm(comparison: Comparison): object {
  const of = { key: key(comparison.key) };
  if (comparison.is === 'absent') {
    return {
      ...of,
      target: compareTargets.create,
      result: compareResults.equal,
      createRevision: 0,
    };
  }
  const { is, value } = comparison;
  return { ...of, target: compareTargets.value, result: compareResults[is], value };
}

function operationForm(operation: Operation): object {
  if (operation.kind === 'range') return { requestRange: rangeForm(operation.range) };
  if (operation.kind === 'put') {
    const { value, lease = '0' } = operation;
    return { requestPut: { key: key(operation.key), value, lease } };
  }
  return { requestDeleteRange: rangeForm({ key: operation.key, end: operation.end }) };
}

const headerOf = (header: HeaderForm | null) => ({
  clusterId: String(header?.clusterId ?? 0),
  revision: Number(header?.revision ?? 0),
});

const keysOf = ({ kvs }: RangeForm): KeyValue[] => kvs.map(keyValueOf);

function keyValueOf(form: KeyValueForm): KeyValue {
  return {
    key: form.key.toString('latin1'),
    // Of its own, so that a value does not keep the whole answer.
    value: new Uint8Array(form.value),
    createRevision: Number(form.createRevision),
    modRevision: Number(form.modRevision),
    lease: String(form.lease),
  };
}
