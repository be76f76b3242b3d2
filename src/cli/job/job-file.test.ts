import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';
import { exampleJob } from './example-job.ts';

const text = `variable "image" {
  description = "What to run."
}

job "web" {
  group "g" {
    count = 2

    task "t" {
      driver = "mock"
      user   = var.image

      template {
        data = file("motd")
      }
    }
  }
}
`;
const files = {
  'jobs/web.hcl': text,
  'jobs/motd': 'Hello',
  'vars.hcl': 'image = "file"\n',
  'vars.json': '{"image": "json"}',
};
const registered = {
  EvalID: '',
  EvalCreateIndex: 0,
  JobModifyIndex: 7,
  Warnings: '',
  Index: 7,
};
const server = { 'POST /v1/jobs': { json: registered } };
const job = (User: string) => ({
  ID: 'web',
  TaskGroups: [
    {
      Name: 'g',
      Count: 2,
      Tasks: [{ Name: 't', Driver: 'mock', User, Templates: [{ EmbeddedTmpl: 'Hello' }] }],
    },
  ],
});

test.each([
  ['a flag', ['-var', 'image=flag'], {}, 'flag', { image: 'flag' }, ''],
  ['a flag with "="', ['-var=image=a=b'], {}, 'a=b', { image: 'a=b' }, ''],
  ['a file', ['-var-file', 'vars.hcl'], {}, 'file', null, 'image = "file"\n'],
  ['a file of JSON', ['-var-file=vars.json'], {}, 'json', null, '{"image": "json"}'],
  ['the environment', [], { ROSTER_VAR_image: 'env' }, 'env', null, ''],
  [
    'all of them',
    ['-var-file', 'vars.hcl', '-var', 'image=flag'],
    { ROSTER_VAR_image: 'env' },
    'flag',
    { image: 'flag' },
    'image = "file"\n',
  ],
])('run takes HCL, with variables by %s', async (_, words, env, user, VariableFlags, Variables) => {
  const ran = await run(['job', 'run', ...words, 'jobs/web.hcl'], { files, env, server });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ran.seen[0]!.body).toEqual({
    Job: job(user),
    Submission: { Format: 'hcl2', Source: text, VariableFlags, Variables },
  });
});

test('run takes HCL from standard input, with files relative to the current directory', async () => {
  const ran = await run(['job', 'run', '-var', 'image=x', '-'], {
    files: { motd: 'Hello' },
    stdin: text,
    server,
  });
  expect(ran.seen[0]!.body).toMatchObject({ Job: job('x') });
});

test("run takes HCL's JSON form", async () => {
  const json = JSON.stringify({ job: { web: { group: { g: { count: '${1 + 1}' } } } } });
  const ran = await run(['job', 'run', 'web.json'], { files: { 'web.json': json }, server });
  expect(ran.seen[0]!.body).toMatchObject({
    Job: { ID: 'web', TaskGroups: [{ Name: 'g', Count: 2 }] },
    Submission: { Format: 'hcl2', Source: json },
  });
});

test.each([
  [
    'without a value',
    [],
    `Error: jobs/web.hcl has 1 fault:

jobs/web.hcl:1:1: The variable "image" needs a value (What to run.)
  1 | variable "image" {
    | ^

`,
  ],
  [
    'with a value for nothing',
    ['-var', 'image=a', '-var', 'imige=b'],
    `Error: jobs/web.hcl has 1 fault:

-var imige:1:1: The job file has no variable "imige"; did you mean "image"?
  1 | imige
    | ^

`,
  ],
  ['with an invalid flag', ['-var', 'image'], 'Error: --var must be NAME=VALUE, got "image".\n'],
  [
    'with a file of variables that is not there',
    ['-var-file', 'none'],
    `Error: "none" cannot be read: there is no such file.
Give the path of a job file, or - to read it from standard input.
`,
  ],
])('run %s is refused before anything is sent', async (_, words, stderr) => {
  const ran = await run(['job', 'run', ...words, 'jobs/web.hcl'], { files, server });
  expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr, seen: [] });
});

test('run refuses variables for JSON', async () => {
  const json = { 'web.json': '{"ID": "web"}' };
  const ran = await run(['job', 'run', '-var', 'a=b', 'web.json'], { files: json, server });
  expect(ran).toMatchObject({ exitCode: 1, seen: [] });
  expect(ran.stderr).toContain('"web.json" is JSON: it has no variables.');
});

test('faults of the job from the server are shown with their lines', async () => {
  const problem = {
    code: 'invalid-job',
    detail: 'The job has 1 fault: …',
    status: 400,
    errors: [
      { pointer: '/Job/TaskGroups/0/Count', message: 'Job.TaskGroups[0].Count must be at most 1' },
    ],
  };
  const ran = await run(['job', 'run', '-var', 'image=x', 'jobs/web.hcl'], {
    files,
    server: { 'POST /v1/jobs': { status: 400, json: problem } },
  });
  expect(ran).toMatchObject({
    exitCode: 1,
    stderr: `Error: The job of jobs/web.hcl has 1 fault:

jobs/web.hcl:7:5: TaskGroups[0].Count must be at most 1
  7 |     count = 2
    |     ^

`,
  });
});

