/** Clusters in virtual time, as tests of job files use them. Source: docs/guides/library.md. */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createAgent, type VirtualAgent, type VirtualAgentOptions } from '../../src/library.ts';
import { ApiError, ConnectionError, waitFor } from '../../src/sdk/client.ts';

let agent: VirtualAgent;
afterEach(() => agent?.close());

async function start(options: Partial<VirtualAgentOptions> = {}) {
  agent = await createAgent({ network: 'none', clock: 'virtual', nodes: [{}, {}], ...options });
  return agent.client();
}

const taskOf = (changes: object = {}) => ({
  Name: 'server',
  Driver: 'docker',
  Config: { image: 'nginx' },
  ...changes,
});
const jobOf = (group: object = {}, changes: object = {}) => ({
  Job: { ID: 'web', TaskGroups: [{ Name: 'web', Tasks: [taskOf()], ...group }], ...changes },
});

const running = (id = 'web') => agent.clock.advanceUntil(agent.client().jobs.waitUntilRunning(id));

describe('a cluster in virtual time', () => {
  test('has its nodes, and no time has passed', async () => {
    const client = await start({
      nodes: [{ meta: { rack: 'r1' } }, { name: 'b', datacenter: 'dc2', nodePool: 'default' }],
      startsAt: new Date('2030-05-06T07:08:09Z'),
    });
    const { value: nodes } = await client.nodes.list();
    const told = nodes.map(({ Name, Datacenter, Status }) => `${Name} ${Datacenter} ${Status}`);
    expect(told.sort()).toEqual(['b dc2 ready', 'node-1 dc1 ready']);
    expect(new Date(agent.clock.nowMs()).toISOString()).toBe('2030-05-06T07:08:09.000Z');
    const b = await client.nodes.read(agent.node('b').id);
    expect(b.value.Drivers.docker?.Healthy).toBe(true);
  });

  test('is a function of its seed', async () => {
    const historyOf = async (seed: number) => {
      const client = await start({ seed });
      await client.jobs.register(jobOf({ Count: 5 }));
      const [first] = await running();
      agent.crash(first!.ID);
      agent.node('node-1').lose();
      await agent.clock.advance('3m');
      const all = [await client.allocations.list(), await client.evaluations.list()];
      await agent.close();
      return createHash('sha256').update(JSON.stringify(all)).digest('hex');
    };
    expect(await historyOf(3)).toBe(await historyOf(3));
    expect(await historyOf(4)).not.toBe(await historyOf(3));
  });

  test('replaces tasks that crash, by the rules of the job', async () => {
    const client = await start();
    await client.jobs.register(jobOf({ Count: 2, RestartPolicy: { Attempts: 1, Delay: 5e9 } }));
    const [one, two] = await running();
    agent.crash(one!.ID, { task: 'server', exitCode: 3 });
    await agent.clock.advance('1s');
    const restarting = (await client.allocations.read(one!.ID)).value.TaskStates?.server;
    expect(restarting).toMatchObject({ State: 'pending', Restarts: 1 });
    await agent.clock.advance('10s');
    expect((await client.allocations.read(one!.ID)).value.ClientStatus).toBe('running');
    expect(() => agent.crash(two!.ID, { task: 'other' })).toThrow('No task "other"');
    expect(() => agent.crash('nobody')).toThrow('No task of the allocation "nobody" runs.');
  });

  test('runs the tasks of a group in their order', async () => {
    const client = await start({
      behaviourOf: ({ taskName }) => (taskName === 'migrate' ? { run_for: '30s' } : undefined),
    });
    const migrate = taskOf({ Name: 'migrate', Lifecycle: { Hook: 'prestart' } });
    await client.jobs.register(jobOf({ Tasks: [migrate, taskOf()] }));
    const [allocation] = await running();
    const states = async () => (await client.allocations.read(allocation!.ID)).value.TaskStates;
    expect((await states())?.server?.State).toBe('pending');
    await agent.clock.advance('31s');
    expect((await states())?.migrate).toMatchObject({ State: 'dead', Failed: false });
    expect((await states())?.server?.State).toBe('running');
  });

  test('has jobs of the driver mock do as their settings say', async () => {
    const client = await start();
    const task = taskOf({ Driver: 'mock', Config: { run_for: '20s', exit_code: 0 } });
    await client.jobs.register(jobOf({ Tasks: [task] }, { Type: 'batch' }));
    const [allocation] = await running();
    await agent.clock.advanceUntil(client.allocations.waitUntil(allocation!.ID, 'complete'));
    expect(agent.clock.monotonicMs()).toBeGreaterThanOrEqual(20_000);
    expect(agent.clock.monotonicMs()).toBeLessThan(22_000);
  });

  test('places the work of a lost node elsewhere, and has the node back', async () => {
    const client = await start({ nodes: [{ name: 'a' }] });
    await client.jobs.register(jobOf());
    const [before] = await running();
    agent.node('a').lose();
    await agent.clock.advance('1m');
    expect((await client.nodes.read(agent.node('a').id)).value.Status).toBe('down');
    expect((await client.allocations.read(before!.ID)).value.ClientStatus).toBe('lost');
    const added = await agent.addNode({ name: 'b' });
    const [after] = await running();
    expect(after!.NodeID).toBe(added.id);
    await agent.node('a').start();
    const back = client.nodes.waitUntilReady(agent.node('a').id);
    expect((await agent.clock.advanceUntil(back)).ID).toBe(before!.NodeID);
    expect(() => agent.node('c')).toThrow('There is no virtual node "c"; there are: a, b.');
  });

  test('registers services while their tasks run', async () => {
    const client = await start();
    const Networks = [{ DynamicPorts: [{ Label: 'http' }] }];
    const Services = [
      { Name: 'web', PortLabel: 'http', Checks: [{ Type: 'tcp', Interval: 10e9, Timeout: 1e9 }] },
    ];
    await client.jobs.register(jobOf({ Count: 2, Networks, Services }));
    const instances = (count: number) =>
      waitFor(
        (of) => client.jobs.services('web', of),
        (list) => list.length === count && list.every(({ Status }) => Status === 'passing'),
      );
    await agent.clock.advanceUntil(instances(2));
    await client.jobs.stop('web');
    await agent.clock.advanceUntil(instances(0));
  });

  test('takes commands for tasks', async () => {
    const client = await start();
    await client.jobs.register(jobOf());
    const [allocation] = await running();
    await agent.clock.advanceUntil(client.allocations.restart(allocation!.ID));
    await agent.clock.advance('1s');
    const state = (await client.allocations.read(allocation!.ID)).value.TaskStates?.server;
    expect(state).toMatchObject({ State: 'running', Restarts: 1 });
    await agent.clock.advanceUntil(client.allocations.signal(allocation!.ID, 'SIGHUP'));
    agent.crash(allocation!.ID);
    const late = agent.clock.advanceUntil(client.allocations.restart(allocation!.ID));
    await expect(late).rejects.toThrow('is not running');
  });

  test('keeps what tasks print, also while somebody follows it', async () => {
    const client = await start();
    const prints = { stdout_string: 'tick\n', stdout_repeat: 2, stdout_repeat_duration: '10s' };
    const Config = { ...prints, stderr_string: 'oops', run_for: '30s' };
    await client.jobs.register(
      jobOf({ Tasks: [taskOf({ Driver: 'mock', Config })] }, { Type: 'batch' }),
    );
    const [{ ID: allocation } = { ID: '' }] = await running();
    const read = async (options: object) => {
      let text = '';
      const log = client.logs.read({ allocation, task: 'server', ...options });
      for await (const piece of log) text += Buffer.from(piece);
      return text;
    };
    const followed = read({ follow: true });
    expect([await read({}), await read({ type: 'stderr' })]).toEqual(['tick\n', 'oops']);
    await agent.clock.advance('1m');
    expect(await followed).toBe('tick\ntick\ntick\n');
    expect(await read({ origin: 'end', offset: 6 })).toBe('\ntick\n');
    await expect(read({ task: 'other' })).rejects.toThrow('has no task "other"');
  });

  test('says what a virtual node does not have', async () => {
    const client = await start();
    await client.jobs.register(jobOf());
    const [{ ID, NodeID } = { ID: '', NodeID: '' }] = await running();
    const exec = client.exec.run({ allocation: ID, task: 'server', command: ['ls'] });
    await expect(exec).rejects.toThrow(ConnectionError);
    await expect(exec).rejects.toThrow('runs no commands in tasks (exec)');
    const asked = {
      files: () => client.files.list({ allocation: ID, path: '/' }),
      'figures of resources in use': () => client.nodes.usage(NodeID),
    };
    for (const [noun, ask] of Object.entries(asked)) {
      const refused = await ask().catch((error: unknown) => error);
      expect([noun, refused]).toEqual([noun, expect.any(ApiError)]);
      expect(refused).toMatchObject({
        status: 400,
        message: expect.stringContaining(`A virtual node has no ${noun}.`),
      });
    }
  });

  test('asks who calls', async () => {
    await start();
    const anonymous = agent.client({ token: '' });
    await expect(anonymous.jobs.register(jobOf())).rejects.toThrow(ApiError);
    await agent.close();
    const client = await start({ aclEnabled: false });
    expect((await client.jobs.list()).value).toEqual([]);
  });
});

