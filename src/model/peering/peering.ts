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
  Whole,
} from '../schema.ts';

/**
 * The stored states. `ACTIVE` and `FAILING` follow from the stream when a peering is read.
 * Source: docs/contract/peering.md#states.
 */
export const storedPeeringStates = ['INITIAL', 'ESTABLISHING', 'TERMINATED'] as const;
export const peeringStates = [...storedPeeringStates, 'ACTIVE', 'FAILING'] as const;
export type PeeringState = (typeof peeringStates)[number];

/** A peering as it is stored: without facts of its stream, and without secrets, which have their own rows. */
export const StoredPeeringSchema = Type.Object({
  ID: About('The id of the peering in this cluster.', Text()),
  Name: About('The name of the other cluster in this cluster.', Text()),
  Partition: About('Partition of the peering.', Text()),
  State: About('The stored state.', Choice(storedPeeringStates, 'INITIAL')),
  /** True for the side that has the token and dials. */
  IsDialer: Type.Boolean({ default: false }),
  PeerID: About('The id of the peering in the other cluster; empty until it is known.', Text()),
  PeerServerName: About('The other cluster’s own name.', Text()),
  PeerServerAddresses: About('Addresses of its servers, as `host:port`.', List(Type.String())),
  /** Addresses given by the operator of the other cluster; they are tried first. */
  ManualServerAddresses: List(Type.String()),
  /** The number of secrets that were exchanged for tokens: the dialer starts again with each. */
  Epoch: Whole(),
  /** The peering is with another cluster than before, whose rows are removed before a stream opens. */
  MustForget: Type.Boolean({ default: false }),
  /** Certificates (PEM) by which the other cluster is trusted. */
  PeerCAPems: List(Type.String()),
  Meta: About('Names and texts of the caller, without effect.', TextMap()),
  Remote: About(
    'The other cluster’s description of itself.',
    Type.Object(
      { Partition: Text(), Datacenter: Text() },
      { default: { Partition: '', Datacenter: '' } },
    ),
  ),
  DeletedAt: About('The time when it was marked for deletion.', Instant()),
  ...stamps,
});
export type StoredPeering = Model<typeof StoredPeeringSchema>;

/**
 * Whether the stream of a peering is open. A row of its own, so that readers who wait for a peering are told.
 */
export interface PeeringConnection {
  /** The id of the peering. */
  readonly ID: string;
  readonly Partition: string;
  readonly Name: string;
  readonly IsOpen: boolean;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The state of the stream. Instants are RFC 3339; null: never. */
export const StreamStatusSchema = Type.Object({
  ImportedServices: About('Names of the services from the other cluster.', List(Type.String())),
  ExportedServices: About('Names of the services for the other cluster.', FullList(Type.String())),
  LastHeartbeat: About('The time of its last heartbeat.', Nullable(Type.String())),
  LastReceive: About('The time when the last frame came.', Nullable(Type.String())),
  LastSend: About('The time when the last frame was sent.', Nullable(Type.String())),
  LastError: About('The reason of the last failure; empty: it never failed.', Text()),
});
export type StreamStatus = Model<typeof StreamStatusSchema>;

/** A peering as it is shown. Instants are RFC 3339. Source: docs/contract/peering.md#a-peering. */
export const PeeringSchema = Type.Object({
  ID: About('The id of the peering in this cluster.', Text()),
  Name: About('The name of the other cluster in this cluster.', Text()),
  State: About(
    'The state. `ACTIVE`: its stream is open; `FAILING`: its stream should be open and is not; `TERMINATED`: it is deleted there, or being deleted here.',
    Choice(peeringStates, 'INITIAL'),
  ),
  Partition: About('Partition of the peering.', Text()),
  PeerID: Type.Optional(
    About('The id of the peering in the other cluster; absent until it is known.', Type.String()),
  ),
  PeerServerName: About('The other cluster’s own name.', Text()),
  PeerServerAddresses: About(
    'Addresses of its servers, as `host:port`; only the side that dials has them.',
    FullList(Type.String()),
  ),
  PeerCAPems: About(
    'Certificates (PEM) by which the other cluster is trusted.',
    List(Type.String()),
  ),
  StreamStatus: About('The state of its stream.', StreamStatusSchema),
  Meta: About('Names and texts of the caller, without effect.', TextMap()),
  Remote: About(
    'The other cluster’s description of itself.',
    Type.Object({ Partition: Text(), Datacenter: Text() }),
  ),
  DeletedAt: About(
    'The time when it was marked for deletion; null: it was not.',
    Nullable(Type.String()),
  ),
  ...stamps,
});
export interface Peering extends Model<typeof PeeringSchema> {}

/** Body of `POST /v1/peering/token`. Source: docs/contract/peering.md#generate-a-token. */
export const PeeringTokenRequestSchema = Type.Object({
  PeerName: About('The name of the other cluster in this cluster.', Text()),
  Partition: About('Partition of the peering.', Text()),
  ServerExternalAddresses: About(
    'Addresses of this cluster’s servers for the other cluster, as `host:port`.',
    List(Type.String()),
    { rules: `at most ${limits.peering.addressesMax}` },
  ),
  Meta: About('Names and texts of the caller, without effect.', TextMap()),
});
export type PeeringTokenRequest = Model<typeof PeeringTokenRequestSchema>;

/** Body of `POST /v1/peering/establish`. Source: docs/contract/peering.md#establish-a-peering. */
export const EstablishRequestSchema = Type.Object({
  PeerName: About('The name of the other cluster in this cluster.', Text()),
  PeeringToken: About(
    'The token from the other cluster.',
    Type.String({ default: '', 'x-secret': true }),
  ),
  Partition: About('Partition of the peering.', Text()),
  Meta: About('Names and texts of the caller, without effect.', TextMap()),
});
export type EstablishRequest = Model<typeof EstablishRequestSchema>;

/** Answer of `POST /v1/peering/token`. */
export const PeeringTokenAnswerSchema = Type.Object({
  PeeringToken: About(
    'The token by which the other cluster establishes the peering, once.',
    Text(),
  ),
});
