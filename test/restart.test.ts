import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { World } from '../src/base/ports.ts';
import { realWorld } from '../src/base/ports-real.ts';
import { type Agent, createAgent } from '../src/main.ts';
import { aclTokens, jobVersions } from '../src/state/tables.ts';
import { parseAnswer, requestOf } from './support/agent-requests.ts';
import { storedText } from './support/stored-files.ts';

let directory: string;
let agent: Agent | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roster-test-'));
});
afterEach(async () => {
  await agent?.close('stop');
  await rm(directory, { recursive: true });
});

const root = '11111111-1111-4111-8111-111111111111';

async function start(options: { rootToken?: string; world?: World } = {}): Promise<void> {
  await agent?.close('stop');
  agent = undefined;
  agent = await createAgent({ dataDirectory: directory, ...options });
}

const call = async (method: string, url: string, token: string, body?: object) =>
  parseAnswer(await agent!.handle(requestOf(method, url, token, body)));

const storedSecrets = () => storedText(directory, 'root-key', 'introduction-token');

test('a restart keeps tokens, and the stored files have no secret', async () => {
  await start({ rootToken: root });
  const body = { Description: 'a token that is kept' };
  const { json: token } = await call('PUT', '/v1/acl/token', root, body);
  const self = () => call('GET', '/v1/acl/token/self', token.SecretID);
  expect((await self()).json).toEqual(token);
  await start({ rootToken: root });
  expect((await self()).json).toEqual(token);
  const list = (await call('GET', '/v1/acl/tokens', root)).json;
  expect(list).toHaveLength(3);
  await start();
  expect((await call('GET', '/v1/acl/token/self', root)).json.Description).toBe(
    'Initial Management Token',
  );
  await agent!.close('stop');
  agent = undefined;
  const text = await storedSecrets();
  expect(text).toContain(token.AccessorID);
  expect(text).toContain(body.Description);
  for (const secret of [token.SecretID, root]) expect(text).not.toContain(secret);
  expect((await stat(join(directory, 'root-key'))).mode & 0o777).toBe(0o600);
});

test('tokens that expire while no agent runs are gone at the next start', async () => {
  await start({ rootToken: root });
  const { json } = await call('PUT', '/v1/acl/token', root, { ExpirationTTL: '1m' });
  const later: World = {
    ...realWorld,
    clock: { ...realWorld.clock, nowMs: () => realWorld.clock.nowMs() + 61_000 },
  };
  await start({ world: later });
  expect((await call('GET', '/v1/acl/token/self', json.SecretID)).status).toBe(403);
  const row = () => agent!.state.read().table(aclTokens).by('accessor');
  await expect
    .poll(() => [...row().scan({ prefix: [json.AccessorID] })], { interval: 5 })
    .toEqual([]);
  await agent!.close('stop');
  await start();
  const path = `/v1/acl/token/${json.AccessorID}`;
  expect((await call('GET', path, root)).json.code).toBe('accessor-not-found');
});

test('a restart keeps the scaling events of a job and the job policies', async () => {
  await start({ rootToken: root });
  const policy = {
    EnforcementLevel: 'hard-mandatory',
    Rule: 'all TaskGroups as g { g.Count != 9 }',
  };
  expect((await call('PUT', '/v1/job-policy/small', root, policy)).status).toBe(200);
  const Tasks = [{ Name: 't', Driver: 'mock', Config: {} }];
  const group = { Name: 'g', Count: 0, Update: { MaxParallel: 0 }, Scaling: { Max: 9 }, Tasks };
  const { json } = await call('PUT', '/v1/jobs', root, { Job: { ID: 'web', TaskGroups: [group] } });
  expect(json.Warnings).toBe('');
  const scale = (Count: number) =>
    call('PUT', '/v1/job/web/scale', root, { Count, Target: { Group: 'g' }, Message: 'm' });
  expect((await scale(0)).status).toBe(200);
  const paths = ['/v1/job/web/scale', '/v1/scaling/policies', '/v1/job-policies'];
  const all = async () =>
    Promise.all(paths.map(async (path) => (await call('GET', path, root)).json));
  const before = await all();
  expect(before[0].TaskGroups.g.Events).toHaveLength(1);
  await start({ rootToken: root });
  expect(await all()).toEqual(before);
  expect((await scale(9)).json.code).toBe('job-policy-violated');
});

