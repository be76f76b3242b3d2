import { limits } from '../model/limits.ts';
import { Flag, Text, Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints } from './endpoint.ts';

const taskName = () => Text({ maxLength: limits.names.lengthMax });

export const RestartSchema = Type.Object({ TaskName: taskName(), AllTasks: Flag() });

export const SignalSchema = Type.Object({ Task: taskName(), Signal: taskName() });

export const clientLifecycleEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    restart: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/client/allocation/:alloc_id/restart',
      summary: 'Restart a task of an allocation, or all of them',
      body: {
        example: { TaskName: 'server' },
        schema: RestartSchema,
        unknown: 'refuse',
        optional: true,
      },
      answer: Type.Object({}),
      permission: inItsNamespace('alloc-lifecycle'),
    },
    signal: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/client/allocation/:alloc_id/signal',
      summary: 'Send a signal to a task of an allocation, or to all of them',
      body: {
        example: { Task: 'server', Signal: 'SIGHUP' },
        schema: SignalSchema,
        unknown: 'refuse',
      },
      answer: Type.Object({}),
      permission: inItsNamespace('alloc-lifecycle'),
    },
  },
);
