import { resourceAccess } from '../../model/permission/permission.ts';
import {
  type SchedulerConfigurationRequest,
  SchedulerConfigurationSchema,
} from '../../model/scheduler-configuration/scheduler-configuration.ts';
import { Flag, Type, Whole } from '../../model/schema.ts';
import {
  setSchedulerConfiguration,
  shownConfiguration,
} from '../../server/scheduler-configuration/write.ts';
import type { Server } from '../../server/server.ts';
import { type Input, type Route, readRoute, writeRoute } from '../route.ts';

const path = '/v1/operator/scheduler/configuration';
const noun = 'scheduler';

const query = {
  cas: {
    kind: 'integer',
    description: 'Only if the configuration has this ModifyIndex; 0: only if it was never set.',
  },
} as const;

/** How the cluster places. Source: docs/behaviour/scheduling.md#scores, #preemption. */
export function operatorSchedulerRoutes({ context, schedulerDefaults }: Server): Route[] {
  return [
    readRoute({
      ...{ method: 'GET', path, noun },
      summary: 'Read how the cluster places',
      blocking: true,
      answer: Type.Object({
        SchedulerConfig: SchedulerConfigurationSchema,
        Index: Whole(),
        LastContact: Whole(),
        KnownLeader: Flag(true),
      }),
      permission: () => resourceAccess('operator', 'read'),
      handle: ({ snapshot }) => {
        const SchedulerConfig = shownConfiguration(snapshot, schedulerDefaults);
        const { ModifyIndex: Index } = SchedulerConfig;
        return { SchedulerConfig, Index, LastContact: 0, KnownLeader: true };
      },
    }),
    ...(['PUT', 'POST'] as const).map((method) =>
      writeRoute({
        ...{ method, path, noun, query },
        summary: 'Set how the cluster places',
        body: { schema: SchedulerConfigurationSchema, unknown: 'refuse' },
        answer: Type.Object({ Updated: Flag(), Index: Whole() }),
        permission: () => resourceAccess('operator', 'write'),
        handle: async ({
          query: { cas },
          body,
        }: Input<typeof query, SchedulerConfigurationRequest>) => {
          const { index, value } = await setSchedulerConfiguration(context, body, cas);
          return { index, value: { Updated: value, Index: index } };
        },
      }),
    ),
  ];
}
