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
 * The compiled routing of a service: nodes, from `StartNode` on, and the targets that they lead to. Its form
 * is that of the published discovery chain endpoint.
 */
const next = About('The name of the next node.', Text());

const RouteSchema = Type.Object({
  Definition: About(
    'The route of the service router, or the route for all other requests.',
    ServiceRouteSchema,
  ),
  NextNode: next,
});
const SplitSchema = Type.Object({
  Definition: About('The split of the service splitter.', ServiceSplitSchema),
  Weight: About('Percent of the traffic for this split.', Type.Number({ default: 0 })),
  NextNode: next,
});

const ResolverSchema = Type.Object({
  Default: About('Whether the service has no resolver.', Flag()),
  ConnectTimeout: About('Timeout of a connection.', Nanoseconds()),
  RequestTimeout: About('Timeout of a request; 0: the default of the proxy.', Nanoseconds()),
  Target: About('The name of the target.', Text()),
  Failover: About(
    'The targets if no instance of the target is healthy.',
    Nullable(
      Type.Object({
        Targets: About('The names of the targets, in order.', FullList(Type.String())),
        Policy: About('The order of the targets.', Nullable(FailoverPolicySchema)),
      }),
    ),
  ),
});

const NodeSchema = Type.Object({
  Type: About('The type of the node.', Choice(['router', 'splitter', 'resolver'], 'resolver')),
  Name: About('The name of the node, unique in its type.', Text()),
  Routes: About('The routes of a router: the first that matches decides.', List(RouteSchema)),
  Splits: About('The splits of a splitter.', List(SplitSchema)),
  Resolver: About('The target of a resolver.', Nullable(ResolverSchema)),
  LoadBalancer: About('How an instance is chosen.', Nullable(LoadBalancerSchema)),
});

const MeshGatewaySchema = Type.Object({
  Mode: About('`none`, `local` or `remote`; empty: not set.', Text()),
});

const TargetSchema = Type.Object({
  ID: About('The id of the target in the chain.', Text()),
  Service: About('The service of the instances.', Text()),
  ServiceSubset: About('The subset of the instances; empty: all.', Text()),
  Namespace: About('Namespace of the service.', Text()),
  Partition: About('Partition of the service.', Text()),
  Datacenter: About('The datacenter of the instances; empty: they are at a peer.', Text()),
  Peer: About('The peer of the instances; empty: none.', Text()),
  MeshGateway: About('The gateway for traffic to the target.', MeshGatewaySchema),
  Subset: About('The definition of the subset.', ResolverSubsetSchema),
  ConnectTimeout: About('Timeout of a connection.', Nanoseconds()),
  External: About('Whether the target is outside of the mesh.', Flag()),
  SNI: About('The server name (SNI) in TLS.', Text()),
  Name: About('The name of the target, unique among the targets of all chains.', Text()),
});

export const DiscoveryChainSchema = Type.Object({
  ServiceName: About('The service of the chain.', Text()),
  Namespace: About('Namespace of the service.', Text()),
  Partition: About('Partition of the service.', Text()),
  Datacenter: About('The datacenter of the chain.', Text()),
  CustomizationHash: About('A hash of the overrides; empty: they had no effect.', Text()),
  Default: About('Whether the chain has no part of a router, splitter or resolver.', Flag()),
  Protocol: About('The protocol of all services in the chain.', Text()),
  ServiceMeta: About('The `Meta` of the service defaults.', TextMap()),
  StartNode: About('The name of the first node.', Text()),
  Nodes: About('The nodes by name.', FullMapOf(NodeSchema)),
  Targets: About('The targets by name.', FullMapOf(TargetSchema)),
});

export type ChainRoute = Model<typeof RouteSchema>;
export type ChainSplit = Model<typeof SplitSchema>;
export type ChainNode = Model<typeof NodeSchema>;
export type ChainTarget = Model<typeof TargetSchema>;
type Whole = Model<typeof DiscoveryChainSchema>;

/**
 * Nodes and targets are in the order of the traffic. They are maps, as records with thousands of fields are
 * slow to make.
 */
export interface DiscoveryChain extends Omit<Whole, 'Nodes' | 'Targets'> {
  readonly Nodes: ReadonlyMap<string, ChainNode>;
  readonly Targets: ReadonlyMap<string, ChainTarget>;
}

/** Overrides by the caller. Nanoseconds; empty or 0: no override. */
export const ChainOverridesSchema = Type.Object({
  OverrideConnectTimeout: About(
    'Timeout of a connection to any target of the chain.',
    Nanoseconds({ minimum: 0 }),
  ),
  OverrideProtocol: About(
    'The protocol. Routers and splitters have a part only if both this and the protocol of the service allow them.',
    Text({ maxLength: 64 }),
  ),
  OverrideMeshGateway: About(
    'The gateway for traffic to the targets.',
    Type.Object({ Mode: Choice(['', 'none', 'local', 'remote'], '') }, { default: { Mode: '' } }),
  ),
});
export type ChainOverrides = Model<typeof ChainOverridesSchema>;

export const noOverrides: ChainOverrides = {
  OverrideConnectTimeout: 0,
  OverrideProtocol: '',
  OverrideMeshGateway: { Mode: '' },
};

/** A step of compiling a chain, for people. */
export const ChainStepSchema = Type.Object({
  Node: About('The node or target of the step; empty: the whole chain.', Text()),
  Entry: About(
    'The entry that decided; null: the default decided.',
    Nullable(Type.Object({ Kind: Text(), Name: Text(), Namespace: Text(), Partition: Text() })),
  ),
  Sentence: About('The decision.', Text()),
});
export type ChainStep = Model<typeof ChainStepSchema>;
