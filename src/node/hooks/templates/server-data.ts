import { delay, type World } from '../../../base/ports.ts';
import type { Dependency } from '../../../language/template/run-context.ts';
import { record, type TemplateValue } from '../../../language/template/value.ts';
import { limits } from '../../../model/limits.ts';
import { isMissing } from '../../../sdk/errors.ts';
import { createRequester, path, type ReadOptions, type Requester } from '../../../sdk/requester.ts';
import type { Transport } from '../../../sdk/transport.ts';
import { httpTransport } from '../../../sdk/transport-http.ts';
import { Backoff } from '../../backoff.ts';
import { statusOf } from '../../server-api.ts';
import type { DataReader, DataState, DataWatch, TemplateData } from './template-data.ts';

export interface ServerDataOptions {
  readonly world: Pick<World, 'timers' | 'random'>;
  readonly address: string;
  readonly transport?: Transport;
}

/**
 * Services and variables, read from the servers with blocking queries.
 *
 * Invariants
 *  D1. A value for one identity is read once, however many templates use it, and only as long as
 *      one does.
 *  D2. A known value stays while servers are unreachable, so outages restart nothing.
 *  D3. An unchanged value wakes nobody.
 */
export class ServerData implements TemplateData {
  readonly #options: ServerDataOptions;
  readonly #transport: Transport;
  readonly #shared = new Map<string, SharedValue>();

  constructor(options: ServerDataOptions) {
    this.#options = options;
    this.#transport = options.transport ?? httpTransport({ address: options.address });
  }

  watch(dependency: Dependency, reader: DataReader, onChange: () => void): DataWatch {
    const { namespace, identity } = reader;
    const key = JSON.stringify([namespace, identity, dependency.kind, dependency.name]);
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      const { address, world } = this.#options;
      let token: string | undefined;
      const requester = createRequester({
        transport: this.#transport,
        address,
        namespace,
        token: () => token,
      });
      const read = readOf(dependency, requester);
      shared = new SharedValue(world, async (options) => {
        token = await reader.token(options.signal!);
        try {
          return await read(options);
        } catch (error) {
          if (statusOf(error) === 403) reader.refused();
          throw error;
        }
      });
      this.#shared.set(key, shared);
    }
    const value = shared;
    const listener = () => onChange();
    value.listeners.add(listener);
    return {
      get state() {
        return value.state;
      },
      close: () => {
        value.listeners.delete(listener);
        if (value.listeners.size > 0 || this.#shared.get(key) !== value) return;
        this.#shared.delete(key);
        value.stop();
      },
    };
  }

  get size(): number {
    return this.#shared.size;
  }

  async close(): Promise<void> {
    for (const value of this.#shared.values()) value.stop();
    this.#shared.clear();
    await this.#transport.close();
  }
}

type Read = (options: ReadOptions) => Promise<{ value: TemplateValue; index: number }>;

class SharedValue {
  readonly listeners = new Set<() => void>();
  state: DataState = { kind: 'pending' };
  readonly #stop = new AbortController();
  readonly #world: Pick<World, 'timers' | 'random'>;
  readonly #read: Read;

  constructor(world: Pick<World, 'timers' | 'random'>, read: Read) {
    this.#world = world;
    this.#read = read;
    void this.#followValue();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #followValue(): Promise<void> {
    const { signal } = this.#stop;
    const { timers, random } = this.#world;
    const { retryMinMs, retryMaxMs, retriesMax, pollWaitMs, idleMs } = limits.template;
    const backoff = new Backoff({ minMs: retryMinMs, maxMs: retryMaxMs, timers, random });
    let index = 0;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const answer = await this.#answer({ index, waitMs: pollWaitMs, signal });
        if (signal.aborted) return;
        failures = 0;
        backoff.reset();
        this.#setState({ kind: 'known', value: answer.value });
        const seen = Math.max(answer.index, 1);
        // A server that answers at once, whatever the index, would be asked without a pause.
        if (seen === index) await delay(timers, idleMs, signal);
        index = seen < index ? 0 : seen;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        const reason = (error as Error).message;
        if (failures >= retriesMax && this.state.kind !== 'known') {
          this.#setState({ kind: 'failed', reason });
        }
        await backoff.wait(signal);
      }
    }
  }

  async #answer(options: ReadOptions): Promise<{ value: TemplateValue; index: number }> {
    try {
      return await this.#read(options);
    } catch (error) {
      if (isMissing(error)) return { value: null, index: error.index };
      throw error;
    }
  }

  #setState(state: DataState): void {
    const isSame = textOf(state) === textOf(this.state);
    if (isSame) return;
    this.state = state;
    for (const listener of [...this.listeners]) listener();
  }
}

