import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inNamespace, jobSubmissions, jobVersions } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import '../support/properties.ts';

/** A version in the model. `content` stands for the specification. */
interface Version {
  readonly number: number;
  readonly content: string;
  readonly stop: boolean;
  readonly createIndex: number;
  jobModifyIndex: number;
  modifyIndex: number;
  stable: boolean;
  tag: string | undefined;
}

/** A plain model of one job with its versions. */
class Model {
  versions: Version[] = [];
  sources = new Map<number, string>();

  get current(): Version | undefined {
    return this.versions.at(-1);
  }

  find(number: number): Version | undefined {
    return this.versions.find((one) => one.number === number);
  }

  /** Registers a job; `true`: it created a version. */
  register(content: string, stop: boolean, index: number, source?: string): boolean {
    const { current } = this;
    const isSame =
      current?.content === content && current.stop === stop && current.tag === undefined;
    if (!isSame) {
      this.versions.push({
        number: (current?.number ?? -1) + 1,
        content,
        stop,
        stable: false,
        tag: undefined,
        createIndex: current?.createIndex ?? index,
        jobModifyIndex: index,
        modifyIndex: index,
      });
      this.prune();
    }
    const { number } = this.current!;
    if (source !== undefined && !this.sources.has(number)) this.sources.set(number, source);
    for (const one of [...this.sources.keys()].sort((a, b) => a - b).slice(0, -6)) {
      this.sources.delete(one);
    }
    return !isSame;
  }

  /** Six without a tag, including a stable one. */
  prune(): void {
    const untagged = this.versions.filter(({ tag }) => tag === undefined).reverse();
    const kept = untagged.slice(0, 6);
    const stable = untagged.find((one) => one.stable);
    if (stable !== undefined && !kept.includes(stable)) {
      kept[5] = stable;
      seen.oldStable++;
    }
    if (untagged.length < this.versions.length && untagged.length > 6) seen.oldTag++;
    this.versions = this.versions.filter((one) => one.tag !== undefined || kept.includes(one));
  }

  purge(): void {
    this.versions = [];
    this.sources.clear();
  }
}

/** Counts rare steps, because a property that never reaches them shows nothing. */
const seen = { oldStable: 0, oldTag: 0 };

