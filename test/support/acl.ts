import { rootToken, type TestApi } from './api.ts';

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const managementId = '00000000-0000-0000-0000-000000000001';
export const readOnlyId = '00000000-0000-0000-0000-000000000002';
export const anonymousId = '00000000-0000-0000-0000-000000000002';
export const nobody = '99999999-9999-4999-8999-999999999999';

/** Calls below `/v1/acl/`, by default with the root token. */
export function callsTo(api: () => TestApi) {
  const call = (method: string, path: string, token: string | null, body?: unknown) =>
    api().call(method, `/v1/acl/${path}`, { token, ...(body !== undefined && { body }) });
  return {
    put: (path: string, body: unknown, token: string | null = rootToken) =>
      call('PUT', path, token, body),
    get: (path: string, token: string | null = rootToken) => call('GET', path, token),
    remove: (path: string, token: string | null = rootToken) => call('DELETE', path, token),
  };
}

/** Shortcuts to objects of access control, with the root token. */
export function aclOf(api: TestApi) {
  const put = async (path: string, body: object, query = '') => {
    const answer = await api.call('PUT', `/v1/acl/${path}${query}`, { body });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.json;
  };
  return {
    policy: (Name: string, more: object = {}, query = '') =>
      put('policy', { Name, ...more }, query),
    role: (Name: string, more: object = {}, query = '') => put('role', { Name, ...more }, query),
    token: (body: object = {}, query = '') => put('token', body, query),
    /** The secret of a token with these rules. */
    async holder(Rules: string, query = ''): Promise<string> {
      const { ID } = await put('policy', { Name: `p${count++}`, Rules }, query);
      return (await put('token', { Policies: [{ ID }] }, query)).SecretID;
    },
  };
}
let count = 0;
