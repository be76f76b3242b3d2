import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drained } from '../../../base/steps.ts';
import type { Plan, PlannedStop } from '../../../model/plan/plan.ts';
import { splitPlan } from './split.ts';

const splitOf = (whole: Plan, rowsMax: number) => drained(splitPlan(whole, rowsMax));

const stop = (allocationId: string, fields: Partial<PlannedStop> = {}): PlannedStop => ({
  allocationId,
  nodeId: 'n',
  desiredStatus: 'stop',
  desiredDescription: '',
  ...fields,
});

/** A plan with the fields that splitting looks at. */
const plan = (fields: object): Plan =>
  ({
    allAtOnce: false,
    stops: [],
    placements: [],
    preemptions: [],
    inPlaceUpdates: [],
    evaluations: [],
    deploymentSeen: null,
    deployment: null,
    deploymentUpdates: [],
    ...fields,
  }) as unknown as Plan;

const preemption = (allocationId: string, byAllocationId: string) => ({
  allocationId,
  byAllocationId,
  namespace: 'default',
  nodeId: 'n',
});

const placement = (ID: string, PreviousAllocation = '') => ({ ID, PreviousAllocation });

const idsOf = (parts: readonly Plan[]) =>
  parts.map((part) => [
    part.stops.map((one) => one.allocationId),
    part.inPlaceUpdates.map((one) => one.ID),
    part.placements.map((one) => one.ID),
  ]);

describe('a plan in parts', () => {
  test('a small plan stays whole', () => {
    const small = plan({ stops: [stop('a')], placements: [placement('b')] });
    expect(splitOf(small, 2)).toEqual([small]);
  });

  test('a plan that is all or nothing is one part', () => {
    const whole = plan({ allAtOnce: true, stops: ['a', 'b', 'c'].map((id) => stop(id)) });
    expect(splitOf(whole, 2)).toEqual([whole]);
  });

  test('a stop goes with its replacement, other stops go before', () => {
    const parts = splitOf(
      plan({
        stops: [stop('old1'), stop('gone'), stop('old2')],
        inPlaceUpdates: [{ ID: 'kept' }],
        placements: [placement('new1', 'old1'), placement('fresh'), placement('new2', 'old2')],
      }),
      2,
    );
    expect(idsOf(parts)).toEqual([
      [['gone'], ['kept'], []],
      [['old1'], [], ['new1']],
      [[], [], ['fresh']],
      [['old2'], [], ['new2']],
    ]);
  });

  test('an eviction goes with the placement that needs it', () => {
    const preemptions = [preemption('x', 'a'), preemption('y', 'c'), preemption('z', 'c')];
    const placements = ['a', 'b', 'c'].map((id) => placement(id));
    const parts = splitOf(plan({ placements, preemptions }), 3);
    expect(idsOf(parts).map(([, , placed]) => placed)).toEqual([['a', 'b'], ['c']]);
    expect(parts.map((part) => part.preemptions)).toEqual([
      preemptions.slice(0, 1),
      preemptions.slice(1),
    ]);
  });

  test('the deployment comes first; follow-ups, stops that name them, and its success come last', () => {
    const cancelled = { ID: 'earlier', Status: 'cancelled', StatusDescription: '' };
    const successful = { ID: 'seen', Status: 'successful', StatusDescription: '' };
    const followUp = { ID: 'later' };
    const parts = splitOf(
      plan({
        stops: [stop('waits', { desiredStatus: 'run', followupEvaluationId: 'later' })],
        placements: [placement('a'), placement('b'), placement('c')],
        deploymentSeen: { ID: 'seen', Status: 'running' },
        deployment: { ID: 'new' },
        deploymentUpdates: [successful, cancelled],
        evaluations: [followUp],
      }),
      2,
    );
    expect(idsOf(parts)).toEqual([
      [[], [], ['a', 'b']],
      [['waits'], [], ['c']],
    ]);
    expect(parts.map((part) => part.deployment)).toEqual([{ ID: 'new' }, null]);
    expect(parts.map((part) => part.deploymentUpdates)).toEqual([[cancelled], [successful]]);
    expect(parts.map((part) => part.evaluations)).toEqual([[], [followUp]]);
  });

  test('no change is lost or repeated, and no part is larger than it has to be', () => {
    const size = fc.nat({ max: 12 });
    fc.assert(
      fc.property(size, size, size, fc.integer({ min: 1, max: 6 }), (stops, news, kept, max) => {
        const whole = plan({
          stops: Array.from({ length: stops }, (_, at) =>
            stop(`s${at}`, at % 4 === 0 ? { followupEvaluationId: 'later' } : {}),
          ),
          placements: Array.from({ length: news }, (_, at) =>
            placement(`p${at}`, `s${2 * at + 1}`),
          ),
          preemptions: Array.from({ length: news }, (_, at) =>
            preemption(`v${at}`, `p${at - (at % 3)}`),
          ),
          inPlaceUpdates: Array.from({ length: kept }, (_, at) => ({ ID: `u${at}` })),
          evaluations: [{ ID: 'later' }],
        });
        const parts = splitOf(whole, max);
        const sorted = (of: (part: Plan) => readonly string[]) => parts.flatMap(of).toSorted();
        expect(sorted((part) => part.stops.map((one) => one.allocationId))).toEqual(
          whole.stops.map((one) => one.allocationId).toSorted(),
        );
        expect(parts.flatMap((part) => part.placements)).toEqual(whole.placements);
        expect(parts.flatMap((part) => part.preemptions)).toEqual(whole.preemptions);
        expect(parts.flatMap((part) => part.inPlaceUpdates)).toEqual(whole.inPlaceUpdates);
        expect(parts.flatMap((part) => part.evaluations)).toEqual(whole.evaluations);
        for (const part of parts) {
          const marks = part.stops.filter((one) => one.followupEvaluationId !== undefined);
          const { length } = [
            ...part.stops,
            ...part.placements,
            ...part.preemptions,
            ...part.inPlaceUpdates,
          ];
          expect(length - marks.length).toBeLessThanOrEqual(Math.max(max, 5));
        }
      }),
    );
  });
});
