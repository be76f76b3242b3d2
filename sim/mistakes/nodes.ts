/** Mistakes of nodes: their reports, registrations, losses and drains. */
import type { Mistake } from './mistake.ts';

export const ofNodes: readonly Mistake[] = [
  {
    name: 'a drain ignores Migrate.MaxParallel',
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
    name: 'a drain ignores its deadline',
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
    name: 'allocations stay although they are told to migrate',
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
    name: 'a late report revives an allocation that was given up',
    places: [
      {
        file: 'src/server/nodes/report.ts',
        right:
          'if (isClientTerminal(before) && report.ClientStatus !== before.ClientStatus) return undefined;',
        wrong: '',
      },
    ],
    guarantee: 'an allocation that has ended keeps its status',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a node that returns gets no system jobs',
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
    name: 'services of an ended allocation stay registered',
    places: [
      {
        file: 'src/server/services/remove.ts',
        right: 'if (before === undefined || !isTerminal(after)) continue;',
        wrong: 'continue;',
      },
    ],
    guarantee: 'registered services match the running allocations',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a late report registers services of an ended allocation',
    places: [
      {
        file: 'src/server/services/report.ts',
        right: 'if (isTerminal(allocation)) removeServicesOf',
        wrong: 'if (false) removeServicesOf',
      },
    ],
    guarantee: 'registered services match the running allocations',
    life: { seed: 3, nodes: 4, hours: 0.1 },
  },
];
