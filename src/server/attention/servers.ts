import { formatDuration } from '../../base/duration.ts';
import { plural } from '../../base/words.ts';
import { limits } from '../../model/limits.ts';
import type { Server } from '../server.ts';
import type { Member } from '../servers.ts';
import { type Finding, ofCluster, type Told } from './finding.ts';

/**
 * The other servers, by their last reports to the server that answers. How far another server is behind follows from the
 * first transaction that it does not show: this server knows when it heard of that itself.
 */
export function findingsOfServers(
  { servers, events, context }: Pick<Server, 'servers' | 'events' | 'context'>,
  nowMs: number,
): Finding[] {
  const { index } = context.state.read();
  return servers.members().flatMap((member): Finding[] => {
    if (member.id === servers.id) return [];
    const report = servers.reportOf(member.id);
    if (report === undefined) {
      const Reason = `The server ${wordOf(member)} does not answer the server that you ask`;
      return [of(member, { Kind: 'server-away', Severity: 'warning', Reason, sinceMs: 0 })];
    }
    const looked = events.after(report.index);
    if (looked.kind !== 'commit') return [];
    const reportedMs = nowMs - report.heardMs;
    const behindMs = reportedMs - looked.commit.heardMs;
    if (behindMs <= limits.servers.behindMaxMs) return [];
    const Reason = `The server ${wordOf(member)} is ${plural(index - report.index, 'transaction')} and ${textOf(behindMs)} behind the server that you ask`;
    const sinceMs = looked.commit.heardMs;
    return [of(member, { Kind: 'server-behind', Severity: 'warning', Reason, sinceMs })];
  });
}

const of = ({ id: ID, address: Name }: Member, told: Told): Finding => ({
  ...ofCluster(told),
  Noun: 'server',
  ID,
  Name,
});

const wordOf = ({ id, address }: Member): string => address || id;

const textOf = (durationMs: number): string =>
  formatDuration(Math.round(durationMs / 1000) * 1_000_000_000);
