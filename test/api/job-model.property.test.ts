/** Random jobs, valid and almost valid, over HTTP. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { arbitraryJob } from '../../src/model/job/arbitrary-job.test-helper.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { spoiled } from '../support/fuzz.ts';

let api: TestApi;
const errors: unknown[] = [];
beforeAll(async () => {
  api = await startApi();
  Object.assign(api.server.context.log, { error: (fields: unknown) => errors.push(fields) });
});

/** `job-tokens.test.ts` covers tokens; submissions with tags are refused. */
const anyJob = arbitraryJob().map((job) => {
  return { ...job, RegistryToken: '', SecretsToken: '', VersionTag: null };
});

/**
 * Warnings without the group and task that they concern: defaults of the job and its groups are
 * written into them when a job is sent back.
 */
const fieldsIn = (warnings: string) =>
  new Set(
    warnings
      .split('\n* ')
      .slice(1)
      .map((sentence) => sentence.replace(/\b(TaskGroups|Tasks)\[\d+\]\./g, '')),
  );

test('a job can be sent back as it was read, and nothing changes', async () => {
  await fc.assert(
    fc.asyncProperty(anyJob, async (job) => {
      const path = `/v1/job/${job.ID}`;
      const first = await api.call('POST', '/v1/jobs', { body: { Job: job } });
      expect([first.status, first.json.detail]).toEqual([200, undefined]);
      expect(first.json.Warnings).not.toContain('unknown field');
      const stored = (await api.call('GET', path)).json;
      const again = await api.call('POST', path, { body: { Job: stored } });
      expect([again.status, again.json.detail]).toEqual([200, undefined]);
      expect(fieldsIn(again.json.Warnings)).toEqual(fieldsIn(first.json.Warnings));
      const { ModifyIndex, ...kept } = (await api.call('GET', path)).json;
      expect(kept).toEqual({ ...kept, ...stored, ModifyIndex: undefined });
      await api.call('DELETE', `${path}?purge=true`);
      await api.settle();
      expect(errors).toEqual([]);
    }),
    { numRuns: 150 },
  );
}, 60_000);

test('a valid job with one change is registered or refused, and never causes a bug', async () => {
  const bodies = fc.sample(anyJob, { numRuns: 40, seed: 7 }).map((Job) => ({ Job }));
  await fc.assert(
    fc.asyncProperty(spoiled(bodies), async (body) => {
      const { status, json } = await api.call('POST', '/v1/jobs', { body });
      expect([200, 400, 403, 404, 409]).toContain(status);
      if (status === 400) expect(json.detail).not.toBe('');
      await api.settle();
      expect(errors).toEqual([]);
    }),
    { numRuns: 600 },
  );
}, 60_000);
