import { SchedulerConfigurationSchema } from '../model/scheduler-configuration/scheduler-configuration.ts';
import { Flag, Type, Whole } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { resource } from './needs.ts';

const query = {
  cas: {
    kind: 'integer',
    description: 'Only if the configuration has this ModifyIndex; 0: only if it was never set.',
  },
} as const;

export const schedulerEndpoints = endpoints(
  { group: 'scheduler', noun: 'scheduler', family: 'scheduler' },
  {
    configuration: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/operator/scheduler/configuration',
      summary: 'Read how the cluster places',
      blocking: true,
      answer: Type.Object({
        SchedulerConfig: SchedulerConfigurationSchema,
        Index: Whole(),
        LastContact: Whole(),
        KnownLeader: Flag(true),
      }),
      permission: resource('operator', 'read'),
    },
    configure: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/operator/scheduler/configuration',
      summary: 'Set how the cluster places',
      query,
      body: { schema: SchedulerConfigurationSchema, unknown: 'refuse' },
      answer: Type.Object({ Updated: Flag(), Index: Whole() }),
      permission: resource('operator', 'write'),
    },
  },
);
