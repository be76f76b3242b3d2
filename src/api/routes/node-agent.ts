import {
  type AllocationReport,
  AllocationReportSchema,
  AllocationSchema,
} from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { reportFaults } from '../../model/allocation/validate-report.ts';
import { complete } from '../../model/complete.ts';
import { type Fault, invalid, RosterError, refusal } from '../../model/errors.ts';
import { JobSchema } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { isKnownAlive, NodeRegistrationSchema } from '../../model/node/node.ts';
import { anyOf, management } from '../../model/permission/permission.ts';
import { FullList, Nullable, Text, Type, Whole } from '../../model/schema.ts';
import { ServicesReportSchema } from '../../model/service-registration/service-registration.ts';
import { servicesFaults } from '../../model/service-registration/validate-report.ts';
import { noteSynced, registerNode } from '../../server/nodes/register.ts';
import { reportAllocations } from '../../server/nodes/report.ts';
import type { Server } from '../../server/server.ts';
import { reportServices } from '../../server/services/report.ts';
import { allocations } from '../../state/tables.ts';
import { type Input, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { jobOf } from './allocation.ts';
import { itself, requireNode } from './node.ts';

const LeaseSchema = Type.Object({ HeartbeatTTL: Whole(), Index: Whole() });
const RegisterSchema = Type.Object({
  Node: Nullable(NodeRegistrationSchema),
  SecretID: Text(),
});
const ReportSchema = Type.Object({ Allocations: FullList(AllocationReportSchema) });
const ServicesSchema = Type.Object({ Allocations: FullList(ServicesReportSchema) });

type NoQuery = Record<never, never>;
type RegisterBody = Parameters<typeof complete<typeof RegisterSchema>>[1];
type ReportBody = Parameters<typeof complete<typeof ReportSchema>>[1];
type ServicesBody = Parameters<typeof complete<typeof ServicesSchema>>[1];

const lease = (ttlMs: number, index: number) => ({ HeartbeatTTL: ttlMs * 1e6, Index: index });

/** What a node agent says and asks, under its own secret. */
export function nodeAgentRoutes(server: Server): Route[] {
  return [
    writeRoute({
      method: 'PUT',
      path: '/v1/node/register',
      noun: 'node',
      summary: 'Join the fleet, or tell what changed',
      // Values are held against their bounds together with the other rules, so that all is told.
      body: { schema: RegisterSchema, unknown: 'report', checkValues: false },
      answer: LeaseSchema,
      permission: ({ body }: Input<NoQuery, RegisterBody>) =>
        anyOf(
          { kind: 'node-introduction' },
          { kind: 'own-node', nodeId: body.Node?.ID ?? '' },
          management,
        ),
      handle: async (input: Input<NoQuery, RegisterBody>) => {
        const { body, caller, unknownFields, address } = input;
        if (!body.Node) throw refusal('malformed-request', { reason: 'The body has no "Node".' });
        const node = complete(NodeRegistrationSchema, body.Node);
        const { index } = await exposing(server, { node: node.ID, address: address() }, () => {
          refuseUnknown(unknownFields);
          const introduction = caller.kind === 'introduction' ? caller.id : undefined;
          const proof = { secret: body.SecretID ?? '', introduction };
          return registerNode(server.context, node, proof);
        });
        return { index, value: lease(server.heartbeats.heard(node.ID), index) };
      },
    }),
    writeRoute({
      method: 'PUT',
      path: '/v1/node/:node_id/heartbeat',
      noun: 'node',
      summary: 'Show that the node is alive',
      answer: LeaseSchema,
      permission: itself,
      handle: async (input) => {
        const { ID } = requireKnown(input);
        const ttlMs = server.heartbeats.heard(ID);
        await noteSynced(server.context, ID);
        const { index } = input.snapshot;
        return { index, value: lease(ttlMs, index) };
      },
    }),
    readRoute({
      method: 'GET',
      path: '/v1/node/:node_id/assignments',
      noun: 'node',
      summary: 'What the node has to run, with the jobs',
      blocking: true,
      answer: Type.Array(Type.Object({ Allocation: AllocationSchema, Job: Nullable(JobSchema) })),
      answersRows: true,
      permission: itself,
      handle: ({ parameters, snapshot, unwatched }) => {
        const assigned = snapshot.table(allocations).by('assignment');
        const assignments = [];
        for (const Allocation of assigned.scan({ prefix: [parameters.node_id!] })) {
          if (isClientTerminal(Allocation)) continue;
          assignments.push({ Allocation, Job: jobOf(unwatched, Allocation) });
        }
        return assignments;
      },
    }),
    writeRoute({
      method: 'PUT',
      path: '/v1/node/:node_id/status',
      noun: 'node',
      summary: 'Report how allocations fare',
      body: {
        ...{ schema: ReportSchema, unknown: 'report', checkValues: false },
        bytesMax: limits.http.nodeBodyBytesMax,
      },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
      handle: async (input: Input<NoQuery, ReportBody>) => {
        const { ID } = requireKnown(input);
        const { Allocations } = complete(ReportSchema, input.body);
        const { index } = await exposing(server, { node: ID, address: input.address() }, () => {
          refuseUnknown(input.unknownFields);
          return report(server, ID, Allocations);
        });
        await noteSynced(server.context, ID);
        return { index, value: { Index: index } };
      },
    }),
    writeRoute({
      method: 'PUT',
      path: '/v1/node/:node_id/services',
      noun: 'node',
      summary: 'Tell what services of allocations there are now',
      body: {
        ...{ schema: ServicesSchema, unknown: 'report', checkValues: false },
        bytesMax: limits.http.nodeBodyBytesMax,
      },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
      handle: async (input: Input<NoQuery, ServicesBody>) => {
        const { ID } = requireKnown(input);
        const { Allocations } = complete(ServicesSchema, input.body);
        const { index } = await exposing(server, { node: ID, address: input.address() }, () => {
          refuseUnknown(input.unknownFields);
          const faults = servicesFaults(Allocations);
          if (faults.length > 0) throw invalid('invalid-body', faults);
          return reportServices(server.context, ID, Allocations);
        });
        return { index, value: { Index: index } };
      },
    }),
  ];
}

/**
 * A node that was given up has to tell anew what it is before it counts again.
 * @throws RosterError `node-not-found`
 */
function requireKnown(input: Scope) {
  const node = requireNode(input);
  if (!isKnownAlive(node)) throw refusal('node-not-found', { id: node.ID });
  return node;
}

function report(server: Server, nodeId: string, reports: readonly AllocationReport[]) {
  const faults = reportFaults(reports);
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return reportAllocations(server.context, nodeId, reports);
}

/** A node of this version says nothing else, and one of another has to be told. */
function refuseUnknown(fields: readonly string[]): void {
  if (fields.length === 0) return;
  const faults = fields.slice(0, limits.fault.listedMax).map((pointer): Fault => {
    const name = pointer.slice(1).replaceAll('/', '.');
    return { pointer, message: `${name} is not known here` };
  });
  throw invalid('invalid-body', faults);
}

/** Nodes are believed what they say: one that says what cannot be is named in the log. */
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
