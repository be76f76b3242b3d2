/** Variables compared with a map. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';

const namespaces = ['default', 'team'];
const paths = ['a', 'a/b', 'a/b/c', 'ab', 'b'];
const place = {
  namespace: fc.constantFrom(...namespaces),
  path: fc.constantFrom(...paths),
};
const items = fc.dictionary(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  { minKeys: 1, maxKeys: 3 },
);
/** No index, the current one, or another. */
const guard = fc.constantFrom('none', 'right', 'wrong', 'new');

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put'), ...place, items, guard }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete'), ...place, guard }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('get'), ...place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('list'),
      namespace: fc.constantFrom(...namespaces, '*'),
      prefix: fc.constantFrom('', 'a', 'a/', 'a/b', 'x'),
      perPage: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rotate') }) },
);

interface Kept {
  readonly Namespace: string;
  readonly Path: string;
  readonly Items: Readonly<Record<string, string>>;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

test('variables behave like a map in any order of operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const api = await startApi();
      await api.call('PUT', '/v1/namespace/team', { body: {} });
      const map = new Map<string, Kept>();
      let last = 0;
      // biome-ignore lint/suspicious/noExplicitAny: the steps are of several shapes.
      for (const one of steps as readonly any[]) {
        const key = `${one.namespace}\0${one.path}`;
        const kept = map.get(key);
        const index = kept?.ModifyIndex ?? 0;
        const cas = { none: undefined, right: index, wrong: index + 1, new: 0 }[
          one.guard as 'none'
        ];
        const query = cas === undefined ? '' : `&cas=${cas}`;
        const url = `/v1/var/${one.path}?namespace=${one.namespace}${query}`;
        const fits = cas === undefined || cas === index;
        if (one.do === 'put') {
          const { status, json } = await api.call('PUT', url, { body: { Items: one.items } });
          expect(status).toBe(fits ? 200 : 409);
          if (!fits) continue;
          expect(json.Items).toEqual(one.items);
          expect(json.ModifyIndex).toBeGreaterThan(last);
          expect(json.CreateIndex).toBe(kept?.CreateIndex ?? json.ModifyIndex);
          last = json.ModifyIndex;
          map.set(key, json);
        } else if (one.do === 'delete') {
          const { status, json } = await api.call('DELETE', url);
          expect(status).toBe(fits ? 200 : 409);
          if (fits) expect(json).toBe(map.delete(key));
        } else if (one.do === 'get') {
          const { status, json, headers } = await api.call('GET', url);
          expect(status).toBe(kept === undefined ? 404 : 200);
          if (kept === undefined) continue;
          expect(json).toEqual(kept);
          expect(headers['x-scheduler-index']).toBe(String(kept.ModifyIndex));
        } else if (one.do === 'list') {
          const expected = [...map.values()]
            .filter(({ Namespace, Path }) => {
              const isThere = one.namespace === '*' || Namespace === one.namespace;
              return isThere && Path.startsWith(one.prefix);
            })
            .sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
            .map(({ Items: _, ...metadata }) => metadata);
          const found: object[] = [];
          for (let token: string | undefined = ''; token !== undefined; ) {
            const { json, headers } = await api.call(
              'GET',
              `/v1/vars?namespace=${one.namespace}&prefix=${one.prefix}&per_page=${one.perPage}&next_token=${token}`,
            );
            found.push(...json);
            token = headers['x-scheduler-nexttoken'];
          }
          expect(found).toEqual(expected);
        } else {
          expect((await api.call('PUT', '/v1/operator/keyring/rotate')).status).toBe(200);
        }
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);

const keyOf = ({ Namespace, Path }: Kept): string => `${Namespace}\0${Path}`;
