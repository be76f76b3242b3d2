/** The driver without isolation: nodes that do not allow it, and its tasks with another user. */
import type { Attempt } from '../attempt.ts';
import { end, got } from './words.ts';

export const rawAttempts: readonly Attempt[] = [
  {
    name: 'to run without a sandbox on a node that does not name that driver',
    drivers: ['exec'],
    refusal: /placed nowhere/,
    counter: { operator: 'reckless' },
    plan: ({ canary }) => ({
      task: { Driver: 'raw_exec' },
      script: `cat ${canary}; ${end}`,
    }),
  },
  {
    name: 'to read the files of the agent without a sandbox, as another user',
    drivers: ['exec'],
    agents: ['root'],
    operator: 'reckless',
    counter: 'outside',
    plan: ({ canary, dataDirectory, neighbour }) => ({
      task: { Driver: 'raw_exec', User: 'nobody' },
      script: `cat ${canary}; ls ${dataDirectory} ${dataDirectory}/node/alloc && ${got}; cat ${dataDirectory}/node/alloc/${neighbour.id}/task/secrets/s; ${end}`,
    }),
  },
];
