/** Paths of the task that lead elsewhere, for those who follow them with more rights than the task. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Attempt, Plan, Prey } from '../attempt.ts';
import { end, ready, waits } from './words.ts';

const onceMore = { RestartPolicy: { Attempts: 1, Interval: 3.6e12, Delay: 1e6, Mode: 'fail' } };

/** The first run puts links in the way of what is done before the second one. */
const inTwoRuns = (first: string, second: string): Pick<Plan, 'script' | 'group'> => ({
  group: onceMore,
  script: `if test -e /local/again; then ${second}; ${end}; exit 0; fi; ${first}; ${end}; touch /local/again; exit 1`,
});

const planted = ({ canary }: Prey): string => join(dirname(canary), 'planted');

const both = ['exec', 'docker'] as const;

/** `what` is linked to the directory of the prey. */
const link = (what: string, { canary }: Prey): string =>
  `mv ${what} ${what}-before; ln -s ${dirname(canary)} ${what}`;

/** The server refuses the name; `whatever a server says, nothing is made for a task` is of the node. */
const named = (Name: string, from: string): Attempt => ({
  name: `to have the directory of others by the name ${JSON.stringify(Name)} for its task`,
  drivers: both,
  refusal: /Tasks\[0\]\.Name/,
  counter: 'outside',
  plan: ({ dataDirectory, neighbour }) => ({
    task: {
      Name,
      Templates: [
        { SourcePath: `${from}${neighbour.id}/task/secrets/s`, DestPath: 'local/stolen' },
        { EmbeddedTmpl: 'x', DestPath: `${from}${neighbour.id}/task/local/planted` },
      ],
    },
    script: `cat ${dataDirectory}/node/alloc/${neighbour.id}/${Name}/alloc/data/s ${dataDirectory}/node/alloc/${neighbour.id}/${Name}/${neighbour.id}/alloc/data/s; ${end}`,
  }),
});

export const pathAttempts: readonly Attempt[] = [
  named('..', ''),
  named('.', '../'),
  {
    name: 'to have a template written through a link',
    drivers: both,
    counter: { without: ['heldPaths'] },
    plan: (prey) => ({
      ...inTwoRuns(link('/local/d', prey), 'true'),
      task: { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'local/d/planted' }] },
      hasHappened: () => existsSync(planted(prey)),
    }),
  },
];

/** What is asked of the API for files, over a link in the directory that tasks share. */
const over = (name: string, target: (prey: Prey) => string, ask: string): Attempt => ({
  name: `to ${name} through a link, by the API for files`,
  drivers: both,
  counter: { without: ['heldPaths'] },
  plan: (prey) => ({
    script: `ln -s ${target(prey)} /alloc/data/link; ${end}; ${ready}; ${waits}`,
    besides: ({ allocId, ask: send }) => send('GET', ask.replace('ID', allocId)),
  }),
});

export const walkAttempts: readonly Attempt[] = [
  over('read a file', ({ canary }) => canary, '/v1/client/fs/cat/ID?path=alloc/data/link'),
  over(
    'read a part of a file',
    ({ canary }) => canary,
    '/v1/client/fs/readat/ID?path=alloc/data/link&offset=0&limit=200',
  ),
  over(
    'read a file below a directory',
    ({ canary }) => dirname(canary),
    '/v1/client/fs/cat/ID?path=alloc/data/link/canary',
  ),
];
