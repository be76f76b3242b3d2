/** The waits of the client, against a cluster in virtual time. Source: docs/guides/library.md#waits. */
import { afterEach, describe, expect, test } from 'vitest';
import { inProcessTransport } from '../../src/agent-client.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { createAgent, type VirtualAgent, type VirtualAgentOptions } from '../../src/library.ts';
import { type Client, createClient, WaitError } from '../../src/sdk/client.ts';

let agent: VirtualAgent;
let client: Client;
afterEach(() => agent?.close());

async function start(options: Partial<VirtualAgentOptions> = {}): Promise<void> {
  agent = await createAgent({ network: 'none', clock: 'virtual', nodes: [{}], ...options });
  client = agent.client();
}

const jobOf = (group: object = {}, changes: object = {}, task: object = {}) => {
  const Tasks = [{ Name: 'server', Driver: 'docker', Config: { image: 'a' }, ...task }];
  return { Job: { ID: 'web', TaskGroups: [{ Name: 'web', Tasks, ...group }], ...changes } };
};
const large = { Resources: { CPU: 100, MemoryMB: 6000 } };

const until = <T>(wait: Promise<T>): Promise<T> => agent.clock.advanceUntil(wait);
const failureOf = async (wait: Promise<unknown>): Promise<WaitError> => {
  const failure = await until(wait).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WaitError);
  return failure as WaitError;
};

describe('a job', () => {
  test('runs when each of its groups has its count', async () => {
    await start();
    const { Job } = jobOf({ Count: 2 });
    const second = { ...Job.TaskGroups[0], Name: 'second', Count: 1 };
    await client.jobs.register({ Job: { ...Job, TaskGroups: [...Job.TaskGroups, second] } });
    const groups = (await until(client.jobs.waitUntilRunning('web'))).map((one) => one.TaskGroup);
    expect(groups.sort()).toEqual(['second', 'web', 'web']);
  });

  test('runs when its newest version does', async () => {
    await start();
    await client.jobs.register(jobOf({ Count: 2 }));
    await until(client.jobs.waitUntilRunning('web'));
    await client.jobs.register(jobOf({ Count: 2 }, {}, { Config: { image: 'b' } }));
    const running = await until(client.jobs.waitUntilRunning('web'));
    expect(running.map(({ JobVersion }) => JobVersion)).toEqual([1, 1]);
  });

  test('of every node runs on every node', async () => {
    await start({ nodes: [{}, {}, {}] });
    await client.jobs.register(jobOf({}, { Type: 'system' }));
    const running = await until(client.jobs.waitUntilRunning('web'));
    expect(new Set(running.map(({ NodeID }) => NodeID)).size).toBe(3);
  });

  test('that finds no room is told with the reason, and runs once there is room', async () => {
    await start();
    await client.jobs.register(jobOf({ Count: 2 }, {}, large));
    const late = await failureOf(client.jobs.waitUntilRunning('web', { timeoutMs: 60_000 }));
    expect(agent.clock.monotonicMs()).toBe(60_000);
    expect(late).toMatchObject({ reason: 'timeout', last: { ID: 'web' } });
    expect(late.message).toMatch(
      /^The job "web" does not run after 60 s: "web" has 1 of 2 running\. Group "web": .*memory/,
    );
    expect(late.unplaced).toEqual([
      { group: 'web', summary: expect.stringMatching(/1 allocation/), reason: expect.any(String) },
    ]);
    await agent.addNode();
    expect(await until(client.jobs.waitUntilRunning('web'))).toHaveLength(2);
  });

  test.each([
    ['was never registered', async () => {}, { name: 'ApiError', status: 404 }],
    [
      'is stopped meanwhile',
      async () => {
        await client.jobs.register(jobOf({ Count: 2 }, {}, large));
        void agent.clock.advance('10s').then(() => client.jobs.stop('web'));
      },
      { name: 'WaitError', reason: 'unreachable', message: 'The job "web" is stopped.' },
    ],
    [
      'is purged meanwhile',
      async () => {
        await client.jobs.register(jobOf({ Count: 2 }, {}, large));
        void agent.clock.advance('10s').then(() => client.jobs.stop('web', { purge: true }));
      },
      { name: 'ApiError', status: 404 },
    ],
    [
      'has ended',
      async () => {
        await client.jobs.register(
          jobOf({}, { Type: 'batch' }, { Driver: 'mock', Config: { run_for: '1s' } }),
        );
        await agent.clock.advance('1m');
      },
      { name: 'WaitError', reason: 'unreachable', message: /^The job "web" has ended/ },
    ],
  ])('that %s is refused at once', async (_, prepare, refused) => {
    await start();
    await prepare();
    const failure = await until(
      client.jobs.waitUntilRunning('web').catch((error: unknown) => error),
    );
    const { message, ...fields } = refused as { message?: string | RegExp };
    expect(failure).toMatchObject(fields);
    if (message !== undefined) expect((failure as Error).message).toMatch(message);
    expect(agent.clock.monotonicMs()).toBeLessThan(61_000);
  });

  test('is deployed, or not with the reason', async () => {
    await start({
      behaviourOf: ({ config }) => (config.image === 'b' ? { run_for: '1s', exit_code: 1 } : {}),
    });
    const Update = { AutoRevert: true, HealthyDeadline: 120e9, ProgressDeadline: 180e9 };
    await client.jobs.register(jobOf({ Update }));
    const first = await until(client.jobs.waitUntilDeployed('web'));
    expect(first).toMatchObject({ JobVersion: 0, Status: 'successful' });
    await client.jobs.register(jobOf({ Update }, {}, { Config: { image: 'b' } }));
    const failed = await failureOf(client.jobs.waitUntilDeployed('web'));
    expect(failed.reason).toBe('unreachable');
    expect(failed.message).toMatch(
      /^The deployment ".*" is failed: .*rolling back to job version 0/,
    );
    expect((await until(client.jobs.waitUntilDeployed('web'))).JobVersion).toBe(2);
    expect((await until(client.jobs.waitUntilDeployed('web', { version: 0 }))).JobVersion).toBe(0);
  });

  test('without deployments is never deployed', async () => {
    await start();
    await client.jobs.register(jobOf({}, { Type: 'batch' }));
    const late = await failureOf(client.jobs.waitUntilDeployed('web', { timeoutMs: 5000 }));
    expect(late.message).toBe(
      'Version 0 of the job "web" has no deployment, and is not deployed after 5 s.',
    );
  });
});

