/** Fields of a job without effect cause a warning, in every format and on every route. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { beforeEach, describe, expect, test } from 'vitest';
import type { Job } from '../../src/model/job/job.ts';
import { inNamespace, jobs, jobVersions } from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const send = (method: string, url: string, body?: object) =>
  api.call(method, url, body === undefined ? {} : { body });

const jobWith = (job: object = {}, group: object = {}, task: object = {}) => ({
  ...jobBody({ ID: 'web', ...job }, group, task).Job,
});

const file = (inTask: string) => `job "web" {
  group "g" {
    task "t" {
      driver = "mock"
      ${inTask}
    }
  }
}`;

const parse = (text: string) => send('POST', '/v1/jobs/parse', { JobHCL: text });

describe('a value gets the same answer in HCL and in JSON', () => {
  test.each([
    ['vault', 'Vault', '"secrets"', '"Secrets"'],
    ['consul', 'Consul', '"registry"', '"Registry"'],
  ])('%s', async (block, field, inHcl, inJson) => {
    const hcl = await parse(file(`${block} {}`));
    expect(hcl.status).toBe(400);
    expect(hcl.json.detail).toContain(`"task" has no block "${block}"; here it is ${inHcl}`);
    const job = jobWith({}, {}, { [field]: { Role: 'a' } });
    const json = await send('POST', '/v1/jobs', { Job: job });
    expect(json.status).toBe(400);
    expect(json.json.errors).toEqual([
      {
        pointer: `/Job/TaskGroups/0/Tasks/0/${field}`,
        message: `Job.TaskGroups[0].Tasks[0].${field} is not a known field; here it is ${inJson}`,
      },
    ]);
    const validated = await send('POST', '/v1/validate/job', { Job: job });
    expect(validated.json.ValidationErrors).toEqual([
      `TaskGroups[0].Tasks[0].${field} is not a known field; here it is ${inJson}`,
    ]);
    // Typed clients send every field that they know.
    const empty = jobWith({}, {}, { [field]: null });
    expect((await send('POST', '/v1/jobs', { Job: empty })).json.Warnings).toBe('');
  });

  test('a provider', async () => {
    const job = jobWith({}, { Services: [{ Name: 'a', Provider: 'nomad' }] });
    const { json } = await send('POST', '/v1/jobs', { Job: job });
    expect(json.errors.map(({ message }: { message: string }) => message)).toEqual([
      'Job.TaskGroups[0].Services[0].Provider must be one of registry, scheduler, got "nomad"; here it is "scheduler", and may be left out',
    ]);
  });
});

describe('fields that no node supports are refused', () => {
  const refusals = async (task: object): Promise<string[]> => {
    const { json } = await send('POST', '/v1/jobs', { Job: jobWith({}, {}, task) });
    return (json.errors ?? []).map(({ message }: { message: string }) => message);
  };
  const template = (EmbeddedTmpl: string) => ({ Templates: [{ DestPath: 'x', EmbeddedTmpl }] });
  const inTemplate = (sentence: string) => [
    `Job.TaskGroups[0].Tasks[0].Templates[0].EmbeddedTmpl is no template: ${sentence}`,
  ];

  test.each([
    [
      'a\n{{ nomadVar "a" }}',
      'line 2, column 4: There is no function "nomadVar"; here it is "var"',
    ],
    ['{{ keyy }}', 'line 1, column 4: There is no function "keyy"'],
    ['{{ if true }}', 'line 1, column 4: This "if" has no "end"'],
  ])('the template %j', async (text, sentence) => {
    expect(await refusals(template(text))).toEqual(inTemplate(sentence));
  });

  test.each([
    ['s3::https://s3.amazonaws.com/a/b', 's3'],
    ['gcs::https://x/y', 'gcs'],
    ['hg::http://x/y', 'hg'],
    ['sftp://host/x', 'sftp'],
  ])('the artifact %s', async (GetterSource, kind) => {
    expect(await refusals({ Artifacts: [{ GetterSource }] })).toEqual([
      `Job.TaskGroups[0].Tasks[0].Artifacts[0].GetterSource is of the kind "${kind}", and only http, https, git, file are fetched`,
    ]);
  });

  test.each([
    'https://x/y.tgz',
    'git::https://x/y',
    'git@github.com:a/b.git',
    'ssh://git@x/y.git',
    'github.com/a/b',
    '/srv/x',
    'file:///srv/x',
    'git::ssh://git@x/y',
    '${ROSTER_META_a}/x',
  ])('except the artifact %s', async (GetterSource) => {
    expect(await refusals({ Artifacts: [{ GetterSource }] })).toEqual([]);
  });

  test('a template from a file, or with other delimiters, is not checked', async () => {
    const Templates = [
      { DestPath: 'a', SourcePath: 'local/x' },
      {
        DestPath: 'b',
        EmbeddedTmpl: '{{ nomadVar }} <% env "A" %>',
        LeftDelim: '<%',
        RightDelim: '%>',
      },
    ];
    expect(await refusals({ Templates })).toEqual([]);
  });
});

test('every route warns of a reference that no node fills in', async () => {
  const job = jobWith({}, {}, { Env: { A: '${NOMAD_DC}' } });
  const sentence =
    'TaskGroups[0].Tasks[0].Env.A refers to ${NOMAD_DC}, which no node fills in; here it is ROSTER_DC';
  const validated = await send('POST', '/v1/validate/job', { Job: job });
  const planned = await send('POST', `/v1/job/${job.ID}/plan`, { Job: job });
  const registered = await send('POST', '/v1/jobs', { Job: job });
  for (const { json } of [validated, planned, registered]) {
    expect(json.Warnings).toBe(`1 warning(s):\n\n* ${sentence}`);
  }
});

test('a number in the connect example is a port inside the allocation', async () => {
  const group = {
    Networks: [{ Mode: 'bridge' }],
    Services: [{ Name: 'api', PortLabel: '9001', Connect: { SidecarService: {} } }],
  };
  const { status, json } = await send('POST', '/v1/jobs', { Job: jobWith({}, group) });
  expect(status).toBe(200);
  expect(json.Warnings).toContain('Connect has no effect');
});

describe('a job stored earlier', () => {
  /** Writes the job as an older version did. */
  const store = (change: (job: Job) => Job): Promise<unknown> =>
    api.state.write((transaction) => {
      const key = inNamespace('default', 'web');
      const old = change(transaction.table(jobs).get(...key)!);
      transaction.table(jobs).put(old);
      transaction.table(jobVersions).put(old);
    });
  const withTask = (job: Job, task: object): Job => {
    const [group] = job.TaskGroups;
    const Tasks = [{ ...group!.Tasks[0]!, ...task }];
    return { ...job, TaskGroups: [{ ...group!, Tasks }] };
  };

  test('with numbers among its arguments is unchanged when its file is registered again', async () => {
    const Config = { command: 'true', args: ['-p', 80] };
    const job = jobWith({ ID: 'web' }, {}, { Driver: 'exec', Config });
    await send('POST', '/v1/jobs', { Job: job });
    await store((stored) => withTask(stored, { Config }));
    const plan = await send('POST', '/v1/job/web/plan', { Job: job, Diff: true });
    expect(plan.json.Diff.Type).toBe('None');
    await send('POST', '/v1/jobs', { Job: job });
    const read = await send('GET', '/v1/job/web');
    expect(read.json).toMatchObject({ Version: 0 });
    expect(read.json.TaskGroups[0].Tasks[0].Config.args).toEqual(['-p', 80]);
  });

  test('that would now be refused continues, and can be scaled, stopped and purged', async () => {
    const job = jobWith({ Type: 'batch' });
    await send('POST', '/v1/jobs', { Job: job });
    const Artifacts = [{ GetterSource: 's3::https://x/y', GetterMode: 'any' }];
    await store((stored) => withTask(stored, { Artifacts }));
    const again = await send('GET', '/v1/job/web');
    expect((await send('POST', '/v1/jobs', { Job: again.json })).status).toBe(400);
    const target = { Group: job.TaskGroups[0]!.Name };
    const scaled = await send('POST', '/v1/job/web/scale', {
      Count: 0,
      Target: target,
      Message: 'less',
    });
    expect(scaled.status).toBe(200);
    expect((await send('POST', '/v1/job/web/evaluate', { JobID: 'web' })).status).toBe(200);
    expect((await send('DELETE', '/v1/job/web')).status).toBe(200);
    expect((await send('DELETE', '/v1/job/web?purge=true')).status).toBe(200);
    expect((await send('GET', '/v1/job/web')).status).toBe(404);
  });
});
