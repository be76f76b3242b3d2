/**
 * Links in directories that a task writes to, one for each kind of file that the agent writes,
 * reads, moves or packs there: the places of `src/node/DESIGN.md`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Attempt, type Plan, type Prey, success } from '../attempt.ts';
import { end, ready, waits } from './words.ts';

const both = ['exec', 'docker'] as const;
const directoryOf = ({ canary }: Prey): string => dirname(canary);
const planted = (prey: Prey): string => join(directoryOf(prey), 'planted');
const isPlanted = (prey: Prey) => ({ hasHappened: () => existsSync(planted(prey)) });

const held = (name: string, plan: Attempt['plan'], more: Partial<Attempt> = {}): Attempt => ({
  name,
  drivers: both,
  counter: { without: ['heldPaths'] },
  plan,
  ...more,
});

const onceMore = { RestartPolicy: { Attempts: 1, Interval: 3.6e12, Delay: 1e6, Mode: 'fail' } };

/** The first run plants a link for the agent's work before the second run. */
const inTwoRuns = (first: string): Pick<Plan, 'script' | 'group'> => ({
  group: onceMore,
  script: `if test -e /local/again; then ${end}; exit 0; fi; ${first}; ${end}; touch /local/again; exit 1`,
});

/** `/local/d` is a link to the directory of the prey when the second run is prepared. */
const throughDirectory = (prey: Prey): Pick<Plan, 'script' | 'group'> =>
  inTwoRuns(`mv /local/d /local/before; ln -s ${directoryOf(prey)} /local/d`);

const written: readonly Attempt[] = [
  held('to have a template written through a link', (prey) => ({
    ...throughDirectory(prey),
    ...isPlanted(prey),
    task: { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'local/d/planted' }] },
  })),
  held('to have what it was dispatched with written through a link', (prey) => ({
    ...throughDirectory(prey),
    ...isPlanted(prey),
    payload: 'x',
    task: { DispatchPayload: { File: 'd/planted' } },
  })),
  held('to have its identity written through a link', (prey) => ({
    ...throughDirectory(prey),
    ...isPlanted(prey),
    task: { Identities: [{ Name: 'mine', File: true, Filepath: 'local/d/planted' }] },
  })),
  held(
    'to have an artifact land through a link',
    (prey) => ({
      ...isPlanted(prey),
      before: `ln -s ${directoryOf(prey)} /alloc/data/d`,
      task: {
        Artifacts: [{ GetterSource: `${prey.url}/planted`, RelativeDest: 'alloc/data/d/' }],
      },
      script: end,
    }),
    { refusal: /in the destination is no directory/ },
  ),
];

/** The agent reads a file of the machine, taking it for the task's. */
const read: readonly Attempt[] = [
  held(
    'to have a file of the agent taken for a template',
    ({ canary }) => ({
      before: `ln -s ${canary} /alloc/data/link`,
      task: { Templates: [{ SourcePath: '/alloc/data/link', DestPath: 'local/stolen' }] },
      script: `cat /local/stolen; ${end}`,
    }),
    { refusal: /is not below the directory/ },
  ),
  held(
    'to have a file of the agent read by a function of a template',
    ({ canary }) => ({
      before: `ln -s ${canary} /alloc/data/link`,
      task: {
        Templates: [{ EmbeddedTmpl: '{{ file "/alloc/data/link" }}', DestPath: 'local/stolen' }],
      },
      script: `cat /local/stolen; ${end}`,
    }),
    { refusal: /is not below the directory/ },
  ),
];

/** The user that owns the shared directory: containers run as root anyway. */
const owner = ({ agent, driver }: Prey): object =>
  agent === 'root' && driver === 'exec' ? { User: 'root' } : {};

/** The data that moves to the job's next version is the machine's. */
const passed = (prey: Prey, isElsewhere: boolean): Plan => ({
  task: owner(prey),
  group: { EphemeralDisk: { SizeMB: 10, Sticky: true, Migrate: true } },
  script: `cd /; mv /alloc/data /alloc/x; ln -s ${directoryOf(prey)} /alloc/data; ${end}; ${ready}; ${waits}`,
  next: { script: `cat /alloc/data/canary; ${end}`, isElsewhere },
});

const handedOn: readonly Attempt[] = [
  held('to have files of the agent moved to the next allocation', (prey) => passed(prey, false), {
    operator: 'lenient',
  }),
  held('to have files of the agent packed for another node', (prey) => passed(prey, true), {
    operator: 'lenient',
  }),
];