const bad = { 'bad.hcl': 'job "a" {\n  type = "x"\n\n  group "g" {\n    task "t" {}\n  }\n}\n' };
const told = (ValidationErrors: readonly string[]) => ({
  'POST /v1/validate/job': { json: { ValidationErrors, Warnings: '1 warning(s):\n\n* Odd.' } },
});
const typeFault = 'Type must be one of service, batch, system, sysbatch, got "x"';

test('validate shows each fault once, with its line', async () => {
  const server = told([typeFault, 'NodePool names "p", which is not there']);
  const ran = await run(['job', 'validate', 'bad.hcl'], { files: bad, server });
  expect(ran).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `Error: The job has 3 faults:

bad.hcl:2:3: ${typeFault}
  2 |   type = "x"
    |   ^

bad.hcl:5:5: TaskGroups[0].Tasks[0].Driver is required
  5 |     task "t" {}
    |     ^

NodePool names "p", which is not there

`,
  });
});

test('validate of a valid job shows the warnings', async () => {
  const words = ['job', 'validate', '-var', 'image=x', 'jobs/web.hcl'];
  const fine = {
    ...files,
    'jobs/web.hcl': text.replace('data =', 'destination = "local/x"\ndata ='),
  };
  const ran = await run(words, { files: fine, server: told([]) });
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'Warning: Odd.\nThe job is valid.\n' });
  const json = await run([...words, '-json'], { files: fine, server: told(['No.']) });
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ ValidationErrors: ['No.'] });
});

test('validate -offline contacts no server', async () => {
  const ran = await run(['job', 'validate', '-offline', 'bad.hcl'], { files: bad });
  expect(ran).toMatchObject({ exitCode: 1, seen: [] });
  expect(ran.stderr).toContain(typeFault);
});

test('init writes a long or a short job file, and overwrites no file', async () => {
  const { exitCode, stdout, written } = await run(['job', 'init']);
  expect({ exitCode, stdout, written }).toEqual({
    exitCode: 0,
    stdout: 'example.hcl is written. Run it with "roster job run example.hcl".\n',
    written: { 'example.hcl': exampleJob },
  });
  const short = await run(['job', 'init', '-short', 'a.hcl']);
  expect(short.written['a.hcl']).not.toContain('#');
  const formatted = await run(['fmt', '-check', 'a.hcl'], { files: short.written });
  expect(formatted.exitCode).toBe(0);
  const again = await run(['job', 'init', 'a.hcl'], { files: short.written });
  expect(again).toMatchObject({ exitCode: 1, written: {} });
  expect(again.stderr).toBe('Error: "a.hcl" cannot be written: it exists already.\n');
});

const untidy = 'a=1\nbcd = 2 # c\n';
const tidy = 'a   = 1\nbcd = 2 # c\n';
const tree = {
  'd/a.hcl': untidy,
  'd/b.hcl': tidy,
  'd/c.txt': untidy,
  'd/e/f.hcl': untidy,
  'broken.hcl': 'a = \n',
};

test.each([
  ['a file', ['d/a.hcl'], 0, 'd/a.hcl\n', { 'd/a.hcl': tidy }],
  ['a file in shape', ['d/b.hcl'], 0, '', {}],
  ['a directory', ['d'], 0, 'd/a.hcl\n', { 'd/a.hcl': tidy }],
  [
    'a directory and those in it',
    ['-recursive', 'd'],
    0,
    'd/a.hcl\nd/e/f.hcl\n',
    { 'd/a.hcl': tidy, 'd/e/f.hcl': tidy },
  ],
  ['-check', ['-check', '-recursive', 'd'], 1, 'd/a.hcl\nd/e/f.hcl\n', {}],
  ['-check of a file in shape', ['-check', 'd/b.hcl'], 0, '', {}],
  ['standard input', ['-'], 0, tidy, {}],
  ['-check of standard input', ['-check', '-'], 1, '', {}],
])('fmt of %s', async (_, words, exitCode, stdout, written) => {
  const ran = await run(['fmt', ...words], { files: tree, stdin: untidy });
  expect(ran).toMatchObject({ exitCode, stdout, stderr: '' });
  expect(ran.written).toEqual(written);
});

test('fmt names files that it cannot read', async () => {
  const broken = await run(['fmt', 'broken.hcl'], { files: tree });
  expect(broken).toMatchObject({ exitCode: 1, written: {} });
  expect(broken.stderr).toContain('broken.hcl:1:5: Expected a value, found the end of the line');
  const missing = await run(['fmt', 'none.hcl'], { files: tree });
  expect(missing.stderr).toBe('Error: "none.hcl" cannot be read: there is no such file.\n');
});
