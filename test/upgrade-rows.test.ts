/** Servers that are upgraded one by one from a version that does not know the newest tables. */
import { afterEach, expect, test } from 'vitest';
import { allTables, keptPlans, oidcSessions, usedUpLimits } from '../src/state/tables.ts';
import { requestOf } from './support/agent-requests.ts';
import { jobBody } from './support/api.ts';
import { LocalCluster } from './support/local-cluster.ts';

const added: readonly string[] = [keptPlans.name, oidcSessions.name, usedUpLimits.name];
/** The versions that wrote less, with their tables. */
const olds = [
  { version: '0.1.2', tables: allTables.filter(({ name }) => !added.includes(name)) },
  {
    version: '0.1.3',
    tables: allTables.map((one) => (one.name === keptPlans.name ? { ...one, version: 1 } : one)),
  },
];
const newest = { version: '0.1.4' };

let cluster: LocalCluster;
afterEach(() => cluster.close());

const start = (at: number, program: object) =>
  cluster.start({ network: { address: `10.0.0.${at}:1` }, ...program });

const plan = async () =>
  (await cluster.call(cluster.leader, 'POST', '/v1/job/web/plan', jobBody())).json.PlanID;

async function guess(): Promise<number> {
  const body = { AuthMethod: 'nobody', BearerToken: 'a guess' };
  const request = { ...requestOf('POST', '/v1/acl/login', '', body), remoteAddress: '192.0.2.1' };
  return (await cluster.send(cluster.leader.agent, request)).status;
}

test.each(olds)(
  'beside a server of $version plans are not kept, and limits of logins hold in one term',
  async (old) => {
    cluster = new LocalCluster();
    const first = await start(1, old);
    await cluster.world.advance(30_000);
    const newer = await start(2, newest);
    while (cluster.leader !== newer) {
      cluster.log.depose();
      await cluster.world.advance(1000);
    }
    await cluster.world.advance(5000);
    expect(await plan()).toBe('');
    while ((await guess()) === 403);
    expect(await guess()).toBe(429);
    await cluster.kill(first);
    await start(1, newest);
    await cluster.world.advance(60_000);
    expect(await plan()).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test('beside a server of 0.2.0 only plans of registrations are kept', async () => {
  cluster = new LocalCluster();
  const tables = allTables.map((one) =>
    one.name === keptPlans.name ? { ...one, version: 2 } : one,
  );
  const first = await start(1, { version: '0.2.0', tables });
  await cluster.world.advance(30_000);
  const newer = await start(2, { version: '0.3.0' });
  while (cluster.leader !== newer) {
    cluster.log.depose();
    await cluster.world.advance(1000);
  }
  await cluster.world.advance(5000);
  const Entry = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
  const planEntry = async () => {
    const body = { Kind: 'configuration-entry', Entry };
    return (await cluster.call(cluster.leader, 'POST', '/v1/plan', body)).json;
  };
  const unkept = await planEntry();
  expect([unkept.ID, unkept.Warnings.join()]).toEqual([
    '',
    expect.stringContaining('older version'),
  ]);
  const id = await plan();
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  await cluster.kill(first);
  await start(1, { version: '0.3.0' });
  await cluster.world.advance(60_000);
  expect((await planEntry()).ID).toMatch(/^[0-9a-f-]{36}$/);
  const applied = await cluster.call(cluster.leader, 'PUT', `/v1/plan/${id}/apply`);
  expect(applied.status).toBe(200);
});