describe('a client in process', () => {
  test('ends its requests when it is closed', async () => {
    const client = await start();
    const { index } = await client.nodes.list();
    const waiting = client.nodes.list({ index });
    await client.close();
    await expect(waiting).rejects.toThrow(ConnectionError);
    await expect(client.nodes.list()).rejects.toThrow(ConnectionError);
  });

  test('ends its requests when the agent is closed', async () => {
    const client = await start();
    const { index } = await client.nodes.list();
    const waiting = expect(client.nodes.list({ index })).rejects.toThrow(ConnectionError);
    await agent.close();
    await waiting;
    await expect(client.nodes.list()).rejects.toThrow(ConnectionError);
    await expect(agent.handle(metrics(agent.rootToken))).rejects.toThrow('The agent is closed.');
  });

  test('leaves a query when its signal aborts, and frees the server of it', async () => {
    const client = await start();
    const { index } = await client.jobs.list();
    const leaving = new AbortController();
    const waiting = client.jobs.list({ index, signal: leaving.signal });
    const parked = async () =>
      /^roster_blocking_queries (\d+)$/m.exec(
        String((await agent.handle(metrics(agent.rootToken))).body),
      )?.[1];
    await agent.clock.advance(0);
    const before = Number(await parked());
    leaving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(Number(await parked())).toBe(before - 1);
  });

  test('counts its timeouts in virtual time', async () => {
    const client = await start();
    const { index } = await client.jobs.list();
    const late = client.jobs.list({ index, timeoutMs: 20_000 });
    await expect(agent.clock.advanceUntil(late)).rejects.toMatchObject({
      code: 'UND_ERR_HEADERS_TIMEOUT',
    });
    expect(agent.clock.monotonicMs()).toBe(20_000);
  });
});

const metrics = (token: string) => ({
  method: 'GET',
  path: '/v1/metrics',
  query: 'format=prometheus',
  headers: { 'x-registry-token': token },
  body: undefined,
});
