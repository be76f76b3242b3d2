import { SchedulerConfigurationSchema } from '../model/scheduler-configuration/scheduler-configuration.ts';
import { Flag, Type, Whole } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { resource } from './needs.ts';
import { guard } from './query.ts';

export const schedulerEndpoints = endpoints(
  { group: 'scheduler', noun: 'scheduler', family: 'scheduler' },
  {
    configuration: {
      kind: 'read',
      path: '/v1/operator/scheduler/configuration',
      summary: 'Read the configuration of the scheduler',
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
      summary: 'Set the configuration of the scheduler',
      query: guard('configuration', 'only if it was never set'),
      body: {
        example: { SchedulerAlgorithm: 'spread' },
        schema: SchedulerConfigurationSchema,
        unknown: 'refuse',
      },
      answer: Type.Object({ Updated: Flag(), Index: Whole() }),
      permission: resource('operator', 'write'),
    },
  },
);
