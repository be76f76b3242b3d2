/** A running agent reads its configuration again, by a request and by a signal. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Agent,
  command,
  endAgents,
  eventually,
  launch,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, idle, job } from '../support/jobs.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const directory = newDirectory('configuration');
const auditLog = join(newDirectory('audit'), 'audit.log');

interface Given {
  readonly rack: string;
  readonly level?: string;
  readonly isExecDisabled?: boolean;
  /** Further settings. */
  readonly more?: string;
}

/** Writes the configuration of the agent, a directory with two files. */
function configure({ rack, level = 'info', isExecDisabled = false, more = '' }: Given): void {
  const base = `log_level = "${level}"
audit {
  file = "${auditLog}"
}
drivers {
  allow = ["raw_exec"]
}
`;
  const site = `node {
  disable_remote_exec = ${isExecDisabled}
  meta {
    rack = "${rack}"
  }
}
${more}`;
  writeFileSync(join(directory, '10-base.hcl'), base);
  writeFileSync(join(directory, '20-site.hcl'), site);
}

let agent: Agent;
beforeAll(async () => {
  configure({ rack: 'r1' });
  agent = await startAgent({ dataDirectory: newDirectory(), args: ['--config', directory] });
});
afterAll(endAgents);

interface Evaluation {
  readonly TriggeredBy: string;
  readonly NodeID: string;
  readonly Status: string;
}

const reload = () => agent.request('PUT', '/v1/agent/reload');
const onRack = (rack: string) =>
  job(`on-${rack}`, {
    job: { Constraints: [{ LTarget: '${meta.rack}', RTarget: rack, Operand: '=' }] },
    task: idle,
  });
const running = (id: string) =>
  agent.until(`/v1/job/${id}/allocations`, (json: Allocation[]) => {
    expect(json.map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
    return json[0]!;
  });
const audited = (method: string) =>
  readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ method: own, path = 'reload' }) => own === method && path.endsWith('reload'));

test('a request changes what can change, and names what needs a restart', async () => {
  await agent.register(onRack('r1'));
  const before = await running('on-r1');
  const pids = processesOf(before);
  expect(pids.length).toBeGreaterThan(0);
  await agent.register(onRack('r2'));
  await agent.until('/v1/job/on-r2/evaluations', (json) =>
    expect(json.map(({ Status }: { Status: string }) => Status)).toContain('blocked'),
  );

  const exec = () => agent.cli('alloc', 'exec', before.ID, '/bin/echo', 'here');
  expect((await exec()).stdout).toBe('here\n');

  configure({ rack: 'r2', level: 'debug', isExecDisabled: true, more: 'region = "eu"\n' });
  const { status, json } = await reload();
  expect([status, json]).toMatchObject([
    200,
    { Changed: ['node.meta', 'node.disable_remote_exec', 'log_level'], NeedRestart: ['region'] },
  ]);
  // The answer comes when a server knows the node as it is now.
  const [{ ID: node }] = await agent.get('/v1/nodes');
  expect((await agent.get(`/v1/node/${node}`)).Meta).toEqual({ rack: 'r2' });
  // The settings that are in use: the region needs a restart.
  const { Config } = await agent.get('/v1/agent/self');
  expect(Config).toMatchObject({ node: { meta: { rack: 'r2' } }, log_level: 'debug' });
  expect(Config.region).not.toBe('eu');
  // The job that was blocked is placed, and the other one goes on.
  await running('on-r2');
  expect(processesOf(before)).toEqual(pids);
  expect((await running('on-r1')).ID).toBe(before.ID);
  await eventually(() => expect(agent.said().stderr).toContain('"level":20'));
  expect((await exec()).stderr).toContain('its operator has disabled that');

  expect((await reload()).json).toMatchObject({ Changed: [], NeedRestart: ['region'] });
  expect(audited('PUT')[0]).toMatchObject({
    permission: 'agent:write',
    decision: 'allowed',
    made: { changed: 'node.meta, node.disable_remote_exec, log_level', needRestart: 'region' },
  });
});

test('a faulty file changes nothing, and all its faults are told', async () => {
  configure({ rack: 'r3', level: 'loud', more: 'regon = "eu"\n' });
  const { status, json } = await reload();
  expect([status, json.code]).toEqual([409, 'configuration-faulty']);
  const faults = [
    `${join(directory, '10-base.hcl')}:1:1: log_level must be trace or debug or info or warn or error, got "loud"`,
    `${join(directory, '20-site.hcl')}:7:1: regon is not a setting; did you mean region?`,
  ];
  expect(json.errors.map(({ message }: { message: string }) => message)).toEqual(faults);
  const { code, stderr } = await agent.cli('agent', 'reload');
  expect([code, stderr]).toEqual([
    1,
    `Error: Nothing was changed: the configuration of the agent has 2 faults:\n${faults
      .map((fault) => `  - ${fault}\n`)
      .join('')}`,
  ]);
  configure({ rack: 'r2', level: 'debug', isExecDisabled: true });
  expect((await agent.cli('agent', 'reload')).stdout).toBe('Nothing has changed.\n');
  const anonymous = await fetch(`${agent.address}/v1/agent/reload`, { method: 'PUT' });
  expect(anonymous.status).toBe(403);
});

