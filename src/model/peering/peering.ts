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
 * The states that are stored. `ACTIVE` and `FAILING` are told from the stream when a peering is read.
 * Source: docs/contract/peering.md#states.
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
  /** Addresses that the operator of the other cluster has named, which are tried first. */
  ManualServerAddresses: List(Type.String()),
  /** Counts the secrets that were had for tokens: the dialer begins anew with each. */
  Epoch: Whole(),
  /** It is with another cluster than before, whose rows are removed before a stream opens. */
  MustForget: Type.Boolean({ default: false }),
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

/** Whether its stream is open: kept apart, so that whoever waits for a peering hears of it. */
export interface PeeringConnection {
  /** Of the peering. */
  readonly ID: string;
  readonly Partition: string;
  readonly Name: string;
  readonly IsOpen: boolean;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The state of its stream. Instants are RFC 3339, null: never. */
export const StreamStatusSchema = Type.Object({
  ImportedServices: About('Names of what comes from the other cluster.', List(Type.String())),
  ExportedServices: About('Names of what goes there.', FullList(Type.String())),
  LastHeartbeat: About('When it last said that it is there.', Nullable(Type.String())),
  LastReceive: About('When anything last came.', Nullable(Type.String())),
  LastSend: About('When anything was last sent.', Nullable(Type.String())),
  LastError: About('Why it is not open, or was not before; empty: for no reason.', Text()),
});
export type StreamStatus = Model<typeof StreamStatusSchema>;

/** A peering as it is shown. Instants are RFC 3339. Source: docs/contract/peering.md#a-peering. */
export const PeeringSchema = Type.Object({
  ID: About('Names it here.', Text()),
  Name: About('What the other cluster is called here.', Text()),
  State: About(
    'Where it stands. `ACTIVE`: its stream is open; `FAILING`: it should be and is not; `TERMINATED`: it is deleted there, or being deleted here.',
    Choice(peeringStates, 'INITIAL'),
  ),
  Partition: About('Where it is.', Text()),
  PeerID: Type.Optional(
    About('Names it at the other cluster; absent until it is known.', Type.String()),
  ),
  PeerServerName: About('How the other cluster calls itself.', Text()),
  PeerServerAddresses: About(
    'Where its servers are, as `host:port`; only the side that dials knows.',
    FullList(Type.String()),
  ),
  PeerCAPems: About(
    'Certificates (PEM) that the other cluster is trusted by.',
    List(Type.String()),
  ),
  StreamStatus: About('What its stream is doing.', StreamStatusSchema),
  Meta: About('Names and texts of the caller; nothing goes by them.', TextMap()),
  Remote: About(
    'What the other cluster says of itself.',
    Type.Object({ Partition: Text(), Datacenter: Text() }),
  ),
  DeletedAt: About('When it was marked for deletion; null: it was not.', Nullable(Type.String())),
  ...stamps,
});
export interface Peering extends Model<typeof PeeringSchema> {}

/** Body of `POST /v1/peering/token`. Source: docs/contract/peering.md#generate-a-token. */
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

/** Body of `POST /v1/peering/establish`. Source: docs/contract/peering.md#establish-a-peering. */
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

/** Answer of `POST /v1/peering/token`. */
export const PeeringTokenAnswerSchema = Type.Object({
  PeeringToken: About('What the other cluster establishes the peering with, once.', Text()),
});
