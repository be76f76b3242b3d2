import { isExpired } from '../../model/acl-token/acl-token.ts';
import { limits } from '../../model/limits.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import {
  aclTokens,
  configEntries,
  introductionTokens,
  jobPolicies,
  keptAnswers,
  keptPlans,
  nodePools,
  numberPart,
  oidcSessions,
  peeringConnections,
  peerings,
  variables,
} from '../../state/tables.ts';
import type { Snapshot, Stamps, TableDefinition } from '../../state/types.ts';
import type { Server } from '../server.ts';
import type { PeerLag } from '../servers.ts';
import { findingsOfAuthorities } from './certificates.ts';
import { type Finding, ofCluster, type Told } from './finding.ts';

/** Peerings whose stream should be open and is not, and authorities of peers that end. */
export function findingsOfPeerings(snapshot: Snapshot): Finding[] {
  const connections = snapshot.table(peeringConnections);
  return [...snapshot.table(peerings).scan()].flatMap((peering) => {
    const { ID, State, DeletedAt, PeerCAPems } = peering;
    if (DeletedAt !== 0 || State === 'INITIAL') return [];
    const fails = (Severity: Finding['Severity'], Reason: string): Finding =>
      ofPeering(peering, { Kind: 'peering-failing', Severity, Reason, sinceMs: 0 });
    if (State === 'TERMINATED') return fails('notice', 'The other cluster has deleted the peering');
    const ends = findingsOfAuthorities(PeerCAPems ?? [], (told) => ofPeering(peering, told));
    if (connections.get(ID)?.IsOpen !== false) return ends;
    return [
      fails('warning', 'No stream to the other cluster is open, so its services grow old'),
      ...ends,
    ];
  });
}

const ofPeering = (
  { Name, Partition: partition }: Pick<StoredPeering, 'Name' | 'Partition'>,
  told: Told,
): Finding => ({
  Noun: 'peering',
  ID: Name,
  Name,
  Namespace: '',
  JobID: '',
  ...told,
  permission: resourceAccess('peering', 'read', { partition }),
});

/** The peers that lag so much that it needs attention. Only the leader knows; on another server there are none. */
export const lagsOf = (server: Pick<Server, 'leads' | 'leading'>): readonly PeerLag[] =>
  server.leads ? server.leading.exchange.lagging(limits.attention.peeringLagMs) : [];

/** Peers that lag in applying changes of the services that they are sent, as the leader tells of them. */
export function findingsOfLag(
  server: Pick<Server, 'leads' | 'leading' | 'servers' | 'context'>,
): Finding[] {
  const lags = server.leads ? lagsOf(server) : server.servers.lagsOfLeader();
  const known = server.context.state.read().table(peerings);
  return lags.flatMap(({ partition, name, lagMs }) => {
    const peering = known.get(partition, name);
    if (peering === undefined) return [];
    const Reason = `The other cluster has not applied changes of exported services for ${Math.round(lagMs / 1000)} seconds`;
    return [
      ofPeering(peering, { Kind: 'peering-behind', Severity: 'warning', Reason, sinceMs: 0 }),
    ];
  });
}

/** Tokens that somebody made by hand and that end soon. Tokens of logins are made anew by a login. */
export function findingsOfTokens(snapshot: Snapshot, nowMs: number): Finding[] {
  const { tokenEndShare, tokenEndMs, tokensMax } = limits.attention;
  const found: Finding[] = [];
  let looked = 0;
  const ending = snapshot.table(aclTokens).by('expiration');
  for (const token of ending.scan({ from: [numberPart(Math.floor(nowMs))] })) {
    if (++looked > tokensMax) break;
    if (isExpired(token, nowMs) || token.AuthMethod !== '') continue;
    const { AccessorID, Description, ExpirationTime, CreateTime } = token;
    if (Description.startsWith('web interface, ')) continue;
    const { Namespace: namespace, Partition: partition } = token;
    const lastMs = Math.min(tokenEndMs, (ExpirationTime - CreateTime) * tokenEndShare);
    const at = new Date(ExpirationTime).toISOString();
    found.push({
      Kind: 'token-ends',
      Severity: 'notice',
      Noun: 'token',
      ID: AccessorID,
      Name: Description,
      Namespace: namespace,
      JobID: '',
      sinceMs: ExpirationTime - lastMs,
      fromMs: ExpirationTime - lastMs,
      untilMs: ExpirationTime,
      Reason: `The token expires at ${at}`,
      permission: resourceAccess('acl', 'read', { namespace, partition }),
    });
  }
  return found;
}

