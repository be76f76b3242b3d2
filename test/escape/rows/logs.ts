/** The files of a task's output, which the agent and its supervisor open. */
import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Attempt, type Hand, type Plan, type Prey, success } from '../attempt.ts';
import { end, perl, ready, waits } from './words.ts';

/** The user that owns the directory of the logs: containers run as root anyway. */
const owner = ({ agent, driver }: Prey): object =>
  agent === 'root' && driver === 'exec' ? { task: { User: 'root' } } : {};

/** An obstacle is put in the place of a file that is there: five seconds are long enough for it to come. */
const hasLog =
  'n=0; until test -e task.stdout.0 || test $n = 100; do n=$((n + 1)); sleep 0.05; done';

/** The task puts an obstacle in the place of a log, and goes on printing. */
const inTheWay = (prey: Prey, trick: string, more: Partial<Plan> = {}): Plan => ({
  ...owner(prey),
  script: `${end}; ${end} >&2; cd /alloc/logs; ${hasLog}; { ${trick}; } 2>/dev/null; ${ready}; ${waits}`,
  ...more,
});

const logAttempt = (name: string, plan: Attempt['plan'], more: Partial<Attempt> = {}): Attempt => ({
  name,
  operator: 'lenient',
  drivers: ['exec'],
  counter: { without: ['logsOutOfReach', 'plainLogs'] },
  plan,
  ...more,
});

const readLog = ({ allocId, ask }: Hand): Promise<string> =>
  ask('GET', `/v1/client/fs/logs/${allocId}?task=task&type=stdout&plain=true`);

const nothing = async (): Promise<string> => '';
/** Prints more than a log file holds, so that the next two files are begun. */
const floods = perl('print "x" x 999, "\\n" for 1 .. 3500');
const next = '1 2 3 4';

export const logAttempts: readonly Attempt[] = [
  logAttempt(
    'to have a file of the agent read as its log',
    (prey) =>
      inTheWay(prey, `rm -f task.stdout.0; ln -s ${prey.canary} task.stdout.0`, {
        besides: readLog,
      }),
    { drivers: ['exec', 'docker'] },
  ),
  logAttempt('to have its output appended to a file of the agent', (prey) =>
    inTheWay(prey, `for i in ${next}; do ln -s ${prey.canary} task.stdout.$i; done; ${floods}`, {
      besides: nothing,
      hasHappened: () => statSync(prey.canary).size > 1000,
    }),
  ),
  logAttempt('to have its output appended to a file that has another name', (prey) =>
    inTheWay(
      prey,
      `: > ../data/x; for i in ${next}; do ln ../data/x task.stdout.$i; done; ${floods}`,
      {
        besides: ({ allocId, ask }) =>
          ask('GET', `/v1/client/fs/readat/${allocId}?path=alloc/data/x&offset=0&limit=3`).then(
            (text) => (text === 'xxx' ? success : text),
          ),
      },
    ),
  ),
  logAttempt('to take away the directory of its logs', (prey) =>
    inTheWay(prey, 'mv /alloc/logs /alloc/data/x', {
      besides: ({ allocId, ask }) =>
        ask('GET', `/v1/client/fs/ls/${allocId}?path=alloc/data`).then((text) =>
          text.includes('"x"') ? success : text,
        ),
    }),
  ),
  logAttempt(
    'to have its logs made in a directory of the machine',
    (prey) => {
      const into = dirname(prey.canary);
      return inTheWay(prey, `mv /alloc/logs /alloc/x; ln -s ${into} /alloc/logs; ${floods}`, {
        besides: nothing,
        hasHappened: () => readdirSync(into).some((name) => name.startsWith('task.stdout.')),
      });
    },
    { counter: { without: ['logsOutOfReach', 'heldPaths'] } },
  ),
  logAttempt(
    'to hold up the supervisor by pipes where its logs are to be',
    (prey) =>
      inTheWay(prey, `for i in ${next}; do mkfifo task.stdout.$i; done; ${floods} & sleep 1`, {
        besides: nothing,
      }),
    { holdsUp: true },
  ),
];