const textOf = (state: DataState): string =>
  JSON.stringify(state, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Map ? [...value] : value;
  });

/** Source: docs/guides/services.md#over-http, docs/guides/variables.md#a-task-reads-it. */
function readOf({ kind, name }: Dependency, requester: Requester): Read {
  const [whole = '', peer] = kind === 'service' ? name.split('?peer=') : [name];
  const [plain = '', namespace] = whole.split('@');
  const read =
    <T>(address: string, convert: (value: T) => TemplateValue, query = {}): Read =>
    async (options) => {
      const answer = await requester.read<T>(address, { ...options, namespace }, query);
      return { value: convert(answer.value), index: answer.index };
    };
  switch (kind) {
    case 'service':
      return orNone(read(path`/v1/service/${plain}`, registrations, { peer }));
    case 'services':
      return orNone(read('/v1/services', serviceNames));
    case 'variable':
      return read<VariableRow>(
        path`/v1/var/${plain}`,
        ({ Items }) => new Map(Object.entries(Items ?? {})),
      );
    case 'variables':
      return orNone(read('/v1/vars', variablePaths, { prefix: plain || undefined }));
    case 'file':
      throw new Error('files are not read from servers');
  }
}

/** A missing list counts as empty. */
const orNone =
  (read: Read): Read =>
  async (options) => {
    try {
      return await read(options);
    } catch (error) {
      if (isMissing(error)) return { value: [], index: error.index };
      throw error;
    }
  };

interface ServiceRow {
  readonly ID?: string;
  readonly ServiceName?: string;
  readonly Namespace?: string;
  readonly NodeID?: string;
  readonly Datacenter?: string;
  readonly JobID?: string;
  readonly AllocID?: string;
  readonly Tags?: readonly string[] | null;
  readonly Address?: string;
  readonly Port?: number;
}

/** Sorted, so that a changed order of the servers is no change. */
const registrations = (rows: readonly ServiceRow[] | null): TemplateValue =>
  [...(rows ?? [])]
    .sort((left, right) => compare(left.ID ?? '', right.ID ?? ''))
    .map((row) =>
      record({
        ID: row.ID ?? '',
        Name: row.ServiceName ?? '',
        Namespace: row.Namespace ?? '',
        Node: row.NodeID ?? '',
        NodeID: row.NodeID ?? '',
        Datacenter: row.Datacenter ?? '',
        JobID: row.JobID ?? '',
        AllocID: row.AllocID ?? '',
        Tags: row.Tags ?? [],
        Address: row.Address ?? '',
        Port: BigInt(Math.trunc(row.Port ?? 0)),
      }),
    );

interface ServicesRow {
  readonly Services?:
    | readonly { readonly ServiceName: string; readonly Tags?: readonly string[] | null }[]
    | null;
}

const serviceNames = (rows: readonly ServicesRow[] | null): TemplateValue =>
  (rows ?? [])
    .flatMap(({ Services }) => Services ?? [])
    .sort((left, right) => compare(left.ServiceName, right.ServiceName))
    .map(({ ServiceName, Tags }) => record({ Name: ServiceName, Tags: Tags ?? [] }));

interface VariableRow {
  readonly Items?: Readonly<Record<string, string>> | null;
}

interface VariablePathRow {
  readonly Path: string;
  readonly Namespace?: string;
}

const variablePaths = (rows: readonly VariablePathRow[] | null): TemplateValue =>
  [...(rows ?? [])]
    .sort((left, right) => compare(left.Path, right.Path))
    .map(({ Path, Namespace = '' }) => record({ Path, Namespace }));

const compare = (left: string, right: string): number => (left < right ? -1 : Number(left > right));
