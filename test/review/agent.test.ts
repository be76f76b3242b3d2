import { afterEach, expect, test, vi } from 'vitest';
import { createAgent } from '../../src/agent.ts';
import { RowEncoder } from '../../src/api/encode.ts';
import { jobBody, rootToken } from '../support/api.ts';

afterEach(() => void vi.restoreAllMocks());

test('a job that is read again and again is written out once', async () => {
  const encode = vi.spyOn(RowEncoder.prototype, 'encode');
  const agent = await createAgent({ rootToken });
  const call = (method: string, path: string, body?: object) =>
    agent.handle({
      ...{ method, path, query: '', headers: { 'x-registry-token': rootToken } },
      body: body && new TextEncoder().encode(JSON.stringify(body)),
    });
  await call('POST', '/v1/jobs', jobBody());
  await call('GET', '/v1/job/web');
  await agent.close('stop');
  // Without `freeze` no row is frozen, so the pipeline never takes one for unchanging.
  expect(encode).toHaveBeenCalled();
});