/** This many versions before the current one. */
const back = fc.nat(8);
const register = fc.record({
  kind: fc.constant('register' as const),
  content: fc.constantFrom('a', 'b', 'c', 'd'),
  source: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
  enforce: fc.constantFrom('none', 'none', 'none', 'right', 'zero', 'wrong'),
});
const others = fc.oneof(
  fc.record({ kind: fc.constant('again' as const) }),
  fc.record({ kind: fc.constant('revert' as const), back }),
  fc.record({ kind: fc.constant('stable' as const), back, stable: fc.boolean() }),
  fc.record({ kind: fc.constant('tag' as const), back, name: fc.constantFrom('t', 'u') }),
  fc.record({ kind: fc.constant('untag' as const), name: fc.constantFrom('t', 'u') }),
  fc.record({ kind: fc.constant('stop' as const) }),
);
const step = fc.oneof(
  { weight: 12, arbitrary: register },
  { weight: 8, arbitrary: others },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Plays steps against a server and the model. Each method returns the status that it has checked. */
class Player {
  readonly #api: TestApi;
  readonly #model = new Model();

  constructor(api: TestApi) {
    this.#api = api;
  }

  play(one: Step): Promise<number> {
    switch (one.kind) {
      case 'register':
        return this.#registerJob(one);
      case 'again':
        return this.#registerSame();
      case 'revert':
        return this.#revertJob(one);
      case 'stable':
        return this.#setStability(one);
      case 'tag':
        return this.#addTag(one);
      case 'untag':
        return this.#deleteTag(one);
      case 'stop':
        return this.#stopJob();
      case 'purge':
        return this.#purgeJob();
    }
  }

  #callApi(method: string, path: string, body?: object) {
    return this.#api.call(method, path, body === undefined ? {} : { body });
  }

  #numberOf({ back: count }: { readonly back: number }): number {
    return Math.max(0, (this.#model.current?.number ?? 0) - count);
  }

  async #registerJob({ content, source, enforce }: StepOf<'register'>): Promise<number> {
    const own = this.#model.current?.jobModifyIndex ?? 0;
    const index = { none: 0, right: own, zero: 0, wrong: 999_999 }[enforce];
    const { status, json } = await this.#callApi('PUT', '/v1/jobs', {
      ...jobBody({ Meta: { content } }),
      ...(enforce !== 'none' && { EnforceIndex: true, JobModifyIndex: index }),
      ...(source && { Submission: { Source: source } }),
    });
    if (enforce !== 'none' && index !== own) return expectStatus(status, 409);
    expectStatus(status, 200);
    this.#model.register(content, false, json.Index, source);
    expect(json.JobModifyIndex).toBe(this.#model.current!.jobModifyIndex);
    return status;
  }

  async #registerSame(): Promise<number> {
    const { current } = this.#model;
    if (current === undefined) return 0;
    const Job = (await this.#callApi('GET', '/v1/job/web')).json;
    const { status, json } = await this.#callApi('POST', '/v1/job/web', { Job });
    expect(json.JobModifyIndex).toBe(current.jobModifyIndex);
    return expectStatus(status, 200);
  }

  async #revertJob(one: StepOf<'revert'>): Promise<number> {
    const { current, sources } = this.#model;
    const JobVersion = this.#numberOf(one);
    const target = this.#model.find(JobVersion);
    const body = { JobID: 'web', JobVersion };
    const { status, json } = await this.#callApi('POST', '/v1/job/web/revert', body);
    if (current === undefined) return expectStatus(status, 404);
    if (current.number === JobVersion) return expectStatus(status, 400);
    if (target === undefined) return expectStatus(status, 404);
    expectStatus(status, 200);
    this.#model.register(target.content, target.stop, json.Index, sources.get(JobVersion));
    return status;
  }

  async #setStability(one: StepOf<'stable'>): Promise<number> {
    const JobVersion = this.#numberOf(one);
    const target = this.#model.find(JobVersion);
    const body = { JobID: 'web', JobVersion, Stable: one.stable };
    const { status, json } = await this.#callApi('POST', '/v1/job/web/stable', body);
    if (target === undefined) return expectStatus(status, 404);
    if (target.stable !== one.stable) target.modifyIndex = json.Index;
    target.stable = one.stable;
    expect(json.JobModifyIndex).toBe(this.#model.current!.jobModifyIndex);
    return expectStatus(status, 200);
  }

  async #addTag(one: StepOf<'tag'>): Promise<number> {
    const Version = this.#numberOf(one);
    const target = this.#model.find(Version);
    const holder = this.#model.versions.find(({ tag }) => tag === one.name);
    const { status, json } = await this.#callApi('PUT', `/v1/job/web/tag/${one.name}`, { Version });
    if (target === undefined) return expectStatus(status, 404);
    if (holder !== undefined && holder !== target) return expectStatus(status, 409);
    Object.assign(target, { tag: one.name, modifyIndex: json.Index });
    return expectStatus(status, 200);
  }

  async #deleteTag({ name }: StepOf<'untag'>): Promise<number> {
    const holder = this.#model.versions.find(({ tag }) => tag === name);
    const { status, json } = await this.#callApi('DELETE', `/v1/job/web/tag/${name}`);
    if (holder === undefined) return expectStatus(status, 404);
    Object.assign(holder, { tag: undefined, modifyIndex: json.Index });
    return expectStatus(status, 200);
  }

  async #stopJob(): Promise<number> {
    const { current, sources } = this.#model;
    const { status, json } = await this.#callApi('DELETE', '/v1/job/web');
    if (current === undefined) return expectStatus(status, 404);
    const source = sources.get(current.number);
    if (!current.stop) this.#model.register(current.content, true, json.Index, source);
    expect(json.JobModifyIndex).toBe(this.#model.current!.jobModifyIndex);
    return expectStatus(status, 200);
  }

  async #purgeJob(): Promise<number> {
    const { current } = this.#model;
    const { status } = await this.#callApi('DELETE', '/v1/job/web?purge=true');
    this.#model.purge();
    return expectStatus(status, current === undefined ? 404 : 200);
  }

  async compare(): Promise<void> {
    this.#compareStored();
    const { status, json } = await this.#callApi('GET', '/v1/job/web');
    const { current } = this.#model;
    expectStatus(status, current === undefined ? 404 : 200);
    if (current === undefined) return;
    const { number, stable, stop } = current;
    expect([json.Version, json.Stable, json.Stop]).toEqual([number, stable, stop]);
    expect(json.CreateIndex).toBe(current.createIndex);
    expect(json.JobModifyIndex).toBe(current.jobModifyIndex);
    // The scheduler's status changes the index too, which is not part of the model.
    expect(json.ModifyIndex).toBeGreaterThanOrEqual(current.modifyIndex);
    expect(json.ModifyIndex).toBeGreaterThanOrEqual(json.JobModifyIndex);
  }

  #compareStored(): void {
    const range = { prefix: inNamespace('default', 'web') };
    const view = this.#api.state.read();
    const stored = [...view.table(jobVersions).scan(range)].map((job) => ({
      number: job.Version,
      content: job.Meta!.content,
      stop: job.Stop,
      stable: job.Stable,
      createIndex: job.CreateIndex,
      jobModifyIndex: job.JobModifyIndex,
      tag: job.VersionTag?.Name,
    }));
    expect(stored).toEqual(this.#model.versions.map(({ modifyIndex: _, ...rest }) => rest));
    const sources = [...view.table(jobSubmissions).scan(range)];
    expect(sources.map(({ Version, Source }) => [Version, Source])).toEqual(
      [...this.#model.sources].sort(([left], [right]) => left - right),
    );
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const player = new Player(await startApi());
  for (const one of steps) {
    await player.play(one);
    await player.compare();
  }
}

function expectStatus(status: number, expected: number): number {
  expect(status).toBe(expected);
  return status;
}

test('versions, indexes, stability, tags and sources agree with the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), play),
    { numRuns: 80 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
}, 120_000);
