import { AllocationReportSchema, AllocationSchema } from '../model/allocation/allocation.ts';
import { JobSchema } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import { NodeRegistrationSchema } from '../model/node/node.ts';
import { FullList, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { ServicesReportSchema } from '../model/service-registration/service-registration.ts';
import { RestoredForNodeSchema } from '../model/snapshot/restore-record.ts';
import { AllocationTraceSchema, TracesRequestSchema } from '../model/tracing/task-traces.ts';
import { endpoints } from './endpoint.ts';
import { either, mayAnything } from './needs.ts';
import { itself } from './node.ts';

const LeaseSchema = Type.Object({ HeartbeatTTL: Whole(), Index: Whole() });

const RegisteredSchema = Type.Object({
  HeartbeatTTL: Whole(),
  Index: Whole(),
  Restored: Type.Optional(RestoredForNodeSchema),
});

const RegisterSchema = Type.Object({
  Node: Nullable(NodeRegistrationSchema),
  SecretID: Text(),
});

export const ReportSchema = Type.Object({ Allocations: FullList(AllocationReportSchema) });

export const ServicesSchema = Type.Object({ Allocations: FullList(ServicesReportSchema) });

export const nodeAgentEndpoints = endpoints(
  { group: 'node-agent', noun: 'node', family: 'scheduler' },
  {
    register: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/register',
      summary: 'Register a node, or report changes of it',
      // Bounds are checked with the other rules, so that all faults are reported at once.
      body: { schema: RegisterSchema, unknown: 'report', checkValues: false },
      answer: RegisteredSchema,
      permission: either(
        { kind: 'node-introduction' },
        {
          kind: 'own-node',
          nodeId: 'from-body:Node.ID',
        },
        mayAnything,
      ),
    },
    heartbeat: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/heartbeat',
      summary: 'Send a heartbeat',
      answer: LeaseSchema,
      permission: itself,
    },
    assignments: {
      kind: 'read',
      path: '/v1/node/:node_id/assignments',
      summary: 'Read the allocations of the node, with their jobs',
      blocking: true,
      query: {
        restored: {
          kind: 'index',
          description:
            'Index of the last restore of a snapshot that the node has heard of, 0 for none. If there was a newer one, the node has to register first.',
        },
      },
      answer: Type.Array(Type.Object({ Allocation: AllocationSchema, Job: Nullable(JobSchema) })),
      permission: itself,
    },
    reportStatus: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/status',
      summary: 'Report the status of allocations',
      body: {
        schema: ReportSchema,
        unknown: 'report',
        checkValues: false,
        bytesMax: limits.http.nodeBodyBytesMax,
      },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
    },
    reportServices: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/services',
      summary: 'Report the current services of allocations',
      body: {
        schema: ServicesSchema,
        unknown: 'report',
        checkValues: false,
        bytesMax: limits.http.nodeBodyBytesMax,
      },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
    },
    // The leader alone knows them, so it is asked as for a write.
    traces: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/traces',
      summary:
        'Ask for the traces of allocations that start on the node, which sends the spans of their tasks',
      body: { schema: TracesRequestSchema, unknown: 'refuse' },
      answer: Type.Object({ Traces: Type.Array(AllocationTraceSchema) }),
      permission: itself,
    },
  },
);
