import { expect, test } from 'vitest';
import { problem, type Reply, serve } from '../sdk/server.test-helper.ts';
import { commands } from './commands.generated.ts';
import { nowMs, run } from './harness.test-helper.ts';

const words = (text: string) => (text === '' ? [] : text.split(' '));

test('version prints the version of the program', async () => {
  expect(await run(['version'])).toMatchObject({ exitCode: 0, stdout: 'roster 1.2.3\n' });
  expect(await run(['--version'])).toMatchObject({ exitCode: 0, stdout: 'roster 1.2.3\n' });
  expect(JSON.parse((await run(['version', '-json'])).stdout)).toEqual({
    Version: '1.2.3',
    Commit: '',
    CommitDate: '',
    Node: '24.0.0',
    Platform: 'linux-x64',
  });
});

test.each([
  ['', 'Usage: roster'],
  ['help', 'Usage: roster'],
  ['--help', 'Usage: roster'],
  ['job', 'Usage: roster job'],
  ['help job', 'Usage: roster job'],
  ['help job run', 'Usage: roster job run [options] <FILE>'],
  ['job run -help', 'Usage: roster job run [options] <FILE>'],
  ['-help', 'Exit codes: 0 done;'],
])('roster %s is answered with help', async (given, expected) => {
  const { exitCode, stdout, stderr } = await run(words(given));
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain(expected);
});

test('the help of the program and of a group begins with the commands', async () => {
  const { stdout } = await run(['help'], { isTerminal: true, columns: 80, env: { NO_COLOR: '1' } });
  expect(stdout.indexOf('Commands:')).toBeLessThan(stdout.indexOf('--address'));
  const ending = stdout.slice(stdout.indexOf('\nOptions of every command:'));
  for (const line of ending.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const group = (await run(['job'])).stdout;
  expect(group).not.toContain('--address');
  expect(group).toContain('"roster help" lists the options of every command.');
});

test.each(commands.map((entry) => [entry.words.join(' '), entry] as const))(
  'roster %s --help tells of all its options and of -json',
  async (_, { words: named, load, summary }) => {
    const { stdout } = await run([...named, '--help']);
    const { definition } = await load();
    expect(stdout).toContain(summary);
    for (const { name } of definition.options ?? []) expect(stdout).toContain(`--${name}`);
    for (const { name } of definition.arguments ?? []) expect(stdout).toContain(name);
    expect(stdout).toContain('--json');
  },
);

test.each([
  ['jbo', `Error: Unknown command 'jbo'\n(Did you mean job?)\nSee "roster help".\n`],
  [
    'job statsu',
    `Error: Unknown command 'statsu'\n(Did you mean status?)\nSee "roster job --help".\n`,
  ],
  ['help jbo', `Error: Unknown command 'jbo'\n(Did you mean job?)\nSee "roster help".\n`],
  ['job run', `Error: Missing required argument 'FILE'\nSee "roster job run --help".\n`],
  [
    'job run -detahc x',
    `Error: Unknown option '-detahc'\n(Did you mean -detach?)\nSee "roster job run --help".\n`,
  ],
])('roster %s is refused', async (given, stderr) => {
  expect(await run(words(given))).toMatchObject({ exitCode: 1, stdout: '', stderr });
});

test('the flag for the partition takes precedence over the environment', async () => {
  const server = { 'GET /v1/acl/policies': { json: [] } };
  const partitionOf = async (line: string, env: Record<string, string>) =>
    (await run(words(line), { env, server })).seen[0]!.query.partition;
  const west = { ROSTER_PARTITION: 'west' };
  expect(await partitionOf('acl policy list', {})).toBeUndefined();
  expect(await partitionOf('acl policy list', west)).toBe('west');
  expect(await partitionOf('acl policy list -partition east', west)).toBe('east');
});

test('flags take precedence over the environment, before or after the command', async () => {
  const env = { ROSTER_TOKEN: 'from-env', ROSTER_NAMESPACE: 'from-env' };
  const server = { 'GET /v1/jobs': { json: [] } };
  const plain = await run(['job', 'status'], { env, server });
  const after = await run(words('job status -token flag --namespace=flag'), { env, server });
  const before = await run(words('--token flag --namespace flag job status'), { env, server });
  const sent = [plain, after, before].map(({ seen: [request] }) => [
    request!.headers['x-registry-token'],
    request!.query.namespace,
  ]);
  expect(sent).toEqual([
    ['from-env', 'from-env'],
    ['flag', 'flag'],
    ['flag', 'flag'],
  ]);
});

test.each<[string, Reply, string]>([
  [
    'a fault of the job',
    problem(400, 'invalid-job', 'The job has 2 faults; the first: Job.ID is required', [
      { pointer: '/Job/ID', message: 'Job.ID is required' },
      { pointer: '/Job/TaskGroups/0/Count', message: 'must be 0 or more' },
    ]),
    'Error: The job has 2 faults:\n  - Job.ID is required\n  - Job.TaskGroups[0].Count: must be 0 or more\n',
  ],
  [
    'one fault of the body',
    problem(400, 'invalid-body', 'The body has 1 fault: Name is required', [
      { pointer: '/Name', message: 'Name is required' },
    ]),
    'Error: The body has 1 fault:\n  - Name is required\n',
  ],
  [
    'a field that cannot change',
    problem(400, 'immutable-field', 'Type of the auth method cannot be changed.', [
      { pointer: '/Type', message: 'Type of the auth method cannot be changed' },
    ]),
    'Error: Type of the auth method cannot be changed.\n',
  ],
  [
    'a missing permission',
    problem(403, 'permission-denied', 'The anonymous token lacks namespace:read-job.'),
    'Error: The anonymous token lacks namespace:read-job.\nSet ROSTER_TOKEN (or --token) to the secret of a token that may do this.\n',
  ],
  [
    'an unknown token',
    problem(403, 'token-not-found', 'The token is unknown.'),
    'Error: The token is unknown.\nCheck ROSTER_TOKEN or --token.\n',
  ],
  [
    'a busy server',
    { ...problem(503, 'no-leader', 'There is no leader.'), headers: { 'retry-after': '1' } },
    'Error: There is no leader.\nTry again in 1 second.\n',
  ],
  [
    'a sentence that would forge lines',
    problem(400, 'malformed-request', 'bad \u001b[2J\nError: all is well'),
    'Error: bad  [2J Error: all is well\n',
  ],
])('%s is explained', async (_, reply, stderr) => {
  const ran = await run(['job', 'status'], { server: { 'GET /v1/jobs': reply } });
  expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr });
});

