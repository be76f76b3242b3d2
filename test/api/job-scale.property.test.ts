import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../support/properties.ts';
import { limits } from '../../src/model/limits.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

const groups = ['a', 'b'] as const;
type Group = (typeof groups)[number];
const most = 6;

/** A scaling request, in the words of the contract. */
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('scale' as const),
      group: fc.constantFrom<Group | 'none'>('a', 'b', 'a', 'b', 'none'),
      count: fc.option(fc.integer({ min: -1, max: most + 1 })),
      said: fc.constantFrom<object>({ Message: 'm' }, { Error: 'e' }, { Error: true }, {}),
      guard: fc.constantFrom('none', 'none', 'right', 'stale', 'zero'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('priority' as const),
      to: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'stop' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'purge' as const }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
type Scaling = Extract<Action, { kind: 'scale' }>;

/** A plain model of the job. */
interface Model {
  version: number;
  /** The index of the job's last change. */
  modified: number;
  isStopped: boolean;
  priority: number;
  readonly counts: Record<Group, number>;
  readonly events: Record<Group, object[]>;
}

const jobOf = (counts: Record<Group, number>, Priority: number) => {
  const [plain] = jobBody().Job.TaskGroups;
  return jobBody({
    Priority,
    TaskGroups: groups.map((Name) => ({
      ...plain,
      Name,
      Count: counts[Name],
      Update: { MaxParallel: 0 },
      Scaling: { Min: 0, Max: most },
    })),
  });
};

/** Plays actions against a server and the model, which starts with a registered job. */
class Player {
  readonly #api: TestApi;
  #model!: Model;

  private constructor(api: TestApi) {
    this.#api = api;
  }

  static async start(): Promise<Player> {
    const player = new Player(await startApi());
    await player.#registerAnew();
    return player;
  }

  async play(one: Action): Promise<void> {
    if (one.kind === 'priority') await this.#changePriority(one.to);
    else if (one.kind === 'stop') await this.#stopJob();
    else if (one.kind === 'scale') await this.#scaleGroup(one);
    else {
      await this.#api.call('DELETE', '/v1/job/web?purge=true');
      await this.#registerAnew();
    }
    await this.#api.settle();
    await this.#compare();
  }

  async #registerAnew(): Promise<void> {
    const [counts, priority] = [{ a: 1, b: 1 }, 5];
    const { json } = await this.#api.call('POST', '/v1/jobs', { body: jobOf(counts, priority) });
    const events = { a: [], b: [] };
    this.#model = {
      version: 0,
      modified: json.Index,
      isStopped: false,
      priority,
      counts,
      events,
    };
  }

  async #changePriority(priority: number): Promise<void> {
    const model = this.#model;
    const body = jobOf(model.counts, priority);
    const { json } = await this.#api.call('POST', '/v1/jobs', { body });
    if (model.priority === priority && !model.isStopped) return;
    model.version += 1;
    Object.assign(model, { modified: json.Index, isStopped: false, priority });
  }

  async #stopJob(): Promise<void> {
    const { json } = await this.#api.call('DELETE', '/v1/job/web');
    if (this.#model.isStopped) return;
    this.#model.version += 1;
    Object.assign(this.#model, { isStopped: true, modified: json.Index });
  }

  async #scaleGroup(one: Scaling): Promise<void> {
    const model = this.#model;
    const { index } = this.#api.state.read();
    const guards: Readonly<Record<string, object>> = {
      right: { EnforceIndex: true, JobModifyIndex: model.modified },
      stale: { EnforceIndex: true, JobModifyIndex: model.modified - 1 },
      zero: { EnforceIndex: true, JobModifyIndex: 0 },
    };
    const { status, json } = await this.#api.call('POST', '/v1/job/web/scale', {
      body: { Count: one.count, Target: { Group: one.group }, ...one.said, ...guards[one.guard] },
    });
    const isLate = one.guard === 'stale' || one.guard === 'zero';
    expect(status).toBe(isWrong(one) ? 400 : isLate ? 409 : 200);
    if (status !== 200) {
      expect(this.#api.state.read().index).toBe(index);
      return;
    }
    const { EvalID = null } = json;
    expect(EvalID === null).toBe(one.count === null);
    this.#noteEvent(one, { EvalID, CreateIndex: json.Index });
    if (one.count !== null) {
      model.version += 1;
      model.modified = json.Index;
      model.counts[one.group as Group] = one.count;
    }
    expect(json.JobModifyIndex).toBe(model.modified);
  }

  #noteEvent({ group, count, said }: Scaling, fields: object): void {
    const { counts, events } = this.#model;
    const { Message = '', Error: error = '' } = said as Record<string, string>;
    const ofGroup = events[group as Group];
    ofGroup.unshift({
      Count: count,
      PreviousCount: counts[group as Group],
      Message,
      Error: error,
      Meta: null,
      Time: expect.any(Number),
      ...fields,
    });
    ofGroup.splice(limits.scaling.eventsKept);
  }

  async #compare(): Promise<void> {
    const { version, modified, isStopped, counts, events } = this.#model;
    const { json: job } = await this.#api.call('GET', '/v1/job/web');
    expect([job.Version, job.JobModifyIndex, job.Stop]).toEqual([version, modified, isStopped]);
    const { json: scale } = await this.#api.call('GET', '/v1/job/web/scale');
    for (const group of groups) {
      const { Desired, Events } = scale.TaskGroups[group];
      expect([group, Desired]).toEqual([group, counts[group]]);
      expect(Events ?? []).toEqual(events[group]);
    }
    const { json: policies } = await this.#api.call('GET', '/v1/scaling/policies');
    const enabled = policies.map(({ Enabled }: { Enabled: boolean }) => Enabled);
    expect(enabled).toEqual([!isStopped, !isStopped]);
  }
}

/** Whether the request is wrong in itself. */
const isWrong = ({ group, count, said }: Scaling): boolean =>
  Object.keys(said).length === 0 ||
  group === 'none' ||
  (count !== null && (count < 0 || count > most || ('Error' in said && said.Error === true)));

test('scaling, registering, stopping and purging agree with a plain model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40 }), async (actions) => {
      const player = await Player.start();
      for (const one of actions) await player.play(one);
    }),
    { numRuns: 40 },
  );
}, 120_000);
