/** The grammar that all commands share: command line, output and exit code. */
import { expect, test } from 'vitest';
import { problem } from '../sdk/server.test-helper.ts';
import { run, type Setting } from './harness.test-helper.ts';

const words = (line: string) => line.split(' ').filter(Boolean);
const policy = { ID: 'p', Name: 'a', Description: '', Rules: '', Datacenters: null, JobACL: null };
const stored = { ...policy, Namespace: 'default', Partition: 'default' };
const id = '11111111-1111-4111-8111-111111111111';
const list = { 'GET /v1/jobs': { json: [{ ID: 'web' }, { ID: 'db' }] } };
const none = { 'GET /v1/jobs': { json: [] } };

test.each([
  ['acl policy create a -rules r.hcl', {}],
  ['acl policy create -name a -rules @r.hcl', {}],
  ['acl policy create -name=a --rules=@r.hcl', {}],
  ['acl policy create -rules - a', { stdin: 'RULES' }],
])('names are arguments or options, and files are FILE, @FILE or -: %s', async (line, setting) => {
  const server = {
    'PUT /v1/acl/policy': { json: stored },
    'POST /v1/acl/policy': { json: stored },
  };
  const { exitCode, seen } = await run(words(line), {
    server,
    files: { 'r.hcl': 'RULES' },
    ...setting,
  });
  expect([exitCode, seen[0]?.body]).toEqual([
    0,
    expect.objectContaining({ Name: 'a', Rules: 'RULES' }),
  ]);
});

test.each([
  ['config read mesh mesh', 'mesh/mesh'],
  ['config read -kind mesh mesh', 'mesh/mesh'],
  ['config read -name mesh mesh', 'mesh/mesh'],
  ['config read -kind mesh -name mesh', 'mesh/mesh'],
])('%s reads %s', async (line, path) => {
  const { seen } = await run(words(line));
  expect(seen[0]!.path).toBe(`/v1/config/${path}`);
});

test.each<[string, string]>([
  ['config read', "Missing required argument 'KIND'"],
  ['config read a b c', "Too many arguments for 'read'"],
  ['config read -kind a b c', 'Too many arguments: "c" is left, -kind gives KIND'],
  ['acl policy read', "Missing required argument 'POLICY'"],
  ['acl policy read -name a -id b', 'POLICY is given twice: by -name and -id'],
  ['acl policy create a -rules - -t -', 'Standard input can give only one of the files.'],
  ['acl policy create a -rules @none', '"none" cannot be read: there is no such file.'],
  ['job status -json -t x', '--json and --template contradict each other.'],
  ['job status -token a -token-file b', '--token and --token-file contradict each other.'],
  ['job status -token-file empty', '"empty" holds no token.'],
  ['job status -yess', "Unknown option '-yess'\n(Did you mean -yes?)"],
  ['job status --yess', "Unknown option '--yess'\n(Did you mean --yes?)"],
  ['run', 'Missing required argument \'FILE\'\nSee "roster job run --help".'],
])('%s is refused: %s', async (line, sentence) => {
  const { exitCode, stdout, stderr, seen } = await run(words(line), { files: { empty: '\n' } });
  expect([exitCode, stdout, seen]).toEqual([1, '', []]);
  expect(stderr).toContain(sentence);
});

test.each<[string, Setting, string]>([
  ['job status', { env: { ROSTER_TOKEN_FILE: 'env' } }, 'from-env'],
  ['job status', { env: { ROSTER_TOKEN_FILE: 'env', ROSTER_TOKEN: 'word' } }, 'word'],
  ['job status -token-file f', { env: { ROSTER_TOKEN: 'word' } }, 'from-file'],
  ['job status -token-file @f', {}, 'from-file'],
  ['job status -token-file -', { stdin: 'from-input\n' }, 'from-input'],
  ['job status -token x', { env: { ROSTER_TOKEN_FILE: 'env' } }, 'x'],
])('the token of %s with %j is %s', async (line, setting, token) => {
  const files = { f: 'from-file\n', env: 'from-env\n' };
  const { seen } = await run(words(line), { server: none, files, ...setting });
  expect(seen[0]!.headers['x-registry-token']).toBe(token);
});

