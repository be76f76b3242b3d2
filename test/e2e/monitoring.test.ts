/**
 * examples/monitoring: Prometheus scrapes a real agent with its configuration, every query of the dashboard has a value, and
 * the rules of alerts hold.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Need, needing } from '../../src/base/not-run.test-helper.ts';
import { missingPrograms } from '../../tools/programs.mjs';
import {
  type Agent,
  checkout,
  endAgents,
  eventually,
  launch,
  newDirectory,
  type Program,
  rootToken,
  startAgent,
} from '../support/agent.ts';
import { idle, job, once, shell } from '../support/jobs.ts';

const wanted = ['prometheus', 'promtool'].map((name) => ({ name, package: 'prometheus', why: '' }));
const prometheus: Need = {
  isMet: missingPrograms(wanted, process.env.PATH ?? '').length === 0,
  otherwise: 'they need prometheus and promtool, of the package prometheus',
};

const folder = join(checkout, 'examples/monitoring');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

async function promtool(stdin: string, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await launch('promtool', words, { stdin, cwd: folder }).ended;
  expect([code, stderr, stdout]).toEqual([0, expect.any(String), stdout]);
  return stdout + stderr;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(textOf('grafana.json')) as { readonly panels: readonly Panel[] };

/** Each query with the values that Grafana fills in. */
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => {
    const query = expr
      .replaceAll(/\$(namespace|job)\b/g, '.*')
      .replaceAll('$__rate_interval', '1m');
    return [title, query] as const;
  }),
);

describe('without a server', needing(prometheus), () => {
  test('the rules are rules, and fire for what they are about', async () => {
    expect(await promtool('', 'check', 'rules', 'rules.yml')).toMatch(/\d+ rules found/);
    expect(await promtool('', 'test', 'rules', 'rules.test.yml')).toContain('SUCCESS');
  });

  test('every rule is tried by name, and documented', () => {
    const names = [...textOf('rules.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const page = readFileSync(join(checkout, 'docs/operations/alerts.md'), 'utf8');
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !textOf('rules.test.yml').includes(name!))).toEqual([]);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('with an agent', needing(prometheus), () => {
  let agent: Agent;
  let server: Program;
  let address: string;

  beforeAll(async () => {
    const args = ['--snapshot-dir', newDirectory('snapshots')];
    const [first, peer] = await Promise.all([
      startAgent({ args, dataDirectory: newDirectory() }),
      startAgent({ args: ['--server-only'] }),
    ]);
    agent = first;
    const made = await agent.request('POST', '/v1/peering/token', { PeerName: 'peer' });
    const PeeringToken = made.json.PeeringToken;
    await peer.request('POST', '/v1/peering/establish', { PeerName: 'first', PeeringToken });
    await Promise.all([
      agent.register(job('runs', { task: idle, group: { Services: [{ Name: 'runs' }] } })),
      agent.register(job('fails', { task: shell('exit 3'), group: once })),
      agent.register(
        job('waits', { task: { ...idle, Resources: { CPU: 20, MemoryMB: 100_000_000 } } }),
      ),
    ]);
    await agent.until('/v1/job/runs/allocations', ([one]) => {
      expect(one).toMatchObject({ ClientStatus: 'running' });
    });
    server = await startPrometheus(new URL(agent.address).host);
  }, 60_000);
  afterAll(endAgents);

  /** As the example says, but every second. */
  async function startPrometheus(target: string): Promise<Program> {
    const directory = newDirectory('prometheus');
    const config = textOf('prometheus.yml')
      .replaceAll('127.0.0.1:4720', target)
      .replaceAll(/(interval): \d+s/g, '$1: 1s');
    writeFileSync(join(directory, 'prometheus.yml'), config);
    writeFileSync(join(directory, 'roster-token'), rootToken);
    copyFileSync(join(folder, 'rules.yml'), join(directory, 'rules.yml'));
    address = `127.0.0.1:${await freePort()}`;
    return launch('prometheus', [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
    ]);
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  async function ask(path: string): Promise<any> {
    const answer = await fetch(`http://${address}/api/v1/${path}`).catch((error) => {
      throw new Error(`${error}: ${server.said().stderr}`);
    });
    return ((await answer.json()) as { data: unknown }).data;
  }

  test('its text has no fault', async () => {
    const { text } = await agent.request('GET', '/v1/metrics?format=prometheus');
    await promtool(text, 'check', 'metrics');
    const [{ ID }] = (await agent.get('/v1/nodes')) as [{ ID: string }];
    const ofNode = await agent.request('GET', `/v1/client/metrics?node_id=${ID}`);
    expect(ofNode.text).toMatch(/^roster_task_memory_bytes\{.*job_id="runs".*\} [1-9]/m);
    await promtool(ofNode.text, 'check', 'metrics');
  });

  test('both targets are up, and their samples are taken', async () => {
    await eventually(async () => {
      const { activeTargets } = await ask('targets?state=active');
      const found = activeTargets.map((one: Record<string, unknown> & { labels: object }) => ({
        ...one.labels,
        health: one.health,
        lastError: one.lastError,
      }));
      expect(found).toMatchObject([
        { job: 'roster', health: 'up', lastError: '' },
        { job: 'roster-nodes', health: 'up', lastError: '' },
      ]);
    });
  });

  /** Something to tell: a commit, a decision and a refusal. */
  async function stir(): Promise<void> {
    await agent.request('PUT', '/v1/job/runs/evaluate', {});
    await fetch(`${agent.address}/v1/jobs`);
  }

  test.each(queries)('%s: %s', async (_title, query) => {
    await eventually(async () => {
      await stir();
      const found = await ask(`query?query=${encodeURIComponent(query)}`);
      const values = found.result.map(({ value }: { value: [number, string] }) => Number(value[1]));
      expect(values.length).toBeGreaterThan(0);
      expect(values.some(Number.isFinite)).toBe(true);
    });
  });

  test('the queries tell the running, the failed and the waiting job', async () => {
    const answerTo = async (query: string) => {
      const { result } = await ask(`query?query=${encodeURIComponent(query)}`);
      return result.map(({ value }: { value: [number, string] }) => value[1]);
    };
    expect(await answerTo('roster_allocations{job_id="runs", status="running"}')).toEqual(['1']);
    expect(await answerTo('roster_allocations{job_id="fails", status="failed"}')).toEqual(['1']);
    expect(await answerTo('roster_allocations_unplaced{job_id="waits"}')).toEqual(['1']);
    expect(await answerTo('roster_task_memory_limit_bytes{job_id="runs"}')).toEqual([
      `${32 * 2 ** 20}`,
    ]);
  });

  test('all rules are evaluated without a fault', async () => {
    await eventually(async () => {
      const { groups } = await ask('rules');
      const rules = groups.flatMap((group: { rules: object[] }) => group.rules);
      expect(rules.length).toBeGreaterThan(20);
      for (const rule of rules) expect(rule).toMatchObject({ health: 'ok' });
    });
  });
});

/** Prometheus does not tell a port that it chose itself. */
async function freePort(): Promise<number> {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  await new Promise((resolve) => taken.close(resolve));
  return port;
}
