import type {
  ChainNode,
  ChainOverrides,
  ChainStep,
  ChainTarget,
  DiscoveryChain,
} from '../model/discovery-chain/discovery-chain.ts';
import type { Input } from '../model/schema.ts';
import { type Answer, path, type ReadOptions, type Requester } from './requester.ts';

/** As it is answered: durations are text ("5s"), and what is not set is left out. */
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
  /** The datacenter that the chain is made for; the default is that of the server. */
  readonly datacenter?: string | undefined;
  /** Where the service lives; the default is the token's own. */
  readonly partition?: string | undefined;
  /** Tell the steps, too. */
  readonly explain?: boolean | undefined;
  /** What is wanted otherwise than the entries say. It is asked at once, without blocking. */
  readonly overrides?: Input<ChainOverrides> | undefined;
}

export interface DiscoveryChains {
  /** What the routing entries of a service come to. */
  read(service: string, options?: ChainOptions): Promise<Answer<ChainAnswer>>;
}

export const discoveryChainsOf = (requester: Requester): DiscoveryChains => ({
  read: (service, options = {}) => {
    const { datacenter, partition, explain, overrides } = options;
    const query = {
      'compile-dc': datacenter || undefined,
      partition: partition || undefined,
      explain: explain || undefined,
    };
    const place = path`/v1/discovery-chain/${service}`;
    if (overrides === undefined) return requester.read(place, options, query);
    return requester.write('POST', place, options, overrides, query);
  },
});
