import { isExpired } from '../../model/acl-token/acl-token.ts';
import { limits } from '../../model/limits.ts';
import { resourceAccess } from '../../model/permission/permission.ts';
import {
  aclTokens,
  keptAnswers,
  keptPlans,
  numberPart,
  oidcSessions,
  peeringConnections,
  peerings,
} from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Server } from '../server.ts';
import { type Finding, ofCluster } from './finding.ts';

/** Peerings whose stream should be open and is not. */
export function findingsOfPeerings(snapshot: Snapshot): Finding[] {
  const connections = snapshot.table(peeringConnections);
  return [...snapshot.table(peerings).scan()].flatMap((peering) => {
    const { ID, Name, Partition: partition, State, DeletedAt } = peering;
    if (DeletedAt !== 0 || State === 'INITIAL') return [];
    const of = (Severity: Finding['Severity'], Reason: string): Finding => ({
      Kind: 'peering-failing',
      Severity,
      Noun: 'peering',
      ID: Name,
      Name,
      Namespace: '',
      JobID: '',
      sinceMs: 0,
      Reason,
      permission: resourceAccess('peering', 'read', { partition }),
    });
    if (State === 'TERMINATED') return of('notice', 'The other cluster has deleted the peering');
    if (connections.get(ID)?.IsOpen !== false) return [];
    return of('warning', 'No stream to the other cluster is open, so its services grow old');
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

/** Limits of the cluster that are nearly reached. */
export function findingsOfLimits(snapshot: Snapshot): Finding[] {
  return bounded.flatMap(([table, most, words]) => {
    const { size } = snapshot.table<{ CreateIndex: number; ModifyIndex: number }, string>(
      table as never,
    );
    if (size < most * limits.attention.limitShare) return [];
    const Reason = `There are ${size} ${words}; above ${most} the oldest are forgotten`;
    return [ofCluster({ Kind: 'limit-near', Severity: 'notice', Reason, sinceMs: 0 })];
  });
}

/** Of the server that is asked, and of its schedule of snapshots if it leads. */
export function findingsOfServer(server: Server, nowMs: number): Finding[] {
  const found: Finding[] = [];
  const add = (Kind: Finding['Kind'], Severity: Finding['Severity'], Reason: string) =>
    found.push(ofCluster({ Kind, Severity, Reason, sinceMs: 0 }));
  const { closed } = server.context.state;
  if (closed !== undefined) {
    add('writes-closed', 'critical', `The server that answers takes no writes: ${closed.message}`);
  }
  const { LastContact, KnownLeader } = server.contact();
  if (!KnownLeader) {
    add('server-behind', 'critical', 'The server that answers knows no leader');
  } else if (LastContact > limits.attention.contactAgeMs) {
    const seconds = Math.round(LastContact / 1000);
    const reason = `The server that answers was without contact to the leader for ${seconds} seconds`;
    add('server-behind', 'warning', reason);
  }
  const schedule = server.leads ? server.leading.schedule : undefined;
  if (schedule === undefined) return found;
  const sinceMs = schedule.savedMs || (server.leadsSinceMs ?? nowMs);
  const dueMs = sinceMs + schedule.intervalMs + limits.attention.snapshotDelayMs;
  if (nowMs > dueMs) {
    const last =
      schedule.savedMs === 0 ? 'none was saved' : `the last is of ${shown(schedule.savedMs)}`;
    add('snapshot-late', 'warning', `A snapshot is late: ${last}`);
  }
  return found;
}

const shown = (atMs: number): string => new Date(atMs).toISOString();
