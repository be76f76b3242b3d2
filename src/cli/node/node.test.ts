import { expect, test } from 'vitest';
import { allocation, ids, node } from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const server = {
  'GET /v1/nodes': { json: [node(), node({ ID: ids.second, Name: 'two', Status: 'down' })] },
  [`GET /v1/node/${ids.node}`]: { json: node() },
  [`GET /v1/node/${ids.node}/allocations`]: { json: [allocation()] },
};

test('status lists the nodes', async () => {
  expect((await run(['node', 'status'], { server })).stdout).toBe(
    `ID        Name  Datacenter  Pool     Class  Drain  Eligibility  Status
d0d0d0d0  one   dc1         default  -      false  eligible     ready
a1a1a1a1  two   dc1         default  -      false  eligible     down
`,
  );
});

test('status of the node beside the agent that is asked', async () => {
  const self = (NodeID: string) => ({ 'GET /v1/agent/self': { json: { NodeID } } });
  const words = ['node', 'status', '-self', '-json'];
  const own = await run(words, { server: { ...server, ...self(ids.node) } });
  expect(JSON.parse(own.stdout).Node.ID).toBe(ids.node);
  const alone = await run(words.slice(0, 3), { server: { ...server, ...self('') } });
  expect([alone.exitCode, alone.stderr]).toEqual([1, expect.stringContaining('a server alone')]);
  const twice = await run([...words, 'one'], { server });
  expect([twice.exitCode, twice.stderr]).toEqual([1, expect.stringContaining('--self')]);
});

test('status of a node, by its name, shows its resources and allocations', async () => {
  const { stdout } = await run(['node', 'status', '-verbose', 'one'], { server });
  expect(stdout.replaceAll(ids.node, 'ID')).toBe(`ID           ID
Name         one
Status       ready
Eligibility  eligible
Datacenter   dc1
Pool         default
Class        -
CPU          4000 MHz, 2 cores
Memory       3900 MB
Disk         20000 MB

Drivers
Driver    Detected  Healthy  Reason
docker    false     false    no socket
raw_exec  true      true     ready

Events
When       Subsystem  What happened
6m40s ago  cluster    Node registered

Allocations
ID                                    Name          Desired  Status   Changed
a0a0a0a0-0000-4000-8000-000000000000  web.front[0]  run      running  1m ago

Attributes
cpu.arch     amd64
kernel.name  linux

Meta
rack  r1
`);
});

test('status of a node shows each instance of its devices', async () => {
  const Instances = [
    { ID: 'g1', Healthy: true, HealthDescription: '' },
    { ID: 'g2', Healthy: false, HealthDescription: 'too hot' },
  ];
  const Devices = [{ Vendor: 'acme', Type: 'gpu', Name: 'a100', Attributes: {}, Instances }];
  const NodeResources = { ...node().NodeResources, Devices };
  const { stdout } = await run(['node', 'status', 'one'], {
    server: { ...server, [`GET /v1/node/${ids.node}`]: { json: node({ NodeResources }) } },
  });
  expect(stdout).toContain(`Devices
Device         Piece  Healthy  Reason
acme/gpu/a100  g1     true     -
acme/gpu/a100  g2     false    too hot
`);
});

test('a missing node is reported', async () => {
  expect(await run(['node', 'status', 'nine'], { server })).toMatchObject({
    exitCode: 1,
    stderr: 'Error: There is no node "nine".\n"roster node status" lists them.\n',
  });
});

test('-json has the node and its allocations', async () => {
  const { stdout } = await run(['node', 'status', '-json', ids.node], { server });
  expect(JSON.parse(stdout)).toEqual({ Node: node(), Allocations: [allocation()] });
});