test.each<[string[], string]>([
  [['-t', '{{ range . }}{{ .ID }},{{ end }}'], 'web,db,\n'],
  [['-t={{ len . }}\n'], '2\n'],
  [['--template', '{{ (index . 0).ID | toUpper }}'], 'WEB\n'],
  [['-t', '@ids'], 'web db \n'],
  [['-t', '{{ toJSON . }}'], '[{"ID":"web"},{"ID":"db"}]\n'],
  [['-t', '{{ if false }}x{{ end }}'], ''],
])('job status %j prints %j', async (given, stdout) => {
  const files = { ids: '{{ range . }}{{ .ID }} {{ end }}\n' };
  const ran = await run(['job', 'status', ...given], { server: list, files });
  expect(ran).toMatchObject({ exitCode: 0, stdout, stderr: '' });
});

test.each([
  ['{{ nope }}', 'There is no function "nope"'],
  ['{{ .ID', 'The template has 1 fault:'],
  ['{{ index . 7 }}', 'The template has 1 fault:'],
  ['{{ service "web" }}', 'There is no function "service"'],
])('the template %s is refused', async (template, sentence) => {
  const ran = await run(['job', 'status', '-t', template], { server: list });
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
  expect(ran.stderr).toContain(sentence);
});

test('a local command prints by a template too', async () => {
  expect((await run(['version', '-t', 'v{{ .Version }}'])).stdout).toBe('v1.2.3\n');
});

test.each<[string, string, number | null, object[]]>([
  ['job status -json -yess', 'usage', null, []],
  ['volume -json', 'usage', null, []],
  ['acl policy create a -json -rules none', 'command-failed', null, []],
  ['job status -json -address 127.0.0.1:1', 'unreachable', null, []],
  ['job status -json nosuch', 'job-not-found', 404, []],
  [
    'job run -json bad.json',
    'invalid-job',
    400,
    [{ pointer: '/Job/ID', message: 'Job.ID is required' }],
  ],
  [
    'job run -json bad.hcl',
    'command-failed',
    null,
    [{ pointer: '', message: expect.stringMatching(/^bad\.hcl:1:\d+: /) }],
  ],
])('%s has an error in JSON: %s', async (line, code, status, errors) => {
  const fault = { pointer: '/Job/ID', message: 'Job.ID is required' };
  const ran = await run(words(line), {
    files: { 'bad.json': '{}', 'bad.hcl': 'job {' },
    server: {
      'GET /v1/job/nosuch': problem(404, 'job-not-found', 'There is no job "nosuch".'),
      'GET /v1/jobs': { json: [] },
      'POST /v1/jobs': problem(400, 'invalid-job', 'The job has 1 fault: Job.ID is required', [
        fault,
      ]),
    },
  });
  expect([ran.exitCode, ran.stdout]).toEqual([1, '']);
  const lines = ran.stderr.split('\n');
  const told = JSON.parse(lines.at(-2)!);
  expect(told).toMatchObject({ code, status, errors, detail: expect.any(String) });
});

