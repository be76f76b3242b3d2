import { schedulerEndpoints as contract } from '../../contract/scheduler-configuration.ts';
import {
  setSchedulerConfiguration,
  shownConfiguration,
} from '../../server/scheduler-configuration/write.ts';
import type { Server } from '../../server/server.ts';
import type { Route } from '../route.ts';
import { serveRead, serveWrite } from '../serve.ts';

/** Source: docs/behaviour/scheduling.md#scores, #preemption. */
export function operatorSchedulerRoutes({ context, schedulerDefaults }: Server): Route[] {
  return [
    ...serveRead(contract.configuration, ({ snapshot, contact }) => {
      const SchedulerConfig = shownConfiguration(snapshot, schedulerDefaults);
      const { ModifyIndex: Index } = SchedulerConfig;
      return { SchedulerConfig, Index, ...contact() };
    }),
    ...serveWrite(contract.configure, async ({ query: { cas }, body }) => {
      const { index, value } = await setSchedulerConfiguration(context, body, cas);
      return { index, value: { Updated: value, Index: index } };
    }),
  ];
}
