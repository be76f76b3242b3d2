import { formatInstant } from '../../base/instant.ts';
import {
  nodeAgentEndpoints as contract,
  ReportSchema,
  ServicesSchema,
} from '../../contract/node-agent.ts';
import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { reportFaults } from '../../model/allocation/validate-report.ts';
import { complete } from '../../model/complete.ts';
import { type Fault, invalid, RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { isKnownAlive, NodeRegistrationSchema } from '../../model/node/node.ts';
import { servicesFaults } from '../../model/service-registration/validate-report.ts';
import { TracesRequestSchema } from '../../model/tracing/task-traces.ts';
import { noteSynced, registerNode } from '../../server/nodes/register.ts';
import { reportAllocations } from '../../server/nodes/report.ts';
import type { Server } from '../../server/server.ts';
import { reportServices } from '../../server/services/report.ts';
import { currentRestore } from '../../server/snapshots/node-returns.ts';
import { allocations, nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { BaseInput, Route } from '../route.ts';
import { serveRead, serveWrite } from '../serve.ts';
import type { TracingOfApi } from '../trace-request.ts';
import { jobOf } from './allocation.ts';
import { requireNode } from './node.ts';

const lease = (ttlMs: number, index: number) => ({ HeartbeatTTL: ttlMs * 1e6, Index: index });

/**
 * Tells a node that no leader misses it that none is known. Source: docs/behaviour/nodes.md#heartbeats.
 */
const withoutLeader =
  <I extends Pick<BaseInput, 'unwatched'>>(
    server: Server,
    idOf: (input: I) => string | undefined,
  ) =>
  async () => {
    const since = formatInstant(await server.leaderlessSince());
    return (input: I): never => {
      const node = input.unwatched.table(nodes).get(idOf(input) ?? '');
      throw node !== undefined && isKnownAlive(node)
        ? refusal('no-leader-since', { since })
        : refusal('no-leader');
    };
  };

/** Registrations and heartbeats. */
const livenessRoutes = (server: Server): Route[] => [
  ...serveWrite(
    contract.register,
    async (input) => {
      const { body, caller, unknownFields, address } = input;
      if (!body.Node) throw refusal('malformed-request', { reason: 'The body has no "Node".' });
      const node = complete(NodeRegistrationSchema, body.Node);
      const { index } = await exposing(server, { node: node.ID, address: address() }, () => {
        refuseUnknown(unknownFields);
        const introduction = caller.kind === 'introduction' ? caller.id : undefined;
        const proof = { secret: body.SecretID ?? '', introduction };
        return registerNode(server.context, node, proof);
      });
      const Restored = server.returns.noteRegistered(node.ID);
      const value = lease(server.heartbeats.heard(node.ID), index);
      return { index, value: { ...value, ...(Restored && { Restored }) } };
    },
    {
      withoutLeader: withoutLeader(server, ({ body }) => body.Node?.ID),
    },
  ),
  ...serveWrite(
    contract.heartbeat,
    async (input) => {
      const { ID } = requireKnown(server, input);
      const ttlMs = server.heartbeats.heard(ID);
      await noteSynced(server.context, ID);
      const { index } = input.snapshot;
      return { index, value: lease(ttlMs, index) };
    },
    {
      withoutLeader: withoutLeader(server, ({ parameters }) => parameters.node_id),
    },
  ),
];

/** The endpoints of node agents, who authenticate with their node's secret. */
export function nodeAgentRoutes(server: Server, tracing: TracingOfApi | undefined): Route[] {
  return [
    ...livenessRoutes(server),
    ...serveRead(
      contract.assignments,
      ({ parameters, query, snapshot, unwatched }) => {
        const assigned = snapshot.table(allocations).by('assignment');
        const range = { prefix: [parameters.node_id!] };
        // Read first, so that the refusal has its index as well.
        const rows = assigned.scan(range);
        requireReturned(server, unwatched, { id: parameters.node_id!, heard: query.restored });
        const assignments = [];
        for (const Allocation of rows) {
          if (isClientTerminal(Allocation)) continue;
          assignments.push({ Allocation, Job: jobOf(unwatched, Allocation) });
        }
        return assignments;
      },
      { answersRows: true },
    ),
    ...serveWrite(contract.reportStatus, async (input) => {
      const { ID } = requireKnown(server, input);
      const { Allocations } = complete(ReportSchema, input.body);
      const { index } = await exposing(server, { node: ID, address: input.address() }, () => {
        refuseUnknown(input.unknownFields);
        return report(server, ID, Allocations);
      });
      server.returns.noteReports(ID, Allocations);
      await noteSynced(server.context, ID);
      return { index, value: { Index: index } };
    }),
    ...serveWrite(contract.reportServices, async (input) => {
      const { ID } = requireKnown(server, input);
      const { Allocations } = complete(ServicesSchema, input.body);
      const { index } = await exposing(server, { node: ID, address: input.address() }, () => {
        refuseUnknown(input.unknownFields);
        const faults = servicesFaults(Allocations);
        if (faults.length > 0) throw invalid('invalid-body', faults);
        return reportServices(server.context, ID, Allocations);
      });
      return { index, value: { Index: index } };
    }),
    ...serveWrite(contract.traces, async (input) => {
      const { ID } = requireKnown(server, input);
      const { Allocations } = complete(TracesRequestSchema, input.body);
      const { statusBatchSizeMax: most } = limits.node;
      if (Allocations.length > most) {
        const message = `Allocations must hold at most ${most}, got ${Allocations.length}`;
        throw invalid('invalid-body', [{ pointer: '/Allocations', message }]);
      }
      return { value: { Traces: tracing?.giveTraces?.(ID, Allocations) ?? [] } };
    }),
  ];
}

/**
 * A node that was declared lost, or whose state was restored, has to register again before it counts.
 * @throws RosterError `node-not-found`, `node-not-registered`
 */
function requireKnown(server: Server, input: BaseInput) {
  const node = requireNode(input);
  if (!isKnownAlive(node)) throw refusal('node-not-registered', { id: node.ID });
  server.returns.requireRegistered(node.ID);
  return node;
}

/**
 * After a restore the leader alone knows which nodes have heard of it.
 * @throws RosterError `node-not-registered`, `not-leader`
 */
function requireReturned(
  server: Server,
  snapshot: Snapshot,
  { id, heard }: { readonly id: string; readonly heard: number | undefined },
): void {
  const nowMs = server.context.world.clock.nowMs();
  if (currentRestore(snapshot, nowMs) !== undefined) server.returns.requireHeard(id, heard);
}

function report(server: Server, nodeId: string, reports: readonly AllocationReport[]) {
  const faults = reportFaults(reports);
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return reportAllocations(server.context, nodeId, reports);
}

/**
 * Nodes of this version send no unknown fields; nodes of other versions learn which are unknown.
 */
function refuseUnknown(fields: readonly string[]): void {
  if (fields.length === 0) return;
  const faults = fields.slice(0, limits.fault.listedMax).map((pointer): Fault => {
    const name = pointer.slice(1).replaceAll('/', '.');
    return { pointer, message: `${name} is not known here` };
  });
  throw invalid('invalid-body', faults);
}

/** Logs the refusal of a node's report, with the node's id. */
async function exposing<T>(
  server: Server,
  who: { readonly node: string; readonly address: string },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RosterError && error.status < 500) {
      const { code, detail } = error;
      const node = who.node.slice(0, limits.fault.quotedLengthMax);
      server.context.log.warn({ ...who, node, code }, `a node is refused: ${detail}`);
    }
    throw error;
  }
}
