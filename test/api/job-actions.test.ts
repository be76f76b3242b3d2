import { beforeEach, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
  const task = jobBody().Job.TaskGroups[0]!.Tasks[0]!;
  const group = { ...jobBody().Job.TaskGroups[0], Name: 'db' };
  const Tasks = [
    { ...task, Name: 'first', Actions: [{ Name: 'dump', Command: 'dump', Args: ['-v', 'all'] }] },
    {
      ...task,
      Name: 'second',
      Actions: [
        { Name: 'dump', Command: 'x' },
        { Name: 'a', Command: 'y' },
      ],
    },
  ];
  const plain = jobBody().Job.TaskGroups[0];
  const body = jobBody({ TaskGroups: [plain, { ...group, Tasks }] });
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
});

const dump = { Name: 'dump', TaskGroupName: 'db' };
const all = [
  { ...dump, Command: 'dump', Args: ['-v', 'all'], TaskName: 'first' },
  { ...dump, Command: 'x', Args: [], TaskName: 'second' },
  { Name: 'a', TaskGroupName: 'db', Command: 'y', Args: [], TaskName: 'second' },
];

test.each([
  ['', all],
  ['?reverse=true', [...all].reverse()],
  ['?filter=Name == dump', all.slice(0, 2)],
  ['?filter="-v" in Args', all.slice(0, 1)],
])('actions%s', async (query, expected) => {
  const answer = await api.call('GET', `/v1/job/web/actions${query}`);
  expect([answer.status, answer.json]).toEqual([200, expected]);
});

test('actions are paged', async () => {
  const page = async (token: string) =>
    api.call('GET', `/v1/job/web/actions?per_page=2&next_token=${encodeURIComponent(token)}`);
  const first = await page('');
  expect(first.json).toEqual(all.slice(0, 2));
  const second = await page(first.headers['x-scheduler-nexttoken']!);
  expect(second.json).toEqual(all.slice(2));
  expect(second.headers).not.toHaveProperty('x-scheduler-nexttoken');
});

test('a job without actions has an empty list, and an unknown job is a 404', async () => {
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'plain' }) });
  expect((await api.call('GET', '/v1/job/plain/actions')).json).toEqual([]);
  expect((await api.call('GET', '/v1/job/none/actions')).json.code).toBe('job-not-found');
  expect((await api.call('GET', '/v1/job/web/actions', { token: null })).status).toBe(403);
});
