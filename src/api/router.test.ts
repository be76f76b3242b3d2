import { expect, test } from 'vitest';
import type { RosterError } from '../model/errors.ts';
import { Router } from './router.ts';

const routes = [
  ['GET', '/v1/jobs'],
  ['POST', '/v1/jobs'],
  ['PUT', '/v1/job'],
  ['GET', '/v1/job/:job_id+'],
  ['PUT', '/v1/job/:job_id+'],
  ['DELETE', '/v1/job/:job_id+'],
  ['GET', '/v1/job/:job_id+/allocations'],
  ['POST', '/v1/job/:job_id+/periodic/force'],
  ['PUT', '/v1/job/:job_id+/tag/:name'],
  ['PUT', '/v1/job/:job_id+/revert'],
  ['GET', '/v1/node/:node_id'],
  ['GET', '/v1/node/name/:name+'],
  ['PUT', '/v1/node/:node_id/heartbeat'],
  ['PUT', '/v1/node/register'],
].map(([method, path]) => ({ method: method!, path: path! }));

const router = new Router(routes);

/** `pattern parameter`, `405 allowed`, `404`, or `400` with its reason. */
function outcome(method: string, path: string): string {
  let match: ReturnType<typeof router.match>;
  try {
    match = router.match(method, path);
  } catch (error) {
    const { status, detail } = error as RosterError;
    return `${status} ${detail}`;
  }
  if (match.kind === 'unknown') return '404';
  if (match.kind === 'method') return `405 ${match.allow.join(',')}`;
  return `${match.route.path} ${Object.values(match.parameters).join()}`.trim();
}

test.each([
  ['GET', '/v1/jobs', '/v1/jobs'],
  ['PUT', '/v1/jobs', '405 GET,POST'],
  ['GET', '/v1/jobs/', '404'],
  ['GET', '/v1/job/web', '/v1/job/:job_id+ web'],
  ['GET', '/v1/job/', '400 The path lacks its job_id: /v1/job/{job_id}.'],
  ['POST', '/v1/job/', '405 DELETE,GET,PUT'],
  ['PUT', '/v1/job/', '/v1/job'],
  ['PUT', '/v1/job', '/v1/job'],
  ['OPTIONS', '/v1/job/', '405 DELETE,GET,PUT'],
  ['GET', '/v1/job//allocations', '400 The path lacks its job_id: /v1/job/{job_id}/allocations.'],
  ['PUT', '/v1/node//heartbeat', '400 The path lacks its node_id: /v1/node/{node_id}/heartbeat.'],
  ['GET', '/v1/node/', '400 The path lacks its node_id: /v1/node/{node_id}.'],
  ['GET', '/v1/node/name/', '400 The path lacks its name: /v1/node/name/{name}.'],
  ['GET', '/v1/node/name/a/b/', '/v1/node/name/:name+ a/b/'],
  ['GET', '/v1/node/n1/', '404'],
  ['GET', '/v1/job/web/allocations', '/v1/job/:job_id+/allocations web'],
  ['GET', '/v1/job/allocations', '/v1/job/:job_id+ allocations'],
  ['GET', '/v1/job/web/dispatch-1-ab', '/v1/job/:job_id+ web/dispatch-1-ab'],
  ['GET', '/v1/job/web/dispatch-1/allocations', '/v1/job/:job_id+/allocations web/dispatch-1'],
  ['GET', '/v1/job/web%2Fallocations', '/v1/job/:job_id+ web/allocations'],
  ['GET', '/v1/job/a%20b', '/v1/job/:job_id+ a b'],
  ['GET', '/v1/job/%zz', '404'],
  ['POST', '/v1/job/web/periodic/force', '/v1/job/:job_id+/periodic/force web'],
  ['GET', '/v1/job/web/periodic/force', '405 POST'],
  ['PUT', '/v1/job/web/tag/golden', '/v1/job/:job_id+/tag/:name web,golden'],
  ['PUT', '/v1/job/a/b/tag/x%2Fy', '/v1/job/:job_id+/tag/:name a/b,x/y'],
  ['PUT', '/v1/job/web/tag/revert', '/v1/job/:job_id+/tag/:name web,revert'],
  ['PUT', '/v1/job/web/tag/', '400 The path lacks its name: /v1/job/{job_id}/tag/{name}.'],
  ['PUT', '/v1/job//tag/x', '400 The path lacks its job_id: /v1/job/{job_id}/tag/{name}.'],
  ['PUT', '/v1/job/web/tag/%zz', '404'],
  ['GET', '/v1/job/web/tag/golden', '405 PUT'],
  ['DELETE', '/v1/job/web/allocations', '405 GET'],
  ['GET', '/v1/node/n1', '/v1/node/:node_id n1'],
  ['GET', '/v1/node/n1/n2', '404'],
  ['PUT', '/v1/node/register', '/v1/node/register'],
  ['PUT', '/v1/node/n1/heartbeat', '/v1/node/:node_id/heartbeat n1'],
  ['GET', '/v2/jobs', '404'],
  ['GET', '/', '404'],
])('%s %s is %s', (method, path, expected) => {
  expect(outcome(method, path)).toBe(expected);
});
