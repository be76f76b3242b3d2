import { expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi } from '../support/api.ts';
import { Fleet, idOf, secretOf } from '../support/fleet.ts';
import { type Known, operationsOf } from '../support/fuzz.ts';
import { fuzz } from '../support/fuzz-api.ts';

const runsPerOperation = 300;
const isAsked = (path: string) => /\/(services?|checks)(\/|$)/.test(path);

/** A node with an allocation whose services are registered. */
async function furnished() {
  const api = await startApi();
  await new Fleet(api).join(2);
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  const [{ ID, NodeID }] = (await api.call('GET', '/v1/allocations')).json;
  const n = Number(NodeID.slice(7, 8));
  const service = {
    ID: `${ID}-group-web-http`,
    ServiceName: 'web',
    TaskName: '',
    Address: '10.0.0.1',
    Port: 80,
    Tags: ['a'],
    Meta: { b: 'c' },
    TaggedAddresses: { wan: '1.2.3.4' },
    Weights: { Passing: 1, Warning: 1 },
    Status: 'passing',
  };
  const report = { Allocations: [{ AllocID: ID, Services: [service] }] };
  const told = await api.call('PUT', `/v1/node/${NodeID}/services`, {
    body: report,
    token: secretOf(n),
  });
  expect(told.status, told.text).toBe(200);
  const known: Known = {
    paths: {
      service: ['web', 'web', 'none'],
      id: [service.ID, 'none'],
      job_id: ['web', 'none'],
      alloc_id: [ID, ID, 'none'],
      node_id: [NodeID, NodeID, idOf(9)],
    },
    texts: {
      ID: [service.ID],
      AllocID: [ID, 'none'],
      ServiceName: ['web', 'api'],
      Status: ['passing', 'critical'],
      namespace: ['default', '*', 'none'],
      choose: ['1|a', '2|b', '0|a', 'a'],
      filter: ['ServiceName == "web"', '"a" in Tags'],
    },
    bodies: { 'PUT /v1/node/{node_id}/services': [report, { Allocations: [] }] },
    secrets: [
      rootToken,
      rootToken,
      null,
      secretOf(n),
      secretOf(3 - n),
      await aclOf(api).holder('namespace "default" { policy = "read" }'),
    ],
  };
  const { json } = await api.call('GET', '/v1/openapi.json');
  return { api, known, operations: operationsOf(json, isAsked) };
}

test('requests for services get answers of the document, and never a 500', async () => {
  const { operations } = await furnished();
  expect(operations).toHaveLength(8);
  for (const { method, path } of operations) {
    // One operation deletes the records that the next needs.
    const { api, known, operations: own } = await furnished();
    const operation = own.find((one) => one.method === method && one.path === path)!;
    const seen = await fuzz(api, operation, known, runsPerOperation);
    const isReached = [200, 503].some((status) => (seen.get(status) ?? 0) > 0);
    expect(isReached, `${method} ${path} ${JSON.stringify([...seen])}`).toBe(true);
  }
});
