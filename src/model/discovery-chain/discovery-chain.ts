import { LoadBalancerSchema } from '../config-entry/load-balancer.ts';
import { FailoverPolicySchema, ResolverSubsetSchema } from '../config-entry/service-resolver.ts';
import { ServiceRouteSchema } from '../config-entry/service-router.ts';
import { ServiceSplitSchema } from '../config-entry/service-splitter.ts';
import {
  About,
  Choice,
  Flag,
  FullList,
  FullMapOf,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  TextMap,
  Type,
} from '../schema.ts';

/**
 * What the entries of a service come to: nodes to go through, from `StartNode` on, and the targets
 * that they lead to. The form is the one that the field publishes for its discovery chain endpoint.
 */
const next = About('The node that comes next.', Text());

const RouteSchema = Type.Object({
  Definition: About(
    'The route of the service router, or the one for everything else.',
    ServiceRouteSchema,
  ),
  NextNode: next,
});
const SplitSchema = Type.Object({
  Definition: About('The split of the service splitter.', ServiceSplitSchema),
  Weight: About('Percent of the traffic that comes here.', Type.Number({ default: 0 })),
  NextNode: next,
});

const ResolverSchema = Type.Object({
  Default: About('There is no service resolver.', Flag()),
  ConnectTimeout: About('How long connecting may take.', Nanoseconds()),
  RequestTimeout: About('How long a request may take; 0: left to the proxy.', Nanoseconds()),
  Target: About('Where it leads.', Text()),
  Failover: About(
    'Where to go when no instance of the target is well.',
    Nullable(
      Type.Object({
        Targets: About('One after the other.', FullList(Type.String())),
        Policy: About('In which order.', Nullable(FailoverPolicySchema)),
      }),
    ),
  ),
});

const NodeSchema = Type.Object({
  Type: About('What it does.', Choice(['router', 'splitter', 'resolver'], 'resolver')),
  Name: About('Names it among those of its type.', Text()),
  Routes: About('Of a router: the first that matches decides.', List(RouteSchema)),
  Splits: About('Of a splitter: how the traffic is divided.', List(SplitSchema)),
  Resolver: About('Of a resolver: where it leads.', Nullable(ResolverSchema)),
  LoadBalancer: About('How an instance is chosen.', Nullable(LoadBalancerSchema)),
});

const MeshGatewaySchema = Type.Object({
  Mode: About('`none`, `local` or `remote`; empty: not set.', Text()),
});

const TargetSchema = Type.Object({
  ID: About('Names it in the chain.', Text()),
  Service: About('The service that has the instances.', Text()),
  ServiceSubset: About('The subset of them; empty: all.', Text()),
  Namespace: About('Where the service lives.', Text()),
  Partition: About('Where the service lives.', Text()),
  Datacenter: About('Where the instances run; empty: at a peer.', Text()),
  Peer: About('The peer that they run at; empty: none.', Text()),
  MeshGateway: About('The gateway to reach it by.', MeshGatewaySchema),
  Subset: About('What makes the subset.', ResolverSubsetSchema),
  ConnectTimeout: About('How long connecting may take.', Nanoseconds()),
  External: About('It is outside of the mesh.', Flag()),
  SNI: About('The server name to ask for over TLS.', Text()),
  Name: About('Names it among the targets of all chains.', Text()),
});

export const DiscoveryChainSchema = Type.Object({
  ServiceName: About('The service that was asked for.', Text()),
  Namespace: About('Where it lives.', Text()),
  Partition: About('Where it lives.', Text()),
  Datacenter: About('The datacenter that the chain is made for.', Text()),
  CustomizationHash: About(
    'Tells chains apart whose overrides had an effect; empty: they had none.',
    Text(),
  ),
  Default: About('No router, splitter or resolver has a part in it.', Flag()),
  Protocol: About('What everything in it speaks.', Text()),
  ServiceMeta: About('The `Meta` of the service defaults.', TextMap()),
  StartNode: About('Where to begin.', Text()),
  Nodes: About('The nodes by their names.', FullMapOf(NodeSchema)),
  Targets: About('The targets by their names.', FullMapOf(TargetSchema)),
});

export type ChainRoute = Model<typeof RouteSchema>;
export type ChainSplit = Model<typeof SplitSchema>;
export type ChainNode = Model<typeof NodeSchema>;
export type ChainTarget = Model<typeof TargetSchema>;
type Whole = Model<typeof DiscoveryChainSchema>;

/** Nodes and targets in the order of the traffic. Maps, as records of thousands are slow to make. */
export interface DiscoveryChain extends Omit<Whole, 'Nodes' | 'Targets'> {
  readonly Nodes: ReadonlyMap<string, ChainNode>;
  readonly Targets: ReadonlyMap<string, ChainTarget>;
}

/** Wishes of the caller that replace what the entries say. Nanoseconds; empty or 0: no wish. */
export const ChainOverridesSchema = Type.Object({
  OverrideConnectTimeout: About(
    'Connecting may take this long, wherever the chain leads.',
    Nanoseconds({ minimum: 0 }),
  ),
  OverrideProtocol: About(
    'What is spoken. Routers and splitters have a part only where both this and the protocol of the service allow for them.',
    Text({ maxLength: 64 }),
  ),
  OverrideMeshGateway: About(
    'The gateway to reach targets by.',
    Type.Object({ Mode: Choice(['', 'none', 'local', 'remote'], '') }, { default: { Mode: '' } }),
  ),
});
export type ChainOverrides = Model<typeof ChainOverridesSchema>;

export const noOverrides: ChainOverrides = {
  OverrideConnectTimeout: 0,
  OverrideProtocol: '',
  OverrideMeshGateway: { Mode: '' },
};

/** One step of making a chain, for people. */
export const ChainStepSchema = Type.Object({
  Node: About('The node or target that it is about; empty: the whole chain.', Text()),
  Entry: About(
    'The entry that decided; null: none, it is what holds without one.',
    Nullable(Type.Object({ Kind: Text(), Name: Text(), Namespace: Text(), Partition: Text() })),
  ),
  Sentence: About('What was decided.', Text()),
});
export type ChainStep = Model<typeof ChainStepSchema>;
