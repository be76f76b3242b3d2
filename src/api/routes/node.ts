import {
  anyOf,
  management,
  namedAccess,
  namespaceCapability,
  type Permission,
  resourceAccess,
} from '../../acl/permission.ts';
import { AllocationReportSchema, AllocationSchema } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { allocationStub } from '../../model/allocation/allocation-stub.ts';
import { complete } from '../../model/complete.ts';
import { refusal } from '../../model/errors.ts';
import { JobSchema } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import {
  type Node,
  NodeRegistrationSchema,
  NodeSchema,
  presentedNode,
} from '../../model/node/node.ts';
import { FullList, Nullable, Text, Type, Whole } from '../../model/schema.ts';
import { registerNode } from '../../server/nodes/register.ts';
import { reportAllocations } from '../../server/nodes/report.ts';
import type { Server } from '../../server/server.ts';
import { allocations, inNamespace, nodes } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';
import { jobOf, jobType } from './allocation.ts';

/** @throws RosterError `node-not-found` */
function requireNode({ parameters, snapshot }: Scope): Node {
  const node = snapshot.table(nodes).get(parameters.node_id!);
  if (node === undefined) throw refusal('node-not-found', { id: parameters.node_id! });
  return node;
}

const readNodes = () => resourceAccess('node', 'read');
/** Some of them, at least: of a list everybody sees the nodes that it may read. */
const readSomeNode = () => namedAccess('node', 'read', '', { extent: 'any' });
const readThatNode = ({ Name }: Node) => namedAccess('node', 'read', Name);

/** A refusal speaks of nodes as such: it does not tell whose name the id is. */
function readNode({ parameters, unwatched, allows }: Scope): Permission {
  const node = unwatched.table(nodes).get(parameters.node_id!);
  const named = node && readThatNode(node);
  return named !== undefined && allows(named) ? named : readNodes();
}

const itself = ({ parameters }: Scope) =>
  anyOf({ kind: 'own-node', nodeId: parameters.node_id! }, management);

const LeaseSchema = Type.Object({ HeartbeatTTL: Whole(), Index: Whole() });
const RegisterSchema = Type.Object({
  Node: Nullable(NodeRegistrationSchema),
  SecretID: Text(),
});
const ReportSchema = Type.Object({ Allocations: FullList(AllocationReportSchema) });

/** What operators and users see of nodes. Source: facts/scheduler.md §8.3. */
export function nodeRoutes(): Route[] {
  return [
    listRoute({
      method: 'GET',
      path: '/v1/nodes',
      noun: 'node',
      summary: 'List nodes',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the id.' },
        resources: { kind: 'boolean', default: false, description: 'Include the resources.' },
      },
      answer: NodeSchema,
      filterSchema: NodeSchema,
      permission: readSomeNode,
      visible: readThatNode,
      asksEach: true,
      rows: ({ query, snapshot }, { from, reverse }) =>
        snapshot.table(nodes).scan({ text: query.prefix, ...(from && { from }), reverse }),
      keyOf: (node: Node) => [node.ID],
      present: (node, { query }) => nodeStub(node, query.resources),
    }),
    readRoute({
      method: 'GET',
      path: '/v1/node/:node_id',
      noun: 'node',
      summary: 'Read a node',
      blocking: true,
      answer: NodeSchema,
      permission: (scope) => anyOf(readNode(scope), itself(scope)),
      handle: (scope) => presentedNode(requireNode(scope)),
    }),
    listRoute({
      method: 'GET',
      path: '/v1/node/:node_id/allocations',
      noun: 'node',
      summary: 'List the allocations of a node',
      blocking: true,
      answer: AllocationSchema,
      filterSchema: AllocationSchema,
      permission: readNode,
      rows: (input, { from, reverse }) => {
        const { parameters, snapshot, unwatched } = input;
        // A node that is missing is waited for; what else changes of it is none of the list's.
        const { ID } = unwatched.table(nodes).get(parameters.node_id!) ?? requireNode(input);
        const range = { prefix: [ID], ...(from && { from }), reverse };
        return snapshot.table(allocations).by('node').scan(range);
      },
      keyOf: ({ NodeID, Namespace, ID }) => [NodeID, ...inNamespace(Namespace, ID)],
      visible: ({ Namespace }) => namespaceCapability(Namespace, 'read-job'),
      asksEach: true,
      present: (allocation, { unwatched }) =>
        allocationStub(allocation, jobType(unwatched, allocation)),
    }),
  ];
}

function nodeStub(node: Node, withResources: boolean) {
  const { ID, Name, Datacenter, NodeClass, NodePool, HTTPAddr, Status, StatusDescription } = node;
  const { SchedulingEligibility, Drain, Drivers, CreateIndex, ModifyIndex } = node;
  return {
    ...{ ID, Name, Datacenter, NodeClass, NodePool, Address: HTTPAddr, Status, StatusDescription },
    ...{ SchedulingEligibility, Drain, Drivers, CreateIndex, ModifyIndex },
    Version: node.Attributes['roster.version'] ?? '',
    ...(withResources && {
      NodeResources: node.NodeResources,
      ReservedResources: node.ReservedResources,
    }),
  };
}

/** What a node agent says and asks, under its own secret. Source: DESIGN §7. */
export function nodeAgentRoutes(server: Server): Route[] {
  return [
    writeRoute({
      method: 'PUT',
      path: '/v1/node/register',
      noun: 'node',
      summary: 'Join the fleet, or tell what changed',
      body: { schema: RegisterSchema, unknown: 'report' },
      answer: LeaseSchema,
      permission: ({ body }: Input<Record<never, never>, RegisterBody>) =>
        anyOf(
          { kind: 'node-introduction' },
          { kind: 'own-node', nodeId: body.Node?.ID ?? '' },
          management,
        ),
      handle: async ({ body }) => {
        if (!body.Node) throw refusal('malformed-request', { reason: 'The body has no "Node".' });
        const node = complete(NodeRegistrationSchema, body.Node);
        const { index } = await registerNode(server.context, node, body.SecretID ?? '');
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
        const node = requireNode(input);
        // A node that was given up has to tell anew what it is before it counts again.
        if (node.Status !== 'ready') throw refusal('node-not-found', { id: node.ID });
        const { index } = input.snapshot;
        return { index, value: lease(server.heartbeats.heard(node.ID), index) };
      },
    }),
    readRoute({
      method: 'GET',
      path: '/v1/node/:node_id/assignments',
      noun: 'node',
      summary: 'What the node has to run, with the jobs',
      blocking: true,
      answer: Type.Array(Type.Object({ Allocation: AllocationSchema, Job: Nullable(JobSchema) })),
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
      body: { schema: ReportSchema, unknown: 'report', bytesMax: limits.http.nodeBodyBytesMax },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
      handle: async ({ parameters, body }: Input<Record<never, never>, ReportBody>) => {
        const { Allocations } = complete(ReportSchema, body);
        const { index } = await reportAllocations(server.context, parameters.node_id!, Allocations);
        return { index, value: { Index: index } };
      },
    }),
  ];
}

type RegisterBody = Parameters<typeof complete<typeof RegisterSchema>>[1];
type ReportBody = Parameters<typeof complete<typeof ReportSchema>>[1];

const lease = (ttlMs: number, index: number) => ({ HeartbeatTTL: ttlMs * 1e6, Index: index });
