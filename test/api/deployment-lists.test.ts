/** Reads and lists of deployments, and blocking queries. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Deployment } from '../../src/model/deployment/deployment.ts';
import { Rollout } from '../support/rollout.ts';

let rollout: Rollout;
/** Two of job a, then one of job b, in order of creation. */
let all: Deployment[];
beforeAll(async () => {
  rollout = await Rollout.start();
  await rollout.api.call('PUT', '/v1/namespace/other', { body: {} });
  const a = new Rollout(rollout.api, 'a');
  await a.stable();
  await a.register('1');
  await a.pass(10_000);
  const b = new Rollout(rollout.api, 'b');
  b.fate = () => 'running';
  await b.register('0');
  await b.pass(2_000);
  all = await rollout.get('/v1/deployments');
});

const named = async (query: string): Promise<string> => {
  const list = await rollout.get<Deployment[]>(`/v1/deployments${query.replaceAll(' ', '+')}`);
  return list.map(({ JobID, JobVersion }) => `${JobID}${JobVersion}`).join(' ');
};

test.each([
  ['', 'a0 a1 b0'],
  ['?reverse=true', 'b0 a1 a0'],
  ['?namespace=*', 'a0 a1 b0'],
  ['?namespace=other', ''],
  ['?prefix=zzz', ''],
  ['?filter=JobID == a', 'a0 a1'],
  ['?filter=Status == "running"', 'b0'],
  ['?filter=TaskGroups.web.HealthyAllocs == 3', 'a0 a1'],
])('/v1/deployments%s', async (query, expected) => {
  expect(await named(query)).toBe(expected);
});

test('a prefix of the id finds one deployment', async () => {
  expect(await named(`?prefix=${all[1]!.ID.slice(0, 13)}`)).toBe('a1');
});

test.each(['', '&reverse=true', '&namespace=*'])(
  'pages together are the whole list: %s',
  async (more) => {
    const pages: string[] = [];
    let token = '';
    do {
      const url = `/v1/deployments?per_page=1&next_token=${token}${more}`;
      const { json, headers } = await rollout.api.call('GET', url);
      pages.push(...json.map((one: Deployment) => one.ID));
      token = headers['x-scheduler-nexttoken'] ?? '';
    } while (token !== '');
    const whole = await rollout.get<Deployment[]>(`/v1/deployments?${more.slice(1)}`);
    expect(pages).toEqual(whole.map(({ ID }) => ID));
  },
);

test('a malformed filter is refused', async () => {
  const { status, json } = await rollout.api.call('GET', '/v1/deployments?filter=Nope+==+1');
  expect([status, json.code]).toEqual([400, 'invalid-filter']);
});

describe('deployments of a job', () => {
  test('are all listed, and the latest is among them', async () => {
    const list = await rollout.get<Deployment[]>('/v1/job/a/deployments');
    expect(list.map(({ JobVersion }) => JobVersion).sort()).toEqual([0, 1]);
    expect(await rollout.get('/v1/job/a/deployment')).toEqual(all[1]);
  });

  test.each(['deployment', 'deployments'])('%s of a job that is missing is 404', async (word) => {
    const { status, json } = await rollout.api.call('GET', `/v1/job/nobody/${word}`);
    expect([status, json.code]).toEqual([404, 'job-not-found']);
  });
});

test.each(['', 'allocations/'])(
  '/v1/deployment/%s of an unknown deployment is a 404',
  async (word) => {
    const { status, json } = await rollout.api.call('GET', `/v1/deployment/${word}nope`);
    expect([status, json.code]).toEqual([404, 'deployment-not-found']);
  },
);

test('a single deployment is as in the list, with its own index', async () => {
  const { json, headers } = await rollout.api.call('GET', `/v1/deployment/${all[0]!.ID}`);
  expect(json).toEqual(all[0]);
  expect(Number(headers['x-scheduler-index'])).toBe(all[0]!.ModifyIndex);
});

describe('a blocking query', () => {
  const park = (url: string) => {
    const parked = { status: 0 };
    const done = rollout.api.call('GET', url).then((answer) => {
      parked.status = answer.status;
      return answer;
    });
    return { parked, done };
  };
  const indexOf = async (url: string) =>
    (await rollout.api.call('GET', url)).headers['x-scheduler-index'];

  test('wakes by changes of its own result only', async () => {
    const waiter = new Rollout(rollout.api, 'w');
    waiter.fate = () => 'running';
    await waiter.register('0');
    await waiter.pass(2_000);
    const { ID } = await waiter.deployment();
    const urls = [
      `/v1/deployment/${ID}`,
      '/v1/job/w/deployment',
      '/v1/job/w/deployments',
      '/v1/deployments?filter=JobID+==+w',
    ];
    const parked = [];
    for (const url of urls) {
      const mark = url.includes('?') ? '&' : '?';
      parked.push(park(`${url}${mark}index=${await indexOf(url)}&wait=5m`));
    }
    // Another job, a heartbeat, and an event of an allocation.
    await rollout.api.call('POST', '/v1/jobs', {
      body: { Job: { ID: 'x', Type: 'batch', TaskGroups: [{ Name: 'x', Count: 0, Tasks: [] }] } },
    });
    await waiter.obey();
    expect(parked.map((one) => one.parked.status)).toEqual([0, 0, 0, 0]);
    await rollout.api.call('PUT', `/v1/deployment/pause/${ID}`, { body: { Pause: true } });
    await rollout.api.settle();
    expect(parked.map((one) => one.parked.status)).toEqual([200, 200, 200, 200]);
  });

  test('for the latest deployment of a job without one wakes when it is created', async () => {
    const late = new Rollout(rollout.api, 'late');
    await late.register('0', { MaxParallel: 0 });
    const index = await indexOf('/v1/job/late/deployment');
    const { parked, done } = park(`/v1/job/late/deployment?index=${index}&wait=5m`);
    await rollout.api.settle();
    expect(parked.status).toBe(0);
    await late.register('1');
    expect((await done).json).toMatchObject({ JobID: 'late', JobVersion: 1 });
  });
});

describe('a purge', () => {
  const twice = () => new Rollout(rollout.api, 'twice');
  const everyRegistration = '/v1/job/twice/deployments?all=true';
  const purge = async () => {
    await rollout.api.call('DELETE', '/v1/job/twice?purge=true');
    await rollout.api.settle();
  };

  test('cancels the open deployment of its job', async () => {
    await twice().register('0');
    const { ID, Status } = await twice().deployment();
    expect(Status).toBe('running');
    await purge();
    expect(await twice().get(`/v1/deployment/${ID}`)).toMatchObject({
      Status: 'cancelled',
      StatusDescription: 'Cancelled because job is stopped',
    });
  });

  test('leaves deployments of earlier registrations to all=true', async () => {
    await twice().stable();
    await purge();
    await twice().register('0');
    await twice().pass(5_000);
    const current = await twice().deployment();
    expect(await twice().deployments()).toEqual([current]);
    const every = await twice().get<Deployment[]>(everyRegistration);
    expect(every.map(({ Status }) => Status).sort()).toEqual([
      'cancelled',
      current.Status,
      'successful',
    ]);
  });

  test('leaves deployments to garbage collection', async () => {
    const { CreateIndex } = await twice().get<{ CreateIndex: number }>('/v1/job/twice');
    const collected = rollout.api.call('PUT', '/v1/system/gc');
    await rollout.api.settle();
    expect((await collected).status).toBe(200);
    const every = await twice().get<Deployment[]>(everyRegistration);
    expect(every.map(({ JobCreateIndex }) => JobCreateIndex)).toEqual([CreateIndex]);
  });
});
