import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const answers = { 'GET /v1/jobs': { text: '[{"ID":"web"}]' } };

test('the body of the answer is printed as it came', async () => {
  const ran = await run(['operator', 'api', '/v1/jobs'], { server: answers });
  expect(ran).toMatchObject({ exitCode: 0, stdout: '[{"ID":"web"}]', stderr: '' });
});

test.each([['jobs'], ['/jobs'], ['/v1/jobs'], ['v1/jobs']])(
  'the path %s is that of the list of jobs',
  async (path) => {
    const { seen } = await run(['operator', 'api', path], { server: answers });
    expect(seen[0]!.path).toBe('/v1/jobs');
  },
);

test('token, namespace and filter go with the request', async () => {
  const words = ['operator', 'api', '-filter', 'ID == "a&b"', '/v1/jobs?prefix=w'];
  const env = { ROSTER_TOKEN: 'the-secret', ROSTER_NAMESPACE: 'shop' };
  const { seen } = await run(words, { server: answers, env });
  expect(seen[0]).toMatchObject({
    headers: { 'x-registry-token': 'the-secret' },
    query: { prefix: 'w', filter: 'ID == "a&b"', namespace: 'shop' },
  });
});

test('a namespace in the path is left alone', async () => {
  const env = { ROSTER_NAMESPACE: 'shop' };
  const words = ['operator', 'api', '/v1/jobs?namespace=other'];
  expect((await run(words, { server: answers, env })).seen[0]!.query).toEqual({
    namespace: 'other',
  });
});

test.each<[string, string[], object]>([
  ['a text', ['-d', '{"Name":"big"}'], {}],
  ['a file', ['-d', '@pool.json'], { files: { 'pool.json': '{"Name":"big"}' } }],
  ['standard input', ['-d', '-'], { stdin: '{"Name":"big"}' }],
])('a body of %s is put as JSON', async (_, words, setting) => {
  const server = { 'PUT /v1/node/pools': { text: '' } };
  const { seen, exitCode } = await run(['operator', 'api', ...words, '/v1/node/pools'], {
    server,
    ...setting,
  });
  expect([exitCode, seen[0]]).toEqual([
    0,
    expect.objectContaining({
      method: 'PUT',
      body: { Name: 'big' },
      headers: expect.objectContaining({ 'content-type': 'application/json' }),
    }),
  ]);
});

test('method and headers may be given', async () => {
  const server = { 'DELETE /v1/job/web': { json: {} } };
  const words = ['operator', 'api', '-X', 'delete', '-H', 'Idempotency-Key: 7', '/v1/job/web'];
  expect((await run(words, { server })).seen[0]).toMatchObject({
    method: 'DELETE',
    headers: { 'idempotency-key': '7' },
  });
});

test('a refusal is printed as well, and the exit code is 1', async () => {
  const server = { 'GET /v1/job/x': { status: 404, json: { code: 'job-not-found' } } };
  const ran = await run(['operator', 'api', '-i', '/v1/job/x'], { server });
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toMatch(
    /^404\n[\s\S]*connection: keep-alive\n[\s\S]*\n\n\{"code":"job-not-found"\}$/,
  );
});

test('request and answer are told on standard error, without the values of secret headers', async () => {
  const words = ['operator', 'api', '-verbose', '-H', 'Authorization: Bearer planted', '/v1/jobs'];
  const { stdout, stderr } = await run(words, {
    server: answers,
    env: { ROSTER_TOKEN: 'planted' },
  });
  expect(stdout).toBe('[{"ID":"web"}]');
  expect(stderr).toContain('> GET /v1/jobs\n> authorization: [secret]\n< 200\n');
  expect(stderr).not.toContain('planted');
});

test('a dry run prints the request for curl, and no secret', async () => {
  const words = [
    'operator',
    'api',
    '-dryrun',
    '-d',
    "it's",
    '-ca-cert',
    'ca.pem',
    '/v1/jobs?prefix=w',
  ];
  const env = {
    ROSTER_ADDR: 'https://one:4720,https://two:4720',
    ROSTER_TOKEN: 'planted',
    ROSTER_NAMESPACE: 'a b',
  };
  const { stdout, seen } = await run(words, { env, files: { 'ca.pem': '' } });
  expect(seen).toEqual([]);
  expect(stdout).toBe(
    `curl -X PUT --cacert 'ca.pem' -H "X-Registry-Token: $ROSTER_TOKEN" -H 'content-type: application/json' ` +
      `--data-binary 'it'\\''s' 'https://one:4720/v1/jobs?prefix=w&namespace=a%20b'\n`,
  );
});

test.each([
  [['-X', 'PATCH', '/v1/jobs'], '--method must be one of GET, PUT, POST, DELETE, got "PATCH".'],
  [['-H', 'nothing', '/v1/jobs'], '--header must be "NAME: VALUE", got "nothing".'],
  [['-d', '@none.json', '/v1/jobs'], '"none.json" cannot be read'],
])('operator api %j is refused', async (words, message) => {
  const { exitCode, stderr, seen } = await run(['operator', 'api', ...words]);
  expect([exitCode, seen]).toEqual([1, []]);
  expect(stderr).toContain(message);
});
