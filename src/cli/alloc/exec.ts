import type { ClientCommand } from '../definition.ts';
import {
  joinSession,
  sessionDetails,
  sessionErrorExitCode,
  sessionOptions,
  sessionWish,
} from '../exec/session.ts';
import { allocationArgument } from './argument.ts';
import { jobOption, namedAllocation } from './of-job.ts';

export const allocExec: ClientCommand = {
  words: ['alloc', 'exec'],
  summary: 'Run a command in a task of an allocation.',
  definition: {
    arguments: [
      allocationArgument,
      {
        name: 'COMMAND',
        kind: 'word',
        isRequired: true,
        isRest: true,
        description: 'The program and its arguments, including all options after it.',
      },
    ],
    options: [
      ...sessionOptions,
      {
        name: 'task',
        value: 'TASK',
        description: 'The task; optional if there is only one.',
      },
      jobOption,
    ],
    errorExitCode: sessionErrorExitCode,
    details: `${sessionDetails}

Examples:
  roster alloc exec 8e6ec7a1 /bin/sh
  roster alloc exec -task web 8e6ec7a1 cat /etc/hosts
  roster alloc exec -job web /bin/sh
  roster alloc exec 8e6ec7a1 tar c -C /data . > data.tar`,
  },
  async run(context, [given, ...command], options) {
    const wish = sessionWish(options, context.environment);
    const allocation = await namedAllocation(context, given!, options);
    const request = { allocation, command, task: options.text('task'), tty: wish.tty };
    return joinSession(context, wish, (signal) => context.client.exec.run({ ...request, signal }));
  },
};
