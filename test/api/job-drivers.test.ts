import { beforeEach, expect, test } from 'vitest';
import { jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

type Info = { readonly Detected: boolean; readonly HealthDescription?: string };
const here: Info = { Detected: true };
const absent = (HealthDescription: string): Info => ({ Detected: false, HealthDescription });

/** One node for each. */
async function join(drivers: readonly (Info | undefined)[]): Promise<void> {
  for (const [index, info] of drivers.entries()) {
    const ID = `44444444-4444-4444-8444-44444444444${index}`;
    const Drivers = info === undefined ? {} : { mock: { Healthy: info.Detected, ...info } };
    const SecretID = `33333333-3333-4333-8333-33333333333${index}`;
    const body = { ...nodeBody({ ID, Name: `n${index}`, Drivers }), SecretID };
    expect((await api.call('PUT', '/v1/node/register', { body })).status).toBe(200);
  }
}

const warning = (reasons: string) =>
  `Group "web", task "server": no node has the driver "mock"${reasons}.`;
const notAllowed = absent('not allowed on this node: drivers.allow');
const notInstalled = absent('bubblewrap is not installed');

const rows: readonly (readonly [string, readonly (Info | undefined)[], string | undefined])[] = [
  ['no node at all', [], undefined],
  ['a node that has it', [notAllowed, here], undefined],
  [
    'a node that does not allow it',
    [notAllowed],
    ': not allowed on this node: drivers.allow (1 node)',
  ],
  [
    'nodes with reasons of their own, the most frequent first',
    [notAllowed, notInstalled, notInstalled],
    ': bubblewrap is not installed (2 nodes); not allowed on this node: drivers.allow (1 node)',
  ],
  ['nodes that say nothing of it', [undefined, absent('')], ''],
];

test.each(rows)('with %s, the author of a job is warned', async (_title, drivers, reasons) => {
  await join(drivers);
  const body = jobBody();
  for (const path of ['/v1/validate/job', '/v1/job/web/plan', '/v1/jobs']) {
    const { status, json } = await api.call('PUT', path, { body });
    expect(status).toBe(200);
    if (reasons === undefined) expect(json.Warnings, path).not.toContain('no node has');
    else expect(json.Warnings, path).toContain(warning(reasons));
  }
});

test('drivers of a down node do not count', async () => {
  await join([here, notInstalled]);
  await api.world.advance(1000);
  const alive = '44444444-4444-4444-8444-444444444441';
  for (let second = 0; second < 60; second++) {
    await api.call('PUT', `/v1/node/${alive}/heartbeat`);
    await api.world.advance(1000);
  }
  const { json } = await api.call('PUT', '/v1/validate/job', { body: jobBody() });
  expect(json.Warnings).toContain(warning(': bubblewrap is not installed (1 node)'));
});

test("a job that waits for a driver shows the nodes' reasons", async () => {
  await join([notInstalled]);
  await api.call('PUT', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const { json } = await api.call('GET', '/v1/job/web/why-not');
  expect(json.Groups[0].Reason).toBe(
    'Every candidate node is ruled out: missing driver mock: bubblewrap is not installed (1).',
  );
});
