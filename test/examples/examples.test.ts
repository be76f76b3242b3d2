/** The job files of examples/: in shape, what they mean, valid, and registered over the API. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { exampleJob } from '../../src/cli/job/example-job.ts';
import { formatHcl } from '../../src/language/format/format.ts';
import { standardFunctions } from '../../src/language/hcl/functions/standard.ts';
import { readJob } from '../../src/language/jobspec/job-file.ts';
import { startApi } from '../support/api.ts';

const folder = new URL('../../examples/', import.meta.url);
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.hcl'))
  .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const);
const texts = [...files, ['what "job init" writes', exampleJob] as const];
const { clock, ids } = new SimulatedWorld(1);
const functions = standardFunctions({ clock, ids });

test('there are ten at least', () => {
  expect(files.length).toBeGreaterThanOrEqual(10);
});

test.each(texts)('%s is in its canonical form', (_, text) => {
  expect(formatHcl(text)).toBe(text);
});

test.each(files)('%s means what it meant', async (name, text) => {
  const { job } = readJob(text, { functions });
  const golden = `../golden/examples/${name.replace('.hcl', '.txt')}`;
  await expect(`${JSON.stringify(job, null, 2)}\n`).toMatchFileSnapshot(golden);
});

test.each(texts)('%s is parsed, valid and registered', async (_, JobHCL) => {
  const api = await startApi();
  const parsed = await api.call('POST', '/v1/jobs/parse', { body: { JobHCL } });
  expect(parsed.status).toBe(200);
  const Job = parsed.json;
  const validated = await api.call('POST', '/v1/validate/job', { body: { Job } });
  expect(validated.json).toMatchObject({ ValidationErrors: [], Error: '', Warnings: '' });
  const Submission = { Format: 'hcl2', Source: JobHCL };
  const registered = await api.call('POST', '/v1/jobs', { body: { Job, Submission } });
  expect({ status: registered.status, warnings: registered.json.Warnings }).toEqual({
    status: 200,
    warnings: '',
  });
  const read = await api.call('GET', `/v1/job/${Job.ID}`);
  expect(read.json).toMatchObject({ ID: Job.ID, Version: 0 });
});