const missing = problem(404, 'policy-not-found', 'There is no policy.');
const deleting: Setting = {
  isTerminal: true,
  height: 50,
  server: {
    [`DELETE /v1/acl/policy/${id}`]: { json: true },
    [`GET /v1/acl/policy/${id}`]: missing,
    'DELETE /v1/acl/policy/a': { json: true },
    'DELETE /v1/var/a': { json: true },
  },
};
test.each<[string, Setting, number, boolean, string]>([
  ['', { stdin: 'y\n' }, 0, true, `Delete the policy "${id}"? [y/N] `],
  ['', { stdin: 'Yes\n' }, 0, true, `Delete the policy "${id}"? [y/N] `],
  ['', { stdin: 'n\n' }, 1, false, `Delete the policy "${id}"? [y/N] Nothing is changed.\n`],
  ['', { stdin: '\n' }, 1, false, `Delete the policy "${id}"? [y/N] Nothing is changed.\n`],
  ['', { stdin: '' }, 1, false, `Delete the policy "${id}"? [y/N] Nothing is changed.\n`],
  ['-yes', { stdin: '' }, 0, true, ''],
])('at a terminal, acl policy delete %s with %j', async (flag, setting, code, isDone, stderr) => {
  const line = words(`acl policy delete ${id} ${flag}`);
  const ran = await run(line, { ...deleting, ...setting });
  expect([ran.exitCode, ran.stderr]).toEqual([code, stderr]);
  expect(ran.seen.some(({ method }) => method === 'DELETE')).toBe(isDone);
});

test('in a pipe nothing is asked', async () => {
  const ran = await run(words(`acl policy delete ${id}`), { server: deleting.server! });
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
});

test.each<[string, number, object, string[], boolean]>([
  ['a text that fits', 50, { PAGER: 'less' }, [], false],
  ['a text that does not fit', 3, { PAGER: 'less' }, [], true],
  ['its own pager', 3, { ROSTER_PAGER: 'less', PAGER: 'more' }, [], true],
  ['no pager of its own', 3, { ROSTER_PAGER: '', PAGER: 'less' }, [], false],
  ['the usual pager', 3, {}, [], true],
  ['an empty variable', 3, { PAGER: '' }, [], false],
  ['cat', 3, { PAGER: 'cat' }, [], false],
  ['-no-pager', 3, { PAGER: 'less' }, ['-no-pager'], false],
  ['a dumb terminal', 3, { PAGER: 'less', TERM: 'dumb' }, [], false],
])('a pager and %s', async (_, height, env, flags, isPaged) => {
  const paged: [string, string][] = [];
  const jobs = ['a', 'b', 'c', 'd'].map((ID) => ({ ID, Type: 'batch', Status: 'dead' }));
  const server = { 'GET /v1/jobs': { json: jobs } };
  const setting = { isTerminal: true, height, env: env as Record<string, string>, paged, server };
  const { stdout, exitCode } = await run(['job', 'status', ...flags], setting);
  expect([exitCode, stdout !== '', paged.map(([command]) => command)]).toEqual([
    0,
    !isPaged,
    isPaged ? [expect.stringContaining('less')] : [],
  ]);
  const seen = isPaged ? paged[0]![1] : stdout;
  expect(seen.split('\n')).toHaveLength(6);
});

test('a pipe has no pager, and a pager that cannot be started does not hide the text', async () => {
  const env = { PAGER: 'less' };
  const paged: [string, string][] = [];
  expect((await run(['--help'], { env, paged, height: 3 })).stdout).toContain('Usage: roster');
  expect(paged).toEqual([]);
  const terminal = { env, height: 3, isTerminal: true };
  expect((await run(['--help'], terminal)).stdout).toContain('Usage: roster');
  expect((await run(['--help'], { ...terminal, paged })).stdout).toBe('');
  expect(paged).toEqual([['less', expect.stringContaining('Usage: roster')]]);
});

test.each(['job status -format json', '-format=json job status', 'job --format json status'])(
  '%s prints JSON',
  async (line) => {
    expect(JSON.parse((await run(words(line), { server: list })).stdout)).toHaveLength(2);
  },
);

test('a format that is none, and the forms of metrics, stay what they are', async () => {
  const refused = await run(words('job status -format yaml'), { server: list });
  expect(refused.stderr).toContain("Unknown option '-format'");
  const { seen } = await run(words('operator metrics -format json'));
  expect(seen[0]).toMatchObject({ path: '/v1/metrics', query: expect.objectContaining({}) });
});