describe('a record', () => {
  test('of a deployment is waited for by its end', async () => {
    await start();
    await client.jobs.register(jobOf({ Update: {} }));
    await until(client.jobs.waitUntilRunning('web'));
    const { ID } = (await client.jobs.deployment('web')).value!;
    const other = client.deployments.waitUntilFailed(ID).catch((error: unknown) => error);
    expect((await until(client.deployments.waitUntilSuccessful(ID))).Status).toBe('successful');
    expect(await until(other)).toMatchObject({ name: 'WaitError', reason: 'unreachable' });
    const short = client.deployments.waitUntilFailed(ID, { timeoutMs: 1 });
    expect((await failureOf(short)).reason).toBe('unreachable');
  });

  test('of an evaluation is waited for until it is complete', async () => {
    await start();
    const { value } = await client.jobs.register(jobOf({ Count: 2 }, {}, large));
    const done = await until(client.evaluations.waitUntilComplete(value.EvalID));
    expect(done.BlockedEval).not.toBe('');
    const blocked = client.evaluations.waitUntilComplete(done.BlockedEval, { timeoutMs: 3000 });
    expect((await failureOf(blocked)).message).toBe(
      `The evaluation "${done.BlockedEval}" is blocked, not complete, after 3 s.`,
    );
  });

  test('of an allocation is waited for by its status', async () => {
    await start();
    await client.jobs.register(jobOf());
    const [allocation] = await until(client.jobs.waitUntilRunning('web'));
    const failed = failureOf(client.allocations.waitUntil(allocation!.ID, 'failed'));
    const complete = client.allocations.waitUntil(allocation!.ID, 'complete');
    await client.jobs.stop('web');
    expect((await until(complete)).ClientStatus).toBe('complete');
    expect((await failed).message).toMatch(/^The allocation ".*" is complete: /);
  });

  test('of a node is waited for before it exists', async () => {
    await start({ nodes: [] });
    const id = '00000000-0000-4000-8000-000000000001';
    const late = await failureOf(client.nodes.waitUntilReady(id, { timeoutMs: 2000 }));
    expect(late.message).toBe(`The node "${id}" is not registered, not ready, after 2 s.`);
  });
});

describe('a wait', () => {
  test('ends with the reason of its signal', async () => {
    await start();
    await client.jobs.register(jobOf({ Count: 2 }, {}, large));
    const leaving = new AbortController();
    const waiting = client.jobs.waitUntilRunning('web', { signal: leaving.signal });
    void agent.clock.advance('1s').then(() => leaving.abort(new Error('enough')));
    await expect(until(waiting)).rejects.toThrow('enough');
    const gone = { signal: AbortSignal.abort(new Error('gone')) };
    await expect(client.jobs.waitUntilRunning('web', gone)).rejects.toThrow('gone');
  });

  test('asks only when something has changed', async () => {
    await start();
    const asked: string[] = [];
    const transport = inProcessTransport(async (request) => {
      asked.push(request.path);
      return agent.handle(request);
    }, realWorld);
    const watching = createClient({ address: 'http://a', token: agent.rootToken, transport });
    await client.jobs.register(jobOf({ Count: 2 }, {}, large));
    // The allocation that has room is healthy then, and nothing changes any more.
    await agent.clock.advance('1m');
    const waiting = watching.jobs.waitUntilRunning('web', { timeoutMs: 0 });
    await agent.clock.advance(0);
    const before = asked.length;
    await agent.clock.advance('4m');
    expect(asked.length).toBe(before);
    await agent.addNode();
    await until(waiting);
    expect(asked.length).toBeGreaterThan(before);
  });
});
