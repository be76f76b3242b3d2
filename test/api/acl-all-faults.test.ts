/** A body of access control is refused with all of its faults. */
import { beforeAll, expect, test } from 'vitest';
import { aclOf, nobody } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

const faulty = { Policies: [{ Name: 'none' }], ServiceIdentities: [{ ServiceName: 'A' }] };
const faultyLinks = ['/ServiceIdentities/0/ServiceName', '/Policies/0'];

const pointersOf = async (path: string, body: object) => {
  const { status, json } = await api.call('PUT', `/v1/acl/${path}`, { body });
  expect([status, json.code]).toEqual([400, 'invalid-body']);
  return json.errors.map(({ pointer }: { pointer: string }) => pointer);
};

test.each<[about: string, path: string, body: object, pointers: readonly string[]]>([
  [
    'a new token with links that lead nowhere',
    'token',
    { ...faulty, AccessorID: 'x', Roles: [{ ID: nobody }] },
    ['/AccessorID', ...faultyLinks, '/Roles/0'],
  ],
  ['a new role with an id', 'role', { ...faulty, ID: nobody }, ['/ID', '/Name', ...faultyLinks]],
  ['a new policy with an id', 'policy', { ID: nobody, Rules: '?' }, ['/ID', '/Name', '/Rules']],
])('%s', async (_about, path, body, pointers) => {
  expect(await pointersOf(path, body)).toEqual(pointers);
});

test('an update with links that lead nowhere', async () => {
  const acl = aclOf(api);
  const { AccessorID } = await acl.token();
  expect(await pointersOf(`token/${AccessorID}`, faulty)).toEqual(faultyLinks);
  const { ID } = await acl.role('dev');
  expect(await pointersOf(`role/${ID}`, faulty)).toEqual(['/Name', ...faultyLinks]);
});
