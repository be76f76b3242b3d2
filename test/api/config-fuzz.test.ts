import { expect, test } from 'vitest';
import { kinds } from '../../src/model/config-entry/kinds.ts';
import { aclOf } from '../support/acl.ts';
import { rootToken, startApi } from '../support/api.ts';
import { type Known, operationsOf } from '../support/fuzz.ts';
import { fuzz } from '../support/fuzz-api.ts';

const runsPerOperation = 400;
const isAsked = (path: string) => /^\/v1\/(config|connect|discovery-chain)(\/|$)/.test(path);
const examples = kinds.flatMap(({ example, exampleNeeds = [] }) => [...exampleNeeds, example]);

/** With an entry of every kind. */
async function furnished() {
  const api = await startApi();
  for (const body of examples) await api.call('PUT', '/v1/config', { body });
  const names = examples.map(({ Name }) => String(Name ?? 'mesh'));
  const known: Known = {
    paths: {
      kind: kinds.map(({ kind }) => kind),
      name: [...new Set(names), 'none'],
      service: [...new Set(names), 'none'],
    },
    texts: {
      Name: ['web', 'api', '*', 'global', 'mesh', 'default'],
      Protocol: ['http', 'tcp'],
      Namespace: ['default'],
      ns: ['default', '*', 'none'],
      dc: ['dc1', 'dc2'],
      source: ['api', 'default/api', 'a/b/c/d'],
      destination: ['web', '*'],
      by: ['source', 'destination'],
      name: ['web', '*'],
      header: ['a: b', 'x'],
      filter: ['Kind == "mesh"', 'Protocol == "http"', '"a" in Meta'],
      partition: ['default'],
      path: ['/', '/a'],
      Service: ['web', 'api'],
    },
    bodies: { 'PUT /v1/config': examples },
    secrets: [
      rootToken,
      rootToken,
      null,
      await aclOf(api).holder('service_prefix "" { policy = "write" intentions = "write" }'),
      await aclOf(api).holder('mesh = "write"'),
    ],
  };
  const { json } = await api.call('GET', '/v1/openapi.json');
  return { api, known, operations: operationsOf(json, isAsked) };
}

test('requests for entries and intentions get answers of the document, and never a 500', async () => {
  const { operations } = await furnished();
  expect(operations).toHaveLength(10);
  for (const { method, path } of operations) {
    // One operation deletes the records that the next needs.
    const { api, known, operations: own } = await furnished();
    const operation = own.find((one) => one.method === method && one.path === path)!;
    const seen = await fuzz(api, operation, known, runsPerOperation);
    expect(seen.get(200) ?? 0, `${method} ${path} ${JSON.stringify([...seen])}`).toBeGreaterThan(0);
  }
});