const bounded = [
  [keptPlans, limits.plan.keptMax, 'plans that can be carried out'],
  [oidcSessions, limits.oidcSession.keptMax, 'logins with a browser that have begun'],
  [keptAnswers, limits.idempotency.answersMax, 'answers that are kept for repetitions'],
] as const;

/** Tables that take no further row above their bound. */
const refusing = [
  [variables, limits.variable.countMax, 'variables'],
  [configEntries, limits.config.countMax, 'configuration entries'],
  [nodePools, limits.nodePool.countMax, 'node pools'],
  [peerings, limits.peering.countMax, 'peerings'],
  [introductionTokens, limits.introduction.countMax, 'introduction tokens'],
  [jobPolicies, limits.jobPolicy.countMax, 'job policies'],
] as const;

/** Limits of the cluster that are nearly reached. */
export function findingsOfLimits(snapshot: Snapshot): Finding[] {
  const near = (
    table: unknown,
    most: number,
    told: (size: number) => Pick<Told, 'Severity' | 'Reason'>,
  ): Finding[] => {
    const { size } = snapshot.table(table as TableDefinition<Stamps>);
    if (size < most * limits.attention.limitShare) return [];
    return [ofCluster({ Kind: 'limit-near', sinceMs: 0, ...told(size) })];
  };
  return [
    ...bounded.flatMap(([table, most, words]) =>
      near(table, most, (size) => ({
        Severity: 'notice',
        Reason: `There are ${size} ${words}; above ${most} the oldest are forgotten`,
      })),
    ),
    ...refusing.flatMap(([table, most, words]) =>
      near(table, most, (size) => ({
        Severity: size < most ? 'notice' : 'warning',
        Reason: `There are ${size} ${words}; above ${most} further ones are refused`,
      })),
    ),
  ];
}

/** Of the server that is asked, and of its schedule of snapshots if it leads. */
export function findingsOfServer(server: Server, nowMs: number): Finding[] {
  const found: Finding[] = [];
  const add = (Kind: Finding['Kind'], Severity: Finding['Severity'], Reason: string, fromMs = 0) =>
    found.push(ofCluster({ Kind, Severity, Reason, sinceMs: 0, fromMs }));
  const { closed } = server.context.state;
  if (closed !== undefined) {
    add('writes-closed', 'critical', `The server that answers takes no writes: ${closed.message}`);
  }
  const { LastContact, KnownLeader } = server.contact();
  if (!KnownLeader) {
    add('server-behind', 'critical', 'The server that answers knows no leader');
  } else if (LastContact > limits.attention.contactAgeMs) {
    const seconds = Math.round(LastContact / 1000);
    const reason = `The state of the server that answers was last known to be the newest ${seconds} seconds ago`;
    add('server-behind', 'warning', reason);
  }
  const schedule = server.leads ? server.leading.schedule : undefined;
  if (schedule === undefined) return found;
  const sinceMs = schedule.savedMs || (server.leadsSinceMs ?? nowMs);
  const dueMs = sinceMs + schedule.intervalMs + limits.attention.snapshotDelayMs;
  const last =
    schedule.savedMs === 0 ? 'none was saved' : `the last is of ${shown(schedule.savedMs)}`;
  add('snapshot-late', 'warning', `A snapshot is late: ${last}`, dueMs);
  return found;
}

const shown = (atMs: number): string => new Date(atMs).toISOString();
