/** Names of tasks that would be directories of others. Both the API and nodes refuse them. */
import { existsSync } from 'node:fs';
import { type Attempt, type Plan, type Prey, success } from '../attempt.ts';
import { toldAs, type Untold } from '../lying-server.ts';
import { end } from './words.ts';

const both = ['exec', 'docker'] as const;

/** The neighbour's directory, as seen from the directory of all allocations. */
const ofNeighbour = ({ dataDirectory, neighbour }: Prey): Partial<Plan> => {
  const planted = `${dataDirectory}/node/alloc/${neighbour.id}/alloc/data/planted-by-name`;
  return {
    task: {
      Templates: [
        { SourcePath: `${neighbour.id}/alloc/data/s`, DestPath: 'local/stolen' },
        { EmbeddedTmpl: 'x', DestPath: `${neighbour.id}/alloc/data/planted-by-name` },
      ],
    },
    script: `cat /local/stolen; ${end}`,
    hasHappened: () => existsSync(planted),
  };
};

/** The directory of another task, as seen from the allocation's directory. */
const ofOtherTask = (): Partial<Plan> => ({
  before: `echo '${success}' > /secrets/s; ${end}`,
  task: { Templates: [{ SourcePath: 'before/secrets/s', DestPath: 'local/stolen' }] },
  script: `cat /local/stolen; ${end}`,
});

const named = (name: Untold, whose: string, plan: (prey: Prey) => Partial<Plan>): Attempt[] => {
  const quoted = JSON.stringify(name);
  const common = {
    drivers: both,
    counter: { without: ['fitNames'], isLiedTo: true },
    plan: (prey: Prey): Plan => {
      const { task, script = '', ...more } = plan(prey);
      return { script, ...more, task: { ...task, Name: prey.isLiedTo ? toldAs(name) : name } };
    },
  } as const;
  return [
    {
      ...common,
      name: `to have the directory of ${whose} by the name ${quoted} for its task`,
      refusal: /Tasks\[\d\]\.Name/,
    },
    {
      ...common,
      name: `to have the directory of ${whose} by the name ${quoted}, which a server lets through`,
      isLiedTo: true,
      refusal: /name that no directory can have/,
    },
  ];
};

export const nameAttempts: readonly Attempt[] = [
  ...named('..', 'all allocations', ofNeighbour),
  ...named('.', 'its allocation', ofOtherTask),
];
