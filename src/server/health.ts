/** The health of the servers of a cluster. Source: docs/operations/servers.md#health. */
import { formatDuration } from '../base/duration.ts';
import { instantFromMs } from '../base/instant.ts';
import { secondMs } from '../base/units.ts';
import { limits } from '../model/limits.ts';
import type { ServerHealth, ServersHealth } from '../model/server-health/server-health.ts';
import type { Server } from './server.ts';
import type { Member, OwnHealth, ServerReport, Servers } from './servers.ts';

export async function ownHealth(server: Server): Promise<OwnHealth> {
  const { state } = server.context;
  const faults: string[] = [];
  const warnings = state.isFull ? ['the store is too full for new jobs'] : [];
  const { closed } = state;
  const logMs = closed === undefined ? await reachLog(server, faults) : undefined;
  if (closed !== undefined) faults.push(closed.message);
  const { oldestWriteMs = 0 } = state.figures;
  if (oldestWriteMs > limits.servers.writeWaitMaxMs) {
    faults.push(
      `the store has not answered for ${textOf(secondMs * Math.round(oldestWriteMs / secondMs))}`,
    );
  }
  const contactMs = server.contact().LastContact;
  const asOf = `its state is as of ${textOf(secondMs * Math.round(contactMs / secondMs))} ago`;
  if (contactMs > server.staleMaxMs) faults.push(`stale requests are refused: ${asOf}`);
  else if (logMs === undefined) warnings.push(`stale requests are answered: ${asOf}`);
  if (server.notReady !== undefined) faults.push(server.notReady.detail);
  const view = state.read();
  return {
    version: server.version,
    leadsSinceMs: server.leadsSinceMs,
    index: view.index,
    batchMs: state.clock?.batchMs ?? 0,
    logMs,
    faults,
    warnings,
  };
}

/** Milliseconds until the view shows all that was durable at the call. */
async function reachLog(
  { context: { state, world } }: Server,
  faults: string[],
): Promise<number | undefined> {
  const { clock, timers } = world;
  const startMs = clock.monotonicMs();
  const late = Promise.withResolvers<never>();
  const timer = timers.after(limits.servers.healthMs, () =>
    late.reject(new Error('it does not answer')),
  );
  try {
    await Promise.race([state.exact(), late.promise]);
    return Math.round(clock.monotonicMs() - startMs);
  } catch (error) {
    const { message } = error as Error;
    faults.push(`the log cannot be reached: ${message}`);
    return undefined;
  } finally {
    timer.clear();
  }
}

/** The knowledge of a server, with its own words if it answers. */
interface Known {
  readonly member: Member;
  readonly report: ServerReport | undefined;
  readonly own: OwnHealth | undefined;
}

/**
 * Asks every server, and judges all of them.
 * @param ownAddress where the API of this server listens
 */
export async function serversHealth(server: Server, ownAddress: string): Promise<ServersHealth> {
  const { servers } = server;
  const patience = { deadlineMs: 2 * limits.servers.healthMs };
  const known = await Promise.all(
    servers.members().map(async (member): Promise<Known> => {
      if (member.id === servers.id) {
        const here = { ...member, address: ownAddress };
        return { member: here, report: undefined, own: await ownHealth(server) };
      }
      const own = await servers.healthOf(member.id, patience).catch(() => undefined);
      return { member, report: servers.reportOf(member.id), own };
    }),
  );
  return judge(servers, known);
}

function judge(servers: Pick<Servers, 'id' | 'leader'>, known: readonly Known[]): ServersHealth {
  const leader = servers.leader();
  const ofLeader = known.find(({ member }) => member.id === leader?.id);
  const newest: Newest = {
    index: Math.max(...known.map(indexOf)),
    batchMs: Math.max(...known.map(({ own }) => own?.batchMs ?? 0)),
    skewMs: ofLeader === undefined ? 0 : skewOf(ofLeader),
  };
  const judged = known.map((one) => {
    const { id, address } = one.member;
    const place = { ID: id, Address: address, Self: id === servers.id, Leader: id === leader?.id };
    return { ...place, ...verdictOf(one, newest) };
  });
  const healthy = judged.filter(({ Healthy }) => Healthy).length;
  const sinceMs = ofLeader?.own?.leadsSinceMs;
  return {
    Healthy: leader !== undefined && healthy === judged.length,
    Leader: leader?.id ?? '',
    LeaderSince: sinceMs === undefined ? 0 : instantFromMs(sinceMs),
    FailureTolerance: Math.max(healthy - 1, 0),
    Servers: judged,
  };
}

/** The best of all servers, with which each is compared. */
interface Newest {
  readonly index: number;
  readonly batchMs: number;
  /** The leader's clock minus that of this server. */
  readonly skewMs: number;
}

type Verdict = Omit<ServerHealth, 'ID' | 'Address' | 'Self' | 'Leader'>;

function verdictOf(one: Known, newest: Newest): Verdict {
  const { own, report } = one;
  if (own === undefined && report === undefined) {
    const Faults = ['it does not answer'];
    return { Healthy: false, Faults, Warnings: [], Status: 'unreachable' };
  }
  const Index = indexOf(one);
  const Behind = newest.index - Index;
  const isShown = Behind === 0 || own === undefined;
  const BehindMs = isShown ? 0 : Math.max(newest.batchMs - own.batchMs, 0);
  const ClockSkewMs = skewOf(one) - newest.skewMs;
  const Faults = [...(own?.faults ?? ['it does not tell its health'])];
  if (BehindMs > limits.servers.behindMaxMs) {
    Faults.push(`it is ${Behind} transactions and ${textOf(BehindMs)} behind`);
  }
  const Warnings = [...(own?.warnings ?? [])];
  if (Math.abs(ClockSkewMs) > limits.servers.skewMaxMs) {
    const way = ClockSkewMs > 0 ? 'ahead of' : 'behind';
    Warnings.push(`its clock is ${textOf(Math.abs(ClockSkewMs))} ${way} that of the leader`);
  }
  return {
    Healthy: Faults.length === 0,
    Faults,
    Warnings,
    Status: 'alive',
    Version: own?.version ?? report?.version ?? '',
    Index,
    Behind,
    BehindMs,
    ...(own?.logMs !== undefined && { LogMs: own.logMs }),
    ClockSkewMs,
  };
}

const textOf = (durationMs: number): string => formatDuration(durationMs * 1e6);

const indexOf = ({ own, report }: Known): number => own?.index ?? report?.index ?? 0;

const skewOf = ({ report }: Known): number => report?.skewMs ?? 0;
