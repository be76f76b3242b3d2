import { AllocationReportSchema, AllocationSchema } from '../model/allocation/allocation.ts';
import { JobSchema } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import { NodeRegistrationSchema } from '../model/node/node.ts';
import { FullList, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { ServicesReportSchema } from '../model/service-registration/service-registration.ts';
import { endpoints } from './endpoint.ts';
import { either, mayAnything } from './needs.ts';
import { itself } from './node.ts';

const LeaseSchema = Type.Object({ HeartbeatTTL: Whole(), Index: Whole() });

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
      summary: 'Join the fleet, or tell what changed',
      // Values are held against their bounds together with the other rules, so that all is told.
      body: { schema: RegisterSchema, unknown: 'report', checkValues: false },
      answer: LeaseSchema,
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
      summary: 'Show that the node is alive',
      answer: LeaseSchema,
      permission: itself,
    },
    assignments: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/node/:node_id/assignments',
      summary: 'What the node has to run, with the jobs',
      blocking: true,
      answer: Type.Array(Type.Object({ Allocation: AllocationSchema, Job: Nullable(JobSchema) })),
      permission: itself,
    },
    reportStatus: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/status',
      summary: 'Report how allocations fare',
      body: {
        ...{ schema: ReportSchema, unknown: 'report', checkValues: false },
        bytesMax: limits.http.nodeBodyBytesMax,
      },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
    },
    reportServices: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/node/:node_id/services',
      summary: 'Tell what services of allocations there are now',
      body: {
        ...{ schema: ServicesSchema, unknown: 'report', checkValues: false },
        bytesMax: limits.http.nodeBodyBytesMax,
      },
      answer: Type.Object({ Index: Whole() }),
      permission: itself,
    },
  },
);
