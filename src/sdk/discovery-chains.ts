import type { discoveryChainEndpoints } from '../contract/discovery-chain.ts';
import type {
  ChainNode,
  ChainOverrides,
  ChainStep,
  ChainTarget,
  DiscoveryChain,
} from '../model/discovery-chain/discovery-chain.ts';
import type { Input } from '../model/schema.ts';
import { callsOf } from './calls.ts';
import type { Answer, ReadOptions, Requester } from './requester.ts';

/** The form of an answer: durations are texts ("5s"), and unset fields are left out. */
type Shown<T> = T extends readonly (infer I)[]
  ? readonly Shown<I>[]
  : T extends object
    ? { readonly [K in keyof T]?: Shown<NonNullable<T[K]>> }
    : T extends number
      ? number | string
      : T;

export interface ChainAnswer {
  readonly Chain: Shown<Omit<DiscoveryChain, 'Nodes' | 'Targets'>> & {
    readonly ServiceName: string;
    readonly Datacenter: string;
    readonly Protocol: string;
    readonly StartNode: string;
    readonly Nodes: Readonly<Record<string, ShownNode>>;
    readonly Targets: Readonly<Record<string, ShownTarget>>;
  };
  /** Only with `explain`. */
  readonly Steps?: readonly ChainStep[];
}
export type ShownNode = Shown<ChainNode>;
export type ShownTarget = Shown<ChainTarget>;

export interface ChainOptions extends ReadOptions {
  /** By default the datacenter of the server. */
  readonly datacenter?: string | undefined;
  /** By default the partition of the token. */
  readonly partition?: string | undefined;
  /** Include the steps. */
  readonly explain?: boolean | undefined;
  /** Values that override the entries. A request with overrides does not block. */
  readonly overrides?: Input<ChainOverrides> | undefined;
}

export type DiscoveryChains = ReturnType<typeof discoveryChainsOf>;

export function discoveryChainsOf(requester: Requester) {
  const { read, write } = callsOf<typeof discoveryChainEndpoints>(requester);
  return {
    /** The compiled routing entries of a service. */
    read: (service: string, options: ChainOptions = {}): Promise<Answer<ChainAnswer>> => {
      const { datacenter, partition, explain, overrides } = options;
      const query = {
        'compile-dc': datacenter || undefined,
        partition: partition || undefined,
        explain: explain || undefined,
      };
      // The contract types a chain as a plain object.
      const chain =
        overrides === undefined
          ? read('GET /v1/discovery-chain/:service', { service }, options, query)
          : write('POST /v1/discovery-chain/:service', { service }, options, {
              body: overrides,
              query,
            });
      return chain as Promise<Answer<ChainAnswer>>;
    },
  };
}
