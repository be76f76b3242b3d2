import { agentEndpoints as contract } from '../../contract/agent.ts';
import { RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { quote } from '../../model/path.ts';
import type { Member, ServerReport, Servers } from '../../server/servers.ts';
import type { LogHealth } from '../../state/log-health.ts';
import { allTables, nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { closedRefusal } from '../answers.ts';
import { logFaultOf, logHealthOf } from '../log-health.ts';
import { chosenForm, typeOfForm } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { metricsTargets } from '../metrics/targets.ts';
import type { Route } from '../route.ts';
import { serveRead, serveStream } from '../serve.ts';

export interface AgentFacts {
  readonly name: string;
  readonly version: string;
  readonly region: string;
  /** `host:port` of the HTTP API. */
  readonly address: () => string;
  readonly servers: Servers;
  /** The reason why writes are refused, if they are. */
  readonly writesClosed: () => Error | undefined;
  /** The id of the node in this process, if there is one. */
  readonly node: () => string | undefined;
  /** The health of a log that several servers share; `undefined`: there is none. */
  readonly log: () => LogHealth | undefined;
  readonly metrics: Metrics;
  /** The settings of the agent, without secrets. */
  readonly configuration: () => object;
  /** As JSON. */
  readonly openApi: () => string;
}
const healthy = { ok: true, message: 'ok' };
const agentParts = ['server', 'client'];

/** The health of this process's node. */
function clientHealth(snapshot: Snapshot, id: string) {
  const status = snapshot.table(nodes).get(id)?.Status ?? 'not registered';
  if (status === 'ready' || status === 'initializing') return healthy;
  return { ok: false, message: `the node is ${status}` };
}

function leaderless(log: LogHealth | undefined): RosterError {
  const fault = log && logFaultOf(log);
  return fault === undefined
    ? refusal('no-leader')
    : new RosterError('no-leader', `There is no leader at the moment: ${fault}.`);
}

const addressOf = ({ servers, address }: AgentFacts, { id, address: told }: Member): string =>
  id === servers.id ? address() : told;

/** The servers in the order of their ids. `index` is that of this server. */
function memberList(facts: AgentFacts, index: number) {
  const { servers, version } = facts;
  const own: ServerReport = { version, index, heardMs: 0, skewMs: 0 };
  const reportOf = (id: string) => (id === servers.id ? own : servers.reportOf(id));
  const leader = servers.leader();
  const newest = (leader && reportOf(leader.id)?.index) ?? index;
  return servers.members().map((member) => {
    const report = reportOf(member.id);
    const place = {
      ID: member.id,
      Address: addressOf(facts, member),
      Leader: member.id === leader?.id,
      Self: member.id === servers.id,
    };
    if (report === undefined) return { ...place, Status: 'unreachable' as const };
    return {
      ...place,
      Status: 'alive' as const,
      Version: report.version,
      Index: report.index,
      Behind: Math.max(newest - report.index, 0),
      LastContactMs: report.heardMs,
      ClockSkewMs: report.skewMs,
    };
  });
}

/** The size of the state: its index, and the number of rows in each table. */
const stateOf = (snapshot: Snapshot) => ({
  Index: snapshot.index,
  Rows: Object.fromEntries(allTables.map((table) => [table.name, snapshot.table(table).size])),
});

export function agentRoutes(facts: AgentFacts): Route[] {
  return [
    ...serveRead(contract.health, ({ query: { type }, snapshot }) => {
      const id = facts.node();
      const client = id === undefined ? undefined : clientHealth(snapshot, id);
      if (type === 'client') {
        if (client?.ok) return { ...client, client };
        const node = client === undefined ? facts.name : `${facts.name} (${client.message})`;
        throw refusal('node-unreachable', { node });
      }
      if (type !== '' && type !== 'server') {
        const reason = `must be ${agentParts.join(' or ')}, got ${quote(type)}`;
        throw refusal('invalid-query', { parameter: 'type', reason });
      }
      const closed = facts.writesClosed();
      if (closed !== undefined) throw closedRefusal(closed);
      const log = facts.log();
      if (facts.servers.leader() === undefined) throw leaderless(log);
      return {
        ...healthy,
        server: healthy,
        ...(type === '' && client && { client }),
        ...(log && { log: logHealthOf(log) }),
      };
    }),
    ...serveRead(contract.self, ({ unwatched }) => ({
      Name: facts.name,
      Version: facts.version,
      Region: facts.region,
      Address: facts.address(),
      NodeID: facts.node() ?? '',
      Config: facts.configuration(),
      State: stateOf(unwatched),
      Limits: limits,
    })),
    ...serveRead(contract.leader, () => {
      const leader = facts.servers.leader();
      return leader === undefined ? '' : addressOf(facts, leader);
    }),
    ...serveRead(contract.peers, () =>
      facts.servers.members().map((member) => addressOf(facts, member)),
    ),
    ...serveRead(contract.servers, ({ unwatched }) => memberList(facts, unwatched.index)),
    ...serveStream(contract.metrics, async ({ query, header }) => {
      const form = chosenForm(query.format, header('accept'));
      const body = await facts.metrics.text(form);
      return { status: 200, headers: { 'content-type': typeOfForm[form] }, body };
    }),
    ...serveRead(contract.metricsTargets, ({ header, snapshot }) =>
      metricsTargets(snapshot, header('host') || facts.address()),
    ),
    ...serveStream(contract.openApi, async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: facts.openApi(),
    })),
  ];
}
