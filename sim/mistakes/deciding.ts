/** Mistakes of the scheduler, and of what carries its plans out. */
import type { Mistake } from './mistake.ts';

export const ofDeciding: readonly Mistake[] = [
  {
    name: 'distinct rules allow one too many',
    places: [
      {
        file: 'src/scheduler/scoring/distinct.ts',
        right: 'this.#counts.count(number) < this.rule.limit',
        wrong: 'this.#counts.count(number) <= this.rule.limit',
      },
    ],
    guarantee: 'a placement keeps the rules of its job',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what is stopped and still runs holds nothing',
    places: [
      {
        file: 'src/model/allocation/allocation-rules.ts',
        right: "occupiesNode(allocation) && allocation.DesiredStatus !== 'evict'",
        wrong: "occupiesNode(allocation) && allocation.DesiredStatus === 'run'",
      },
    ],
    guarantee: 'no resource is given twice',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what is lost with its node is not replaced',
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
    name: 'one too few goes when there are too many',
    places: [
      {
        file: 'src/scheduler/reconcile/excess.ts',
        right: 'const excess = counted.length - count;',
        wrong: 'const excess = counted.length - count - 1;',
      },
    ],
    guarantee: 'desired counts are reached after the faults end',
    life: { seed: 2, nodes: 12, hours: 0.5 },
  },
  {
    name: 'an update does not count what is on its way to health',
    places: [
      {
        file: 'src/scheduler/reconcile/rollout.ts',
        right: 'if (health !== true) size--;',
        wrong: '',
      },
    ],
    guarantee: 'at most MaxParallel unhealthy',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what an earlier version of a batch job has done counts for the newest',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "return { kind: isCurrent(allocation, job) ? 'settled' : 'ignored' };",
        wrong: "return { kind: 'settled' };",
      },
    ],
    guarantee: "a batch job's work is done as often as wanted",
    life: { seed: 2, nodes: 4, hours: 0.2 },
  },
  {
    name: 'what is not to be replaced while it is away is',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: 'isReplaced: group.Disconnect?.Replace !== false,',
        wrong: 'isReplaced: true,',
      },
    ],
    guarantee: 'what is away is waited for as agreed',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'nothing waits for a node that is disconnected',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "const isAwaited = node.Status === 'disconnected' && lostAfterMs(group) > 0;",
        wrong: 'const isAwaited = false;',
      },
    ],
    guarantee: 'what is away is waited for as agreed',
    life: { seed: 2, nodes: 6, hours: 0.25 },
  },
  {
    name: 'what is away for too long stops the scheduler',
    places: [
      {
        file: 'src/scheduler/reconcile/classify.ts',
        right: "if (isExpired(allocation, context)) return { kind: 'lost' };",
        wrong: "if (isExpired(allocation, context)) throw new Error('it is away for too long');",
      },
    ],
    guarantee: 'no error is a surprise',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'evictions happen where the configuration forbids them',
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
    guarantee: 'only what is more important evicts',
    life: { seed: 1, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a new registration takes over what the one before ran',
    places: [
      {
        file: 'src/scheduler/reconcile/reconcile.ts',
        right: 'allocation.JobCreateIndex === active?.CreateIndex',
        wrong: 'active !== undefined',
      },
    ],
    guarantee: 'what runs has a job',
    life: { seed: 22, nodes: 6, hours: 0.25 },
  },
  {
    name: 'a policy without a limit is taken for one without tries',
    places: [
      {
        file: 'src/scheduler/reschedule.ts',
        right: '(policy.Unlimited || attemptsWithin(',
        wrong: '(attemptsWithin(',
      },
    ],
    guarantee: 'what failed is tried again',
    life: { seed: 4, nodes: 12, hours: 0.5 },
  },
];
