import type { ResolvedCounts } from '../../acl/resolve.ts';
import { type StreamKnown, stateOf } from '../../model/peering/state.ts';
import type { Leading } from '../../server/leading.ts';
import type { ServiceExchange } from '../../server/peering/exchange/service-exchange.ts';
import type { ThreadEnds } from '../../server/readers/thread-ends.ts';
import type { Server } from '../../server/server.ts';
import type { LogHealth } from '../../state/log-health.ts';
import { allTables, peerings } from '../../state/tables.ts';
import { type Family, family, histogramSamples, labelled, single } from './family.ts';
import { logFamilies } from './log-families.ts';

/** The metrics that every thread of an agent has. */
export const threadFamilies = (thread: {
  readonly server: Server;
  readonly parked: number;
  readonly sessions: number;
  /** The connections of the web interface. */
  readonly ui: { readonly size: number; readonly watches: number };
  readonly connections: number;
  readonly resolved: ResolvedCounts;
}): readonly Family[] => [
  single('roster_http_connections', thread.connections),
  single('roster_blocking_queries', thread.parked),
  single('roster_exec_sessions', thread.sessions),
  single('roster_ui_connections', thread.ui.size),
  single('roster_ui_watches', thread.ui.watches),
  single('roster_nodes_connected', thread.server.streams.size),
  labelled('roster_tokens_resolved_total', 'cache', {
    hit: thread.resolved.hits,
    miss: thread.resolved.misses,
  }),
  single('roster_tokens_refused_total', thread.resolved.refused),
];

/** The metrics of a server, without those of the rows that it stores. */
export function serverFamilies(server: Server, log: LogHealth | undefined): readonly Family[] {
  const { state } = server.context;
  const { servers } = server;
  const snapshot = state.read();
  const members = servers.members();
  const alive = members.filter(
    ({ id }) => id === servers.id || servers.reportOf(id) !== undefined,
  ).length;
  return [
    single('roster_server_leader', server.leads),
    labelled('roster_servers', 'status', { alive, unreachable: members.length - alive }),
    single('roster_server_contact_seconds', server.contact().LastContact / 1000),
    single('roster_writes_closed', state.closed !== undefined),
    single('roster_state_index', snapshot.index),
    labelled(
      'roster_state_rows',
      'table',
      Object.fromEntries(allTables.map((table) => [table.name, snapshot.table(table).size])),
    ),
    ...(server.threadEnds === undefined ? [] : [threadEndFamily(server.threadEnds)]),
    ...(server.leads ? leaderFamilies(server, server.leading) : []),
    ...(log === undefined ? [] : logFamilies(log)),
  ];
}

function threadEndFamily({ counts }: ThreadEnds): Family {
  const samples = Object.entries(counts).flatMap(([thread, reasons]) =>
    Object.entries(reasons).map(([reason, value]) => ({ labels: { thread, reason }, value })),
  );
  return family('roster_thread_ends_total', samples);
}

/** The metrics that only the leader knows. */
function leaderFamilies({ context }: Server, leading: Leading): readonly Family[] {
  const { commitSeconds, waitingWrites, oldestWriteMs, snapshotBytes, logBytes } =
    context.state.figures;
  const { dispatcher, schedule, decisionFigures } = leading;
  const commits = 'roster_state_commit_seconds';
  const decisions = 'roster_evaluation_seconds';
  return [
    family(commits, histogramSamples(commits, {}, commitSeconds)),
    single('roster_state_writes_waiting', waitingWrites),
    single('roster_state_oldest_write_seconds', (oldestWriteMs ?? 0) / 1000),
    single('roster_state_snapshot_bytes', snapshotBytes),
    single('roster_state_log_bytes', logBytes),
    ...(schedule === undefined
      ? []
      : [
          single('roster_snapshot_failures_total', schedule.failures),
          single('roster_snapshot_saved_timestamp_seconds', (schedule.savedMs ?? 0) / 1000),
        ]),
    family(decisions, histogramSamples(decisions, {}, decisionFigures.seconds)),
    single('roster_plan_refusals_total', decisionFigures.refusedPlans),
    single('roster_decider_decisions_total', decisionFigures.decidedApart),
    labelled('roster_evaluation_queue', 'place', {
      ...dispatcher.broker.counts,
      blocked: dispatcher.blocked.size,
    }),
    ...peeringFamilies(context.state.read().table(peerings).scan(), {
      known: (id) => leading.peerings.streams.known(id),
      lagMs: (peering) => leading.exchange.lagMs(peering),
    }),
  ];
}

function peeringFamilies(
  rows: Iterable<
    Parameters<typeof stateOf>[0] & {
      readonly ID: string;
      readonly Name: string;
      readonly Partition: string;
    }
  >,
  {
    known,
    lagMs,
  }: {
    readonly known: (id: string) => StreamKnown;
    readonly lagMs: ServiceExchange['lagMs'];
  },
): readonly Family[] {
  const states = { INITIAL: 0, ESTABLISHING: 0, ACTIVE: 0, FAILING: 0, TERMINATED: 0 };
  const received = [];
  const lags = [];
  for (const row of rows) {
    const stream = known(row.ID);
    states[stateOf(row, stream)]++;
    const labels = { partition: row.Partition, peer: row.Name };
    const lag = lagMs({ partition: row.Partition, name: row.Name });
    if (lag !== undefined) lags.push({ labels, value: lag / 1000 });
    if (stream.lastReceiveMs === 0) continue;
    received.push({ labels, value: stream.lastReceiveMs / 1000 });
  }
  return [
    labelled('roster_peerings', 'state', states),
    family('roster_peering_received_timestamp_seconds', received),
    family('roster_peering_export_lag_seconds', lags),
  ];
}
