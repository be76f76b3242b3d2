import { limits } from '../model/limits.ts';
import { allOf, namespaceCapability, type Permission } from '../model/permission/permission.ts';
import { endpoints } from './endpoint.ts';
import { type Asked, decided } from './needs.ts';
import { flag, type QueryTable, text } from './query.ts';

export const handshakeQuery = {
  ws_handshake: flag('The token is in the first message: `{"version":1,"auth_token":"…"}`.'),
} as const satisfies QueryTable;

const sessionQuery = {
  ...handshakeQuery,
  tty: flag('With a terminal.'),
} as const satisfies QueryTable;

/** The task or tasks of a command. */
export interface ExecTarget {
  /** The namespace of the allocation. */
  readonly namespace: string;
  /** Whether the node reports that these tasks see less than the whole machine. */
  readonly isIsolated: boolean;
}

const execNeeds =
  '`namespace:alloc-exec` in the namespace of the allocation; also `namespace:alloc-node-exec` where the task is not isolated';

const mayExec = decided(
  execNeeds,
  ({ namespace }: Asked, target: ExecTarget | undefined): Permission => {
    const exec = namespaceCapability(target?.namespace ?? namespace, 'alloc-exec');
    if (target === undefined || target.isIsolated) return exec;
    return allOf(exec, namespaceCapability(target.namespace, 'alloc-node-exec'));
  },
);

/** The job is looked up in the namespace of the request, so the answer tells whether that namespace has it. */
const mayRunAction = decided(
  `${execNeeds}. If the request names another namespace, \`namespace:alloc-exec\` there as well`,
  (asked: Asked, target: ExecTarget | undefined): Permission => {
    const exec = mayExec.decide(asked, target);
    if (target === undefined || target.namespace === asked.namespace) return exec;
    return allOf(namespaceCapability(asked.namespace, 'alloc-exec'), exec);
  },
);

export const execEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    exec: {
      kind: 'socket',
      path: '/v1/client/allocation/:alloc_id/exec',
      summary: 'Run a command in a task',
      query: {
        ...sessionQuery,
        task: text('The task; optional if the allocation has only one.'),
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
      path: '/v1/job/:job_id+/action',
      noun: 'job',
      summary: "Run an action of a job's task",
      query: {
        ...sessionQuery,
        action: { kind: 'string', required: true, description: 'The name of the action.' },
        alloc_id: {
          kind: 'string',
          required: true,
          description: 'The allocation; may be written `allocID`.',
        },
        task: { kind: 'string', required: true, description: 'The task of the action.' },
        group: text('Ignored: the task determines its group.'),
      },
      permission: mayRunAction,
    },
  },
);