test('an unreachable agent is explained', async () => {
  const { exitCode, stderr } = await run(words('node status -address 127.0.0.1:1'));
  expect(exitCode).toBe(1);
  expect(stderr).toContain('Nothing listens at http://127.0.0.1:1. Is the agent running?');
});

test('the next of several addresses is used, and an error names each of them', async () => {
  await using server = await serve(() => ({ json: [] }));
  const ran = await run(words(`node status -address 127.0.0.1:1,${server.address}`));
  expect([ran.exitCode, server.seen.length]).toEqual([0, 1]);
  const ROSTER_ADDR = 'http://127.0.0.1:1, http://127.0.0.1:2';
  const { exitCode, stderr } = await run(words('node status'), { env: { ROSTER_ADDR } });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^Error: None of the 2 servers took the request\. (Nothing listens at http:\/\/127\.0\.0\.1:[12]\. ?){2}$/m,
  );
});

test('a certificate authority that cannot be read is explained', async () => {
  const { exitCode, stderr } = await run(['job', 'status'], { env: { ROSTER_CACERT: '/none' } });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr:
      'Error: The certificate authority cannot be read: there is no such file.\nCheck ROSTER_CACERT or --ca-cert: it names a PEM file.\n',
  });
});

test.each([
  ['a terminal', true, {}, '\u001b[1m', true],
  ['a pipe', false, {}, '\u001b[', false],
  ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, '\u001b[', false],
  ['a dumb terminal', true, { TERM: 'dumb' }, '\u001b[', false],
  ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, '\u001b[1m', true],
])('%s gets colours or none', async (_, isTerminal, env, code, isColored) => {
  const job = { ID: 'web', Type: 'service', Priority: 50, Status: 'running', JobSummary: null };
  const server = { 'GET /v1/jobs': { json: [{ ...job, SubmitTime: nowMs * 1e6 }] } };
  const { stdout } = await run(['job', 'status'], { isTerminal, env, server });
  expect(stdout.includes(code)).toBe(isColored);
});

test('-no-color removes colours', async () => {
  const server = { 'GET /v1/jobs': { json: [] } };
  const { stdout } = await run(words('job status -no-color'), { isTerminal: true, server });
  expect(stdout).toBe('There are no jobs. Run one with "roster job run FILE".\n');
});
