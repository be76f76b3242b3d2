/** A service of a real job, exported to another agent until the peering ends. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import { httpPort, job, node } from '../support/jobs.ts';

let east: Agent;
let west: Agent;
beforeAll(async () => {
  [east, west] = await Promise.all([startAgent(), startAgent()]);
});
afterAll(endAgents);

/** While the file exists, the service is unhealthy. */
const illness = join(newDirectory('mark'), 'ill');

const shop = job('shop', {
  group: {
    Networks: httpPort,
    ShutdownDelay: '0s',
    Services: [
      {
        Name: 'shop',
        PortLabel: 'http',
        Tags: ['blue'],
        Checks: [{ Type: 'http', Path: '/', Interval: '1s', Timeout: '20s' }],
      },
    ],
  },
  task: {
    ...node(`
      const { existsSync } = require('node:fs');
      require('node:http')
        .createServer((request, response) => {
          response.writeHead(existsSync(${JSON.stringify(illness)}) ? 500 : 200).end('shop');
        })
        .listen(Number(process.env.ROSTER_PORT_http), '127.0.0.1');
    `),
    KillTimeout: '1s',
  },
});

const fromEast = (look: (all: readonly ServiceRegistration[]) => void) =>
  west.until('/v1/service/shop?peer=east', (all: ServiceRegistration[]) => {
    look(all);
    return all;
  });
const post = async (agent: Agent, path: string, body: object) => {
  const { status, text, json } = await agent.request('POST', path, body);
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return json;
};

test('an exported service appears at the peer, follows its job, and is removed with the peering', async () => {
  const { PeeringToken } = await post(east, '/v1/peering/token', { PeerName: 'west' });
  await post(west, '/v1/peering/establish', { PeerName: 'east', PeeringToken });
  await east.register(shop);
  const [own] = await east.until('/v1/service/shop', (all: ServiceRegistration[]) => {
    expect(all).toMatchObject([{ Status: 'passing' }]);
    return all;
  });
  expect(await west.get('/v1/service/shop?peer=east')).toEqual([]);
  const entry = { Kind: 'exported-services', Name: 'default' };
  const Services = [{ Name: 'shop', Consumers: [{ Peer: 'west' }] }];
  const { status, text } = await east.request('PUT', '/v1/config', { ...entry, Services });
  expect([status, text.trim()]).toEqual([200, 'true']);

  const [there] = await fromEast((all) => expect(all).toHaveLength(1));
  expect(there).toMatchObject({
    ID: own!.ID,
    ServiceName: 'shop',
    Status: 'passing',
    Tags: ['blue'],
    Peer: 'east',
    Address: own!.Address,
    Port: own!.Port,
    NodeID: '',
    JobID: '',
    AllocID: '',
  });
  expect(await (await fetch(`http://${there!.Address}:${there!.Port}/`)).text()).toBe('shop');
  const [exported, imported] = [
    (await east.get('/v1/peering/west')).StreamStatus.ExportedServices,
    (await west.get('/v1/peering/east')).StreamStatus.ImportedServices,
  ];
  expect([exported, imported]).toEqual([['shop'], ['shop']]);
  const why = await west.cli('peering', 'why', 'shop', 'east');
  expect(why.stdout).toContain('"east" exports "shop" with 1 instance.');

  writeFileSync(illness, '');
  await fromEast((all) => expect(all).toMatchObject([{ Status: 'critical' }]));
  rmSync(illness);
  expect(existsSync(illness)).toBe(false);
  await fromEast((all) => expect(all).toMatchObject([{ Status: 'passing' }]));

  await east.request('DELETE', '/v1/job/shop');
  await fromEast((all) => expect(all).toEqual([]));
  expect(await west.get('/v1/services?peer=east')).toMatchObject([
    { Services: [{ ServiceName: 'shop', Tags: [] }] },
  ]);

  await east.register(shop);
  await fromEast((all) => expect(all).toHaveLength(1));
  expect((await west.request('DELETE', '/v1/peering/east')).status).toBe(200);
  await eventually(async () => {
    const { status, json } = await west.request('GET', '/v1/service/shop?peer=east');
    expect([status, json.code]).toEqual([404, 'peering-not-found']);
    expect(await west.get('/v1/imported-services')).toEqual([]);
    expect((await east.get('/v1/peering/west')).State).toBe('TERMINATED');
  });
});