test('a restart keeps versions, their tags and their sources', async () => {
  await start({ rootToken: root });
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: 'true' } };
  const Job = { ID: 'web', TaskGroups: [{ Name: 'g', Tasks: [task] }] };
  const Submission = { Format: 'hcl2', Source: 'job "web" {}', VariableFlags: { a: 'b c' } };
  await call('PUT', '/v1/jobs', root, { Job, Submission });
  await call('PUT', '/v1/jobs', root, { Job: { ...Job, Priority: 60, RegistryToken: root } });
  await call('PUT', '/v1/job/web/tag/golden', root, { Version: 0, Description: 'd' });
  await call('PUT', '/v1/job/web/stable', root, { JobID: 'web', JobVersion: 0, Stable: true });
  const source = async () => (await call('GET', '/v1/job/web/submission?version=0', root)).json;
  const versions = () => [...agent!.state.read().table(jobVersions).scan()];
  const [before, stored] = [await source(), versions()];
  expect(before).toMatchObject(Submission);
  expect(stored.map(({ Stable, VersionTag }) => [Stable, VersionTag?.Name])).toEqual([
    [true, 'golden'],
    [false, undefined],
  ]);
  await start({ rootToken: root });
  expect(await source()).toEqual(before);
  const summaryOf = (rows: ReturnType<typeof versions>) =>
    rows.map(({ Status: _, StatusDescription: __, ModifyIndex: ___, ...rest }) => rest);
  expect(summaryOf(versions())).toEqual(summaryOf(stored));
  const reverted = await call('POST', '/v1/job/web/revert', root, { JobID: 'web' });
  expect(reverted.status).toBe(200);
  await agent!.close('stop');
  agent = undefined;
  expect(await storedSecrets()).not.toContain(root);
});

test('the file with the reset index allows a new first token once', async () => {
  await start();
  const first = await call('PUT', '/v1/acl/bootstrap', '', {});
  expect(first.status).toBe(200);
  const refused = await call('PUT', '/v1/acl/bootstrap', '', {});
  const index = /reset index: (\d+)/.exec(refused.json.detail)![1]!;
  const file = join(directory, 'acl-bootstrap-reset');
  await writeFile(file, index);
  expect((await call('PUT', '/v1/acl/bootstrap', '', {})).status).toBe(200);
  await expect(stat(file)).rejects.toThrow('ENOENT');
  expect((await call('PUT', '/v1/acl/bootstrap', '', {})).status).toBe(403);
});

test('a restart keeps configuration entries, with their indexes', async () => {
  await start({ rootToken: root });
  const apply = (body: object, query = '') => call('PUT', `/v1/config?${query}`, root, body);
  const defaults = { Kind: 'service-defaults', Name: 'web', Protocol: 'http', Meta: { a: 'b' } };
  const Sources = [{ Name: 'api', Action: 'allow' }];
  await apply(defaults);
  await apply({ Kind: 'service-intentions', Name: 'web', Sources });
  await apply({ ...defaults, Name: 'gone' });
  await call('DELETE', '/v1/config/service-defaults/gone', root);
  const read = async () => (await call('GET', '/v1/config', root)).json;
  const before = await read();
  expect(before).toHaveLength(2);
  await start({ rootToken: root });
  expect(await read()).toEqual(before);
  const { ModifyIndex } = before[0];
  const changed = { ...defaults, Protocol: 'grpc' };
  expect((await apply(changed, `cas=${ModifyIndex + 1}`)).json).toBe(false);
  expect((await apply(changed, `cas=${ModifyIndex}`)).json).toBe(true);
  const match = await call('GET', '/v1/connect/intentions/match?by=source&name=api', root);
  expect(match.json.api[0]).toMatchObject({ DestinationName: 'web', Action: 'allow' });
});
