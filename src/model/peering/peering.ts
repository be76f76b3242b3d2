import { limits } from '../limits.ts';
import {
  About,
  Choice,
  FullList,
  Instant,
  List,
  type Model,
  Nullable,
  stamps,
  Text,
  TextMap,
  Type,
} from '../schema.ts';

/**
 * What is stored of a peering's state. `ACTIVE` and `FAILING` are told of one whose stream is up or
 * down when it is read. Source: spec/2 §2.1 and §3, facts/registry.md §6.3; the mapping of the
 * field's states to these is that of DESIGN §5.
 */
export const storedPeeringStates = ['INITIAL', 'ESTABLISHING', 'TERMINATED'] as const;
export const peeringStates = [...storedPeeringStates, 'ACTIVE', 'FAILING'] as const;
export type StoredPeeringState = (typeof storedPeeringStates)[number];
export type PeeringState = (typeof peeringStates)[number];

/** As it is stored: without what the stream alone knows, and without secrets (rows of their own). */
export const StoredPeeringSchema = Type.Object({
  ID: About('Names it here.', Text()),
  Name: About('What the other cluster is called here.', Text()),
  Partition: About('Where it is.', Text()),
  State: About('Where it stands.', Choice(storedPeeringStates, 'INITIAL')),
  /** True for the side that has the token and dials. */
  IsDialer: Type.Boolean({ default: false }),
  PeerID: About('Names it at the other cluster; empty until it is known.', Text()),
  PeerServerName: About('How the other cluster calls itself.', Text()),
  PeerServerAddresses: About('Where its servers are, as `host:port`.', List(Type.String())),
  /** Certificates (PEM) that the other cluster is trusted by. */
  PeerCAPems: List(Type.String()),
  Meta: About('Names and texts of the caller; nothing goes by them.', TextMap()),
  Remote: About(
    'What the other cluster says of itself.',
    Type.Object(
      { Partition: Text(), Datacenter: Text() },
      { default: { Partition: '', Datacenter: '' } },
    ),
  ),
  DeletedAt: About('When it was marked for deletion.', Instant()),
  ...stamps,
});
export type StoredPeering = Model<typeof StoredPeeringSchema>;

/** What its stream is doing. Instants are RFC 3339, null: never. */
export const StreamStatusSchema = Type.Object({
  ImportedServices: About('Names of what comes from the other cluster.', List(Type.String())),
  ExportedServices: About('Names of what goes there.', FullList(Type.String())),
  LastHeartbeat: Nullable(Type.String()),
  LastReceive: Nullable(Type.String()),
  LastSend: Nullable(Type.String()),
});
export type StreamStatus = Model<typeof StreamStatusSchema>;

/** Body of `POST /v1/peering/token`. Source: spec/2 §4.1. */
export const PeeringTokenRequestSchema = Type.Object({
  PeerName: About('What the other cluster is to be called here.', Text()),
  Partition: About('Where it is.', Text()),
  ServerExternalAddresses: About(
    'Where the other cluster reaches the servers of this one, as `host:port`.',
    List(Type.String()),
    { rules: `at most ${limits.peering.addressesMax}` },
  ),
  Meta: About('Names and texts of the caller; nothing goes by them.', TextMap()),
});
export type PeeringTokenRequest = Model<typeof PeeringTokenRequestSchema>;

/** Body of `POST /v1/peering/establish`. Source: spec/2 §4.1. */
export const EstablishRequestSchema = Type.Object({
  PeerName: About('What the other cluster is to be called here.', Text()),
  PeeringToken: About(
    'The token that the other cluster has made.',
    Type.String({ default: '', 'x-secret': true }),
  ),
  Partition: About('Where it is.', Text()),
  Meta: About('Names and texts of the caller; nothing goes by them.', TextMap()),
});
export type EstablishRequest = Model<typeof EstablishRequestSchema>;
