/** Agents that start while etcd is away, or is another one. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { minuteMs } from '../../src/base/units.ts';
import { createAgent } from '../../src/main.ts';
import {
  type Agent,
  agentWords,
  command,
  endAgents,
  eventually,
  kill,
  launch,
  newDirectory,
  processesOf,
  rootToken,
  startAgent,
  supervisorsOf,
} from '../support/agent.ts';
import { parseAnswer, requestOf } from '../support/agent-requests.ts';
import { EtcdCluster, etcdServer, freePorts } from '../support/etcd.ts';

const timeoutMs = 120_000;

const copyOf = (dataDirectory = '') => join(dataDirectory, 'server/etcd-copy');

describe('an agent on etcd that starts', needing(etcdServer), () => {
  let cluster: EtcdCluster;

  afterEach(() => cluster?.stop());
  afterAll(endAgents);

  /** An agent with a task, that has ended. Its task runs on. */
  async function ended(end: (agent: Agent) => Promise<unknown> = (agent) => agent.stop()) {
    cluster = await EtcdCluster.start(1);
    const dataDirectory = newDirectory();
    const [port] = await freePorts(1);
    const etcd = ['--engine', 'etcd', '--etcd-endpoints', cluster.endpoints.join(',')];
    const args = [...etcd, '--http', `127.0.0.1:${port}`, '--tasks-on-exit', 'keep'];
    const options = { dataDirectory, args };
    const agent = await startAgent(options);
    const task = { Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['1000'] } };
    const TaskGroups = [{ Name: 'g', Tasks: [{ Name: 't', ...task }] }];
    await agent.register({ ID: 'web', Datacenters: ['dc1'], TaskGroups });
    const allocation = await running(agent);
    const pids = processesOf(allocation);
    expect(pids).not.toEqual([]);
    await end(agent);
    return { dataDirectory, options, address: agent.address, allocation, pids };
  }

  const running = (agent: Agent) =>
    agent.until('/v1/job/web/allocations', (allocations) => {
      expect(allocations[0]?.ClientStatus).toBe('running');
      return allocations[0] as { readonly ID: string };
    });

  const writes = (agent: Agent) =>
    eventually(async () => {
      const written = await agent.request('PUT', '/v1/namespace/a', { Name: 'a' });
      expect(written.status).toBe(200);
    });

  const metric = async (agent: Agent, name: string): Promise<number> => {
    const metrics = (await agent.get('/v1/metrics')) as readonly {
      readonly name: string;
      readonly values: readonly { readonly value: number }[];
    }[];
    return metrics.find((one) => one.name === `roster_${name}`)!.values[0]!.value;
  };

  test(
    'while etcd is away shows its copy, says so, and comes back by itself',
    async () => {
      const { options, allocation, pids } = await ended();
      await cluster.kill(0);
      const agent = await startAgent(options);
      const stale = await agent.request('GET', '/v1/job/web?stale=true');
      expect([stale.status, stale.json.ID]).toEqual([200, 'web']);
      expect(Number(stale.headers.get('x-scheduler-lastcontact'))).toBeGreaterThan(1000);
      for (const method of ['GET', 'DELETE']) {
        const { status, json } = await agent.request(method, '/v1/job/web');
        expect([method, status, json.code]).toEqual([method, 503, 'no-leader']);
      }
      const health = await agent.request('GET', '/v1/agent/health');
      expect([health.status, health.json.detail]).toEqual([
        503,
        expect.stringMatching(/it shows its copy of the state, as of .* ago: .*ECONNREFUSED/),
      ]);
      expect(agent.said().stderr).not.toContain('"stack"');
      const { Servers } = await agent.get('/v1/servers/health');
      expect(Servers[0]).toMatchObject({
        Healthy: false,
        Faults: [expect.stringContaining('the log cannot be reached')],
        Warnings: [expect.stringContaining('stale requests are answered: its state is as of')],
      });
      expect(await metric(agent, 'log_unconfirmed')).toBe(1);
      expect(agent.said().stdout).toMatch(
        /Roster answers at \S+, but the log has not answered since this server started: it shows its copy/,
      );
      expect(agent.said().stdout).not.toContain('is ready');
      expect(agent.said().stderr).toContain('it shows its copy of the state, of index');
      expect(processesOf(allocation)).toEqual(pids);

      cluster.run(0);
      await writes(agent);
      expect((await running(agent)).ID).toBe(allocation.ID);
      expect(processesOf(allocation)).toEqual(pids);
      expect(await metric(agent, 'log_unconfirmed')).toBe(0);
      expect((await agent.request('GET', '/v1/agent/health')).status).toBe(200);
      expect((await agent.cli('job', 'stop', 'web')).code).toBe(0);
      await agent.stop();
    },
    timeoutMs,
  );

  test(
    'loses no task of which its copy does not know',
    async () => {
      const { options, allocation, pids } = await ended(async (agent) => {
        // The copy has the state with which the server began, and may come later than the job runs.
        await eventually(() => expect(existsSync(copyOf(agent.dataDirectory))).toBe(true));
        kill(agent.pid, 'SIGKILL');
        await agent.ended;
      });
      await cluster.kill(0);
      const agent = await startAgent({
        ...options,
        args: [...options.args, '--log-level', 'debug'],
      });
      expect((await agent.request('GET', '/v1/job/web?stale=true')).status).toBe(404);
      // Its node has asked, and was not answered.
      const asked = /"path":"\/v1\/node\/[^"]*","status":503/;
      await eventually(() => expect(agent.said().stderr).toMatch(asked));
      expect(processesOf(allocation)).toEqual(pids);
      cluster.run(0);
      await writes(agent);
      expect((await running(agent)).ID).toBe(allocation.ID);
      expect(processesOf(allocation)).toEqual(pids);
      expect((await agent.cli('job', 'stop', 'web')).code).toBe(0);
      await agent.stop();
    },
    timeoutMs,
  );

  test(
    'without a copy while etcd is away answers the reason, and comes back by itself',
    async () => {
      const { dataDirectory, options, address } = await ended(async (agent) => {
        expect((await agent.cli('job', 'stop', 'web')).code).toBe(0);
        await agent.stop();
      });
      rmSync(copyOf(dataDirectory));
      await cluster.kill(0);
      const refused = async () => {
        const answer = await fetch(`${address}/v1/agent/health`);
        const { code, detail } = (await answer.json()) as { code: string; detail: string };
        expect([answer.status, code, detail]).toEqual([
          503,
          'not-ready',
          expect.stringMatching(/the log cannot be read from etcd at .*: etcd at /),
        ]);
      };
      const given = launch(command, agentWords(options));
      await eventually(refused);
      given.signal('SIGTERM');
      expect((await given.ended).code).toBe(0);

      const waiting = startAgent(options);
      await eventually(refused);
      cluster.run(0);
      const agent = await waiting;
      await writes(agent);
      expect((await agent.get('/v1/job/web')).ID).toBe('web');
      await agent.stop();
    },
    timeoutMs,
  );

  test(
    'on an etcd that lost everything shows its copy, and says what to do',
    async () => {
      const { dataDirectory, options, allocation, pids } = await ended();
      await cluster.stop();
      cluster = await EtcdCluster.start(1);
      const args = options.args.with(3, cluster.endpoints.join(','));
      const agent = await startAgent({ ...options, args });
      expect((await agent.get('/v1/job/web?stale=true')).ID).toBe('web');
      await eventually(async () => expect(await metric(agent, 'log_diverged')).toBe(1));
      const health = await agent.request('GET', '/v1/agent/health');
      expect([health.status, health.json.detail]).toEqual([
        503,
        expect.stringMatching(
          /this server has applied index \d+ .*, the log is in the etcd cluster \d+ .*roster operator recover/,
        ),
      ]);
      const { status } = await agent.request('PUT', '/v1/namespace/a', { Name: 'a' });
      expect(status).toBe(503);
      expect(agent.said().stderr).toContain('the log has diverged');
      expect(processesOf(allocation)).toEqual(pids);
      expect((await agent.stop()).code).toBe(0);
      for (const pid of [...supervisorsOf(dataDirectory), ...pids]) kill(pid, 'SIGKILL');
    },
    timeoutMs,
  );

  test(
    'refuses stale requests as well from a copy that is too old',
    async () => {
      cluster = await EtcdCluster.start(1);
      const etcd = { endpoints: cluster.endpoints, prefix: '/old/' };
      const dataDirectory = newDirectory();
      const rootKey = new Uint8Array(32).fill(7);
      const given = { dataDirectory, etcd, rootKey, rootToken };
      const first = await createAgent(given);
      await first.close('stop');
      await cluster.kill(0);
      const ages = [4 * minuteMs, 6 * minuteMs];
      const statuses: number[] = [];
      for (const ageMs of ages) {
        const { clock } = realWorld;
        const later = { ...clock, nowMs: () => clock.nowMs() + ageMs };
        const agent = await createAgent({ ...given, world: { ...realWorld, clock: later } });
        const answer = await agent.handle(requestOf('GET', '/v1/namespaces?stale=true', rootToken));
        const { status, headers } = await parseAnswer(answer);
        statuses.push(status);
        expect(Number(headers['x-scheduler-lastcontact'] ?? ageMs)).toBeGreaterThanOrEqual(ageMs);
        const health = await parseAnswer(
          await agent.handle(requestOf('GET', '/v1/servers/health', rootToken)),
        );
        const told = [...health.json.Servers[0].Faults, ...health.json.Servers[0].Warnings].join();
        expect(told).toContain(status === 200 ? 'stale requests are answered' : 'are refused');
        await agent.close('stop');
      }
      expect(statuses).toEqual([200, 503]);
    },
    timeoutMs,
  );
});
