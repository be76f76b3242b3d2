/** Mistakes of the scheduler and of the execution of plans. */
import type { Mistake } from './mistake.ts';

export const ofDeciding: readonly Mistake[] = [
  {
    name: 'distinct_hosts and distinct_property allow one too many',
    places: [
      {
        file: 'src/scheduler/scoring/distinct.ts',
        right: 'this.#counts.count(number) < this.rule.limit',
        wrong: 'this.#counts.count(number) <= this.rule.limit',
      },
    ],
    guarantee: 'a placement obeys the constraints of its job',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a stopped allocation that still runs uses no resources',
    places: [
      {
        file: 'src/model/allocation/allocation-rules.ts',
        right: "occupiesNode(allocation) && allocation.DesiredStatus !== 'evict'",
        wrong: "occupiesNode(allocation) && allocation.DesiredStatus === 'run'",
      },
    ],
    guarantee: 'no resource is allocated twice',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'allocations of a lost node are not replaced',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: 'if (isAway(node)) return standingOfAway(allocation, node, group);',
        wrong: '',
      },
    ],
    guarantee: 'desired counts are reached after the faults end',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'scaling down stops one allocation too few',
    places: [
      {
        file: 'src/scheduler/reconcile/excess.ts',
        right: 'const excess = counted.length - count;',
        wrong: 'const excess = counted.length - count - 1;',
      },
    ],
    guarantee: 'desired counts are reached after the faults end',
    life: { seed: 4, nodes: 12, hours: 0.5 },
  },
  {
    name: 'an update ignores new allocations that are not yet healthy',
    places: [
      {
        file: 'src/scheduler/reconcile/rollout.ts',
        right: 'if (health !== true) size--;',
        wrong: '',
      },
    ],
    guarantee: 'an update replaces at most MaxParallel at a time',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'successes of an old batch version count for the new version',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "return { kind: isCurrent(allocation, job) ? 'settled' : 'ignored' };",
        wrong: "return { kind: 'settled' };",
      },
    ],
    guarantee: 'a batch job succeeds as often as wanted',
    life: { seed: 12, nodes: 4, hours: 0.2 },
  },
  {
    name: 'disconnected allocations are replaced although Replace is false',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: 'isReplaced: group.Disconnect?.Replace !== false,',
        wrong: 'isReplaced: true,',
      },
    ],
    guarantee: 'disconnected allocations are kept as long as their group says',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'allocations of a disconnected node are lost at once',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "const isAwaited = node.Status === 'disconnected' && lostAfterMs(group) > 0;",
        wrong: 'const isAwaited = false;',
      },
    ],
    guarantee: 'disconnected allocations are kept as long as their group says',
    life: { seed: 2, nodes: 6, hours: 0.25 },
  },
  {
    name: 'the scheduler throws when LostAfter expires',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "if (isExpired(allocation, context)) return { kind: 'lost' };",
        wrong: "if (isExpired(allocation, context)) throw new Error('it is away for too long');",
      },
    ],
    guarantee: 'no logged error is unexpected',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'jobs evict although the configuration forbids it',
    places: [
      {
        file: 'src/scheduler/placing/evictions.ts',
        right: 'view.configuration.preemption[job.Type]',
        wrong: 'true',
      },
      {
        file: 'src/server/scheduling/plans/preemptions.ts',
        right: 'if (!preemption[job.Type]) return',
        wrong: 'if (false) return',
      },
    ],
    guarantee: 'only a job of higher priority evicts',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a job that is created anew keeps the allocations of the purged job',
    places: [
      {
        file: 'src/scheduler/reconcile/reconcile.ts',
        right: 'allocation.JobCreateIndex === active?.CreateIndex',
        wrong: 'active !== undefined',
      },
    ],
    guarantee: 'every running allocation has a job',
    life: { seed: 26, nodes: 6, hours: 0.25 },
  },
  {
    name: 'unlimited rescheduling is taken for no rescheduling',
    places: [
      {
        file: 'src/scheduler/reschedule.ts',
        right: '(policy.Unlimited || attemptsWithin(',
        wrong: '(attemptsWithin(',
      },
    ],
    guarantee: 'failed and lost allocations are replaced',
    life: { seed: 7, nodes: 12, hours: 0.5 },
  },
  {
    name: 'the plan of a decider is committed although its nodes have changed',
    places: [
      {
        file: 'src/server/scheduling/plans/apply.ts',
        right: 'if (reason !== undefined) refusals.push',
        wrong: 'if (unfit === undefined && reason !== undefined) refusals.push',
      },
    ],
    guarantee: 'a placement obeys the constraints of its job',
    life: { seed: 1, nodes: 10, hours: 0.5, deciders: true },
  },
  {
    name: 'a decider is asked before it is sent what has run',
    places: [
      {
        file: 'src/server/scheduling/decider/fed-decider.ts',
        right: "this.#sendTexts();\n    run.port.send({ kind: 'decide'",
        wrong: "run.port.send({ kind: 'decide'",
      },
    ],
    guarantee: 'no logged error is unexpected',
    life: { seed: 1, nodes: 6, hours: 0.25, deciders: true },
  },
  {
    name: 'the question that a decider leaves when it dies is forgotten',
    places: [
      {
        file: 'src/server/scheduling/decider/fed-decider.ts',
        right: 'this.#answerQuestion(({ resolve }) => resolve(undefined));\n    this.#restart =',
        wrong: 'this.#waiting = undefined;\n    this.#restart =',
      },
    ],
    guarantee: 'desired counts are reached after the faults end',
    life: { seed: 6, nodes: 6, hours: 0.25, deciders: true },
  },
];
