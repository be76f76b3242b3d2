/** Mistakes around nodes: what they report, register and lose, and how they are drained. */
import type { Mistake } from './mistake.ts';

export const ofNodes: readonly Mistake[] = [
  {
    name: 'drains move all at once',
    places: [
      {
        file: 'src/server/nodes/drain-decide.ts',
        right: 'if (balance.moves <= 0 || (isLoss && balance.losses <= 0)) return false;',
        wrong: '',
      },
    ],
    guarantee: 'a drain moves at most Migrate.MaxParallel of a group',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'the deadline of a drain is not looked at',
    places: [
      {
        file: 'src/server/nodes/drain-decide.ts',
        right: 'if (isForced(strategy, nowMs)) return { migrate: movable, isEmpty: false };',
        wrong: '',
      },
    ],
    guarantee: 'a drain ends by its deadline',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what is told to leave a drained node stays',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "if (allocation.DesiredTransition.Migrate === true) return { kind: 'migrating' };",
        wrong: '',
      },
    ],
    guarantee: 'a drain ends by its deadline',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what was given up comes back to life by a late report',
    places: [
      {
        file: 'src/server/nodes/report.ts',
        right:
          'if (isClientTerminal(before) && report.ClientStatus !== before.ClientStatus) return undefined;',
        wrong: '',
      },
    ],
    guarantee: 'desired counts are reached after the faults end',
    life: { seed: 8, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a node that comes back gets no system jobs',
    places: [
      {
        file: 'src/server/nodes/evaluate.ts',
        right: 'of jobsForEveryNode(transaction, node)) {',
        wrong: 'of []) {',
      },
    ],
    guarantee: 'desired counts are reached after the faults end',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what an allocation that ends has registered stays',
    places: [
      {
        file: 'src/server/services/remove.ts',
        right: 'if (before === undefined || !isTerminal(after)) continue;',
        wrong: 'continue;',
      },
    ],
    guarantee: 'the services that are found are those of what runs',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: "a node's late word registers services of what is over",
    places: [
      {
        file: 'src/server/services/report.ts',
        right: 'if (isTerminal(allocation)) removeServicesOf',
        wrong: 'if (false) removeServicesOf',
      },
    ],
    guarantee: 'the services that are found are those of what runs',
    life: { seed: 3, nodes: 4, hours: 0.1 },
  },
];
