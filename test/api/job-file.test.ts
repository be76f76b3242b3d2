import { describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { jobBody, startApi } from '../support/api.ts';

const JobHCL = `variable "count" {
  type    = number
  default = 1
}

job "web" {
  meta {
    a = "b"
  }

  group "g" {
    count = var.count

    task "t" {
      driver       = "mock"
      kill_timeout = "7s"
    }
  }
}
`;

describe('POST /v1/jobs/parse', () => {
  const parse = async (body: object) => (await startApi()).call('POST', '/v1/jobs/parse', { body });

  test('returns the job as written, with null for unset fields', async () => {
    const { status, json } = await parse({ JobHCL });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ID: 'web',
      Name: 'web',
      Type: null,
      Priority: null,
      Update: null,
      Meta: { a: 'b' },
      TaskGroups: [
        {
          Name: 'g',
          Count: 1,
          RestartPolicy: null,
          Tasks: [{ Name: 't', Driver: 'mock', KillTimeout: 7e9, Resources: null }],
        },
      ],
    });
  });

  test('with Canonicalize fills in the defaults', async () => {
    const { json } = await parse({ JobHCL, Canonicalize: true });
    expect(json).toMatchObject({
      ID: 'web',
      Name: 'web',
      Type: 'service',
      Priority: 50,
      Datacenters: ['*'],
      Namespace: 'default',
      Region: 'global',
    });
    expect(json.TaskGroups[0]).toMatchObject({
      RestartPolicy: { Attempts: 2, Mode: 'fail' },
      Tasks: [{ Resources: { CPU: 100, MemoryMB: 300 } }],
    });
  });

  test('returns jobs that can be registered', async () => {
    const api = await startApi();
    for (const Canonicalize of [false, true]) {
      const { json } = await api.call('POST', '/v1/jobs/parse', { body: { JobHCL, Canonicalize } });
      const { status } = await api.call('POST', '/v1/jobs', { body: { Job: json } });
      expect(status).toBe(200);
    }
    const { json } = await api.call('GET', '/v1/job/web');
    expect(json.Version).toBe(0);
  });

  test.each([
    ['as HCL', 'count = 1 + 2\n'],
    ['as JSON', '{"count": 3}'],
  ])('Variables %s', async (_, Variables) => {
    const { json } = await parse({ JobHCL, Variables });
    expect(json.TaskGroups[0].Count).toBe(3);
  });

  test('accepts the JSON form of HCL', async () => {
    const { status, json } = await parse({ JobHCL: '{"job": {"a": {"group": {"g": {}}}}}' });
    expect({ status, id: json.ID, group: json.TaskGroups[0].Name }).toEqual({
      status: 200,
      id: 'a',
      group: 'g',
    });
  });

  test('reports every fault of the text with its position', async () => {
    const broken = 'job "a" {\n  tipe = 1\n  group "b" {\n    count = "x"\n  }\n}\n';
    const { status, headers, json } = await parse({ JobHCL: broken });
    expect(status).toBe(400);
    expect(headers['content-type']).toContain('application/problem+json');
    expect(json).toEqual({
      type: 'urn:roster:error:invalid-job-file',
      title: 'Invalid job file',
      status: 400,
      code: 'invalid-job-file',
      detail:
        'The job file has 2 faults; the first: JobHCL, line 2, column 3: "job" has no attribute "tipe"; did you mean "type"?',
      errors: [
        {
          pointer: '/JobHCL',
          message: 'JobHCL, line 2, column 3: "job" has no attribute "tipe"; did you mean "type"?',
          line: 2,
          column: 3,
        },
        {
          pointer: '/JobHCL',
          message: 'JobHCL, line 4, column 13: "count" has to be a number, and is the string "x"',
          line: 4,
          column: 13,
        },
      ],
    });
  });

  test('reports every fault of the variables with its position', async () => {
    const { status, json } = await parse({ JobHCL, Variables: '\ncuont = 1\n' });
    expect({ status, errors: json.errors }).toEqual({
      status: 400,
      errors: [
        {
          pointer: '/Variables',
          message:
            'Variables, line 2, column 1: The job file has no variable "cuont"; did you mean "count"?',
          line: 2,
          column: 1,
        },
      ],
    });
  });

  test.each(['file("/etc/passwd")', 'templatefile("/etc/passwd", {})', 'fileset("/", "*")'])(
    'no function reads a file of the server: %s',
    async (call) => {
      const { status, json } = await parse({ JobHCL: `job "a" {\n  name = ${call}\n}\n` });
      expect({ status, code: json.code }).toEqual({ status: 400, code: 'invalid-job-file' });
      expect(json.detail).toContain('reads files');
    },
  );

  test.each([
    ['nothing', {}, 'JobHCL must not be empty'],
    ['spaces', { JobHCL: ' \n' }, 'JobHCL must not be empty'],
    ['no text', { JobHCL: 7 }, 'JobHCL must be a string, got the number 7'],
    [
      'a text that is too long',
      { JobHCL: `${' '.repeat(limits.jobFile.textLengthMax + 1)}a` },
      'longer than',
    ],
  ])('%s is refused', async (_, body, detail) => {
    const { status, json } = await parse(body);
    expect(status).toBe(400);
    expect(json.detail).toContain(detail);
  });

  test('cannot read environment variables of the server', async () => {
    const text = 'variable "HOME" {}\njob "a" {}\n';
    const { json } = await parse({ JobHCL: text });
    expect(json.detail).toContain('The variable "HOME" needs a value');
  });
});

describe('POST /v1/validate/job', () => {
  const validate = async (body: object) =>
    (await startApi()).call('PUT', '/v1/validate/job', { body });

  test('accepts a valid job', async () => {
    const { status, json } = await validate(jobBody());
    expect({ status, json }).toEqual({
      status: 200,
      json: { DriverConfigValidated: true, ValidationErrors: [], Error: '', Warnings: '' },
    });
  });

  test('answers 200 with every fault of an invalid job', async () => {
    const { status, json } = await validate(
      jobBody({ Type: 'x', NodePool: 'none' }, { Count: -1 }),
    );
    expect(status).toBe(200);
    expect(json.ValidationErrors).toEqual([
      'Type must be one of service, batch, system, sysbatch, got "x"',
      'TaskGroups[0].Count must be at least 0, got -1',
      'NodePool names "none", which is not there',
    ]);
    expect(json.Error).toContain('The job has 3 faults');
  });

  test('warns about an unusual job', async () => {
    const job = jobBody({ Nonsense: 1 }, { Networks: [{ MBits: 1 }] });
    const { json } = await validate(job);
    expect(json.Warnings).toContain('MBits is deprecated');
    expect(json.Warnings).toContain('unknown field /Job/Nonsense is ignored');
  });

  test('reports an unknown namespace', async () => {
    const { json } = await validate(jobBody({ Namespace: 'other' }));
    expect(json.ValidationErrors).toEqual(['Namespace names "other", which is not there']);
  });

  test('reports a NUL in the name of a pool', async () => {
    const { status, json } = await validate(jobBody({ NodePool: 'a\0' }));
    expect([status, json.ValidationErrors.length]).toEqual([200, 1]);
  });

  test('registers nothing, and requires a job', async () => {
    const api = await startApi();
    await api.call('POST', '/v1/validate/job', { body: jobBody() });
    expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
    expect((await api.call('POST', '/v1/validate/job', { body: {} })).status).toBe(400);
  });
});