test('SIGHUP does the same, and the log and the audit log tell it', async () => {
  configure({ rack: 'r4', level: 'debug', isExecDisabled: true });
  agent.signal('SIGHUP');
  const entries = (count: number) =>
    eventually(() => expect(audited('SIGHUP')).toHaveLength(count));
  await entries(1);
  expect(audited('SIGHUP')[0]).toMatchObject({
    caller: { kind: 'signal' },
    made: { changed: 'node.meta', needRestart: '' },
  });
  const [{ ID }] = await agent.get('/v1/nodes');
  await agent.until(`/v1/node/${ID}`, (json) => expect(json.Meta).toEqual({ rack: 'r4' }));
  configure({ rack: 'r5', more: 'regon = "eu"\n' });
  agent.signal('SIGHUP');
  await entries(2);
  expect(audited('SIGHUP')[1]).toMatchObject({ code: 'configuration-faulty' });
  expect(agent.said().stderr).toContain('nothing was changed');
  expect((await agent.get(`/v1/node/${ID}`)).Meta).toEqual({ rack: 'r4' });
});

test('a node alone reads its files again at SIGHUP', async () => {
  const file = join(newDirectory('alone'), 'node.json');
  const write = (given: object) => writeFileSync(file, JSON.stringify(given));
  const base = { servers: [agent.address], tasks_on_exit: 'stop', data_dir: newDirectory('node') };
  write({ ...base, node: { name: 'alone', class: 'small' }, drivers: { allow: ['raw_exec'] } });
  const node = launch(command, [
    'agent',
    '--config',
    file,
    '--introduction-token-file',
    await agent.introductionFile(),
  ]);
  await node.says(/Roster is ready as node /);
  const found = (list: { ID: string; Name: string }[]) => list.find(({ Name }) => Name === 'alone');
  const { ID } = await agent.until('/v1/nodes', (json) => {
    expect(found(json)).toMatchObject({ Status: 'ready' });
    return found(json)!;
  });
  await agent.register(job('everywhere', { job: { Type: 'system' }, task: idle }));
  const here = (json: Allocation[]) => json.find(({ NodeID }) => NodeID === ID);
  const before = await agent.until('/v1/job/everywhere/allocations', (json) => {
    expect(here(json)).toMatchObject({ ClientStatus: 'running' });
    return here(json)!;
  });
  const pids = processesOf(before);
  write({ ...base, node: { name: 'alone', class: 'large' }, drivers: { allow: [] } });
  node.signal('SIGHUP');
  await agent.until(`/v1/node/${ID}`, (json) =>
    expect(json).toMatchObject({ NodeClass: 'large', Drivers: { raw_exec: { Detected: false } } }),
  );
  // The change of the node has been evaluated, and its tasks go on.
  await agent.until('/v1/job/everywhere/evaluations', (json) =>
    expect(json.map((one: Evaluation) => [one.TriggeredBy, one.NodeID, one.Status])).toContainEqual(
      ['node-update', ID, 'complete'],
    ),
  );
  const [after] = await agent
    .get('/v1/job/everywhere/allocations')
    .then((json: Allocation[]) => json.filter(({ NodeID }) => NodeID === ID));
  expect(after).toMatchObject({ ID: before.ID, DesiredStatus: 'run', ClientStatus: 'running' });
  expect(processesOf(before)).toEqual(pids);
  // It has no port: a server passes the request on, and answers when it knows the node as it is now.
  write({ ...base, node: { name: 'alone', class: 'small' }, region: 'eu' });
  const reloaded = await agent.cli('agent', 'reload', '-node-id', 'alone');
  expect(reloaded.stdout).toBe(
    'Changed: node.class, drivers.allow\nUnchanged until the agent restarts: region\n',
  );
  expect((await agent.get(`/v1/node/${ID}`)).NodeClass).toBe('small');
  write({ ...base, node: { name: 'alone', class: 'large' }, regon: 'eu' });
  const { status, json } = await agent.request('PUT', `/v1/agent/reload?node_id=${ID}`);
  expect([status, json.code]).toEqual([409, 'configuration-faulty']);
  expect(json.errors[0].message).toContain('regon is not a setting');
  const unknown = await agent.request('PUT', '/v1/agent/reload?node_id=nobody');
  expect([unknown.status, unknown.json.code]).toEqual([404, 'node-not-found']);
  node.signal('SIGTERM');
  expect((await node.ended).code).toBe(0);
});
