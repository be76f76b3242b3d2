import { limits } from '../model/limits.ts';
import type { Permission } from '../model/permission/permission.ts';
import { allOf, namespaceCapability } from '../model/permission/permission.ts';
import { endpoints } from './endpoint.ts';
import { type Asked, decided } from './needs.ts';
import type { QueryTable } from './query.ts';

export const handshakeQuery = {
  ws_handshake: {
    kind: 'boolean',
    default: false,
    description: 'The token comes in the first message: `{"version":1,"auth_token":"…"}`.',
  },
} as const satisfies QueryTable;

const sessionQuery = {
  ...handshakeQuery,
  tty: { kind: 'boolean', default: false, description: 'With a terminal.' },
} as const satisfies QueryTable;

/** The allocation that a command is to run in. */
export interface ExecTarget {
  /** Of the allocation. */
  readonly namespace: string;
  /** Whether its node says that the tasks meant see less than the whole machine. */
  readonly isIsolated: boolean;
}

const mayExec = decided(
  '`namespace:alloc-exec` in the namespace of the allocation; also `namespace:alloc-node-exec` where the task is not isolated',
  ({ namespace }: Asked, target: ExecTarget | undefined): Permission => {
    const exec = namespaceCapability(target?.namespace ?? namespace, 'alloc-exec');
    if (target === undefined || target.isIsolated) return exec;
    return allOf(exec, namespaceCapability(target.namespace, 'alloc-node-exec'));
  },
);

/** Commands in tasks that run. */
export const execEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    exec: {
      kind: 'socket',
      methods: ['GET'],
      path: '/v1/client/allocation/:alloc_id/exec',
      summary: 'Run a command in a task',
      query: {
        ...sessionQuery,
        task: {
          kind: 'string',
          default: '',
          description: 'The task; not needed where the allocation has only one.',
        },
        command: {
          kind: 'string',
          required: true,
          lengthMax: limits.exec.commandLengthMax,
          description: 'The program and its arguments, as a JSON array of texts.',
        },
      },
      permission: mayExec,
    },
    runAction: {
      kind: 'socket',
      methods: ['GET'],
      path: '/v1/job/:job_id+/action',
      noun: 'job',
      summary: "Run an action of a job's task",
      query: {
        ...sessionQuery,
        action: { kind: 'string', required: true, description: 'The name of the action.' },
        alloc_id: {
          kind: 'string',
          required: true,
          description: 'The allocation; `allocID` is the same.',
        },
        task: { kind: 'string', required: true, description: 'The task that has the action.' },
        group: { kind: 'string', default: '', description: 'Not looked at: tasks have one group.' },
      },
      permission: mayExec,
    },
  },
);