/** Requests to the API for files, through a link in the shared directory. */
const over = (name: string, target: (prey: Prey) => string, ask: string): Attempt =>
  held(`to ${name} through a link, by the API for files`, (prey) => ({
    script: `ln -s ${target(prey)} /alloc/data/link; ${end}; ${ready}; ${waits}`,
    besides: async ({ allocId, ask: send }) => {
      const text = await send('GET', ask.replace('ID', allocId));
      const [, data] = /"Data":"([^"]+)"/.exec(text) ?? [];
      const isSeen = text.includes('"canary"') || atobOf(data).startsWith('canary');
      return isSeen ? success : text;
    },
  }));

const atobOf = (data = ''): string => Buffer.from(data, 'base64').toString();

const asked: readonly Attempt[] = [
  over('read a file', ({ canary }) => canary, '/v1/client/fs/cat/ID?path=alloc/data/link'),
  over(
    'read a part of a file',
    ({ canary }) => canary,
    '/v1/client/fs/readat/ID?path=alloc/data/link&offset=0&limit=200',
  ),
  over(
    'read a file below a directory',
    directoryOf,
    '/v1/client/fs/cat/ID?path=alloc/data/link/canary',
  ),
  over('list a directory', directoryOf, '/v1/client/fs/ls/ID?path=alloc/data/link'),
  over(
    'follow a file',
    ({ canary }) => canary,
    '/v1/client/fs/stream/ID?path=alloc/data/link&plain=true&follow=false',
  ),
];

/**
 * Makes a command beside the task begin in a directory of the task that has the path of one on the
 * machine.
 */
const enters = (prey: Prey): string =>
  `mkdir -p ${directoryOf(prey)}; ln -s ${directoryOf(prey)} /local/d; cd /local/d && cd -P . && ${end}; ${ready}; ${waits}`;

const reads = { Command: '/bin/cat', Args: ['canary'] };

const beside = (name: string, plan: Attempt['plan']): Attempt =>
  held(name, plan, {
    drivers: ['exec'],
    operator: 'lenient',
    // With the filter, the command would begin in the directory of that path in the sandbox.
    counter: { without: ['heldPaths', 'systemCalls'] },
  });

const besideTask: readonly Attempt[] = [
  beside('to have a command beside it begin in a directory of the machine', (prey) => ({
    task: owner(prey),
    script: enters(prey),
    besides: ({ run }) => run(['/bin/cat', 'canary']),
  })),
  beside('to have an action begin in a directory of the machine', (prey) => ({
    task: { ...owner(prey), Actions: [{ Name: 'look', ...reads }] },
    script: enters(prey),
    besides: ({ run }) => run('look'),
  })),
  beside('to have the script of a template begin in a directory of the machine', (prey) => ({
    task: {
      ...owner(prey),
      Templates: [
        {
          EmbeddedTmpl: `{{ rosterVarExists "roster/jobs/${prey.jobId}" }}`,
          DestPath: 'local/t',
          ChangeMode: 'script',
          Splay: 0,
          ChangeScript: {
            Command: '/bin/sh',
            Args: ['-c', 'cat canary > /alloc/data/out 2>&1; mv /alloc/data/out /alloc/data/seen'],
          },
        },
      ],
    },
    script: enters(prey),
    besides: async ({ ask, allocId }) => {
      const path = `roster/jobs/${prey.jobId}`;
      const said = await ask('PUT', `/v1/var/${path}`, { Path: path, Items: { x: 'y' } });
      for (let look = 0; look < 100; look++) {
        const text = await ask('GET', `/v1/client/fs/cat/${allocId}?path=alloc/data/seen`);
        if (!text.includes('"status":')) return text;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return said;
    },
  })),
];

/** While `bwrap` makes a sandbox, it sees the machine at `/oldroot`. */
const mounted: readonly Attempt[] = [
  held(
    'to have a directory made for its volume through a link',
    (prey) => ({
      ...inTwoRuns(`mv /local/d /local/before; ln -s /oldroot${directoryOf(prey)} /local/d`),
      group: {
        ...onceMore,
        Volumes: { gift: { Type: 'host', Source: 'fixed', ReadOnly: true } },
      },
      task: { VolumeMounts: [{ Volume: 'gift', Destination: '/local/d/planted' }] },
      hasHappened: () => readdirSync(directoryOf(prey)).includes('planted'),
    }),
    { drivers: ['exec'] },
  ),
];

export const heldAttempts: readonly Attempt[] = [
  ...written,
  ...read,
  ...handedOn,
  ...asked,
  ...besideTask,
  ...mounted,
];
