import { expect, test } from 'vitest';
import { problem } from '../../sdk/server.test-helper.ts';
import { job, registered, secondsAgo } from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const tagged = { Name: 'x', Description: 'd', TaggedTime: 0, Version: 2, Index: 9 };

const golden = { Name: 'golden', Description: '', TaggedTime: secondsAgo(90) };
const kept = {
  Versions: [job({ Version: 2, VersionTag: null }), job({ Version: 1, VersionTag: golden })],
  Diffs: null,
  Index: 12,
};

test.each<[string, Record<string, object>, number, RegExp, object | undefined]>([
  [
    'job revert web 1 -detach -check-version 2',
    { 'POST /v1/job/web/revert': { json: registered } },
    0,
    /goes back to version 1 \(JobModifyIndex 12\)/,
    { JobID: 'web', JobVersion: 1, EnforcePriorVersion: 2 },
  ],
  [
    'job revert web golden -detach -policy-override',
    { 'GET /v1/job/web/versions': { json: kept }, 'POST /v1/job/web/revert': { json: registered } },
    0,
    /goes back to version 1 \(JobModifyIndex 12\)/,
    { JobID: 'web', JobVersion: 1, PolicyOverride: true },
  ],
  [
    'job revert web silver',
    { 'GET /v1/job/web/versions': { json: kept } },
    1,
    /no version with the tag "silver"[\s\S]*"roster job history web" lists/,
    undefined,
  ],
  [
    'job inspect web -version golden',
    { 'GET /v1/job/web/versions': { json: kept } },
    0,
    /"Job": \{[\s\S]*"Version": 1,/,
    undefined,
  ],
  [
    'job inspect web -version 2',
    { 'GET /v1/job/web/versions': { json: kept } },
    0,
    /"Version": 2,/,
    undefined,
  ],
  [
    'job inspect web -version 7',
    { 'GET /v1/job/web/versions': { json: kept } },
    1,
    /The job "web" has no version 7 any more/,
    undefined,
  ],
  [
    'job inspect web -source',
    {
      'GET /v1/job/web': { json: job({ Version: 2 }) },
      'GET /v1/job/web/submission': { json: { Source: 'job "web" {}\n\n', Version: 2 } },
    },
    0,
    /^job "web" \{\}\n\n$/,
    undefined,
  ],
  [
    'job inspect web -source -version golden -json',
    {
      'GET /v1/job/web/versions': { json: kept },
      'GET /v1/job/web/submission': { json: { Source: 'text', Version: 1, Variables: 'a = 1' } },
    },
    0,
    /"Variables": "a = 1"/,
    undefined,
  ],
  [
    'job inspect web -source',
    {
      'GET /v1/job/web': { json: job({ Version: 2 }) },
      'GET /v1/job/web/submission': problem(404, 'submission-not-found', 'It is not kept.'),
    },
    1,
    /It is not kept\./,
    undefined,
  ],
  [
    'job history web -version golden',
    { 'GET /v1/job/web/versions': { json: kept } },
    0,
    /^Version +1\n[\s\S]*Tag +golden\nTagged +2025-12-31T23:58:30Z \(1m30s ago\)\n/,
    undefined,
  ],
  [
    'job eval web -force-reschedule -detach',
    { 'POST /v1/job/web/evaluate': { json: registered } },
    0,
    /Evaluation e1e1e1e1 of the job "web" is under way/,
    { JobID: 'web', EvalOptions: { ForceReschedule: true } },
  ],
  [
    'job start web -detach',
    {
      'GET /v1/job/web': { json: job({ Stop: true }) },
      'POST /v1/job/web': { json: registered },
    },
    0,
    /starts again/,
    { Job: job({ Stop: false }), EnforceIndex: true, JobModifyIndex: 12 },
  ],
  ['job start web', { 'GET /v1/job/web': { json: job() } }, 1, /is not stopped/, undefined],
  [
    'job tag apply web x -version 2 -description d',
    { 'PUT /v1/job/web/tag/x': { json: tagged } },
    0,
    /Version 2 of the job "web" has the tag "x"/,
    { Version: 2, Description: 'd' },
  ],
  [
    'job tag unset web x',
    { 'DELETE /v1/job/web/tag/x': { json: tagged } },
    0,
    /has no longer the tag "x"/,
    undefined,
  ],
  [
    'job restart web',
    { 'GET /v1/job/web/allocations': { json: [] } },
    1,
    /Nothing of the job "web" runs/,
    undefined,
  ],
  ['job restart web -batch-size 0', {}, 1, /--batch-size must be an integer from 1/, undefined],
  ['job stop web -eval-priority 101', {}, 1, /from 1 to 100, got "101"/, undefined],
  [
    'system gc',
    {
      'PUT /v1/system/gc': {
        json: { Jobs: 1, Evaluations: 2, Allocations: 3, Deployments: 0, Nodes: 1 },
      },
    },
    0,
    /Deleted: 1 job, 2 evaluations, 3 allocations, 0 deployments and 1 node\./,
    undefined,
  ],
])('%s', async (words, server, exitCode, told, body) => {
  const ran = await run(words.split(' '), { server: server as never });
  expect(ran.exitCode).toBe(exitCode);
  expect(ran.stdout + ran.stderr).toMatch(told);
  if (body !== undefined) expect(ran.seen.at(-1)?.body).toEqual(body);
});
