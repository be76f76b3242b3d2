/** Snapshots of the whole state, saved over the API. */
import { beforeEach, expect, test } from 'vitest';
import { contentsOf } from '../../src/model/snapshot/contents.ts';
import { framesIn, rowsIn } from '../../src/model/snapshot/snapshot-file.ts';
import { allTables, evaluations } from '../../src/state/tables.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';

const url = '/v1/operator/snapshot';
const secret = 'a secret that nobody may read';

let api: TestApi;

beforeEach(async () => {
  api = await startApi();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.call('PUT', '/v1/var/a/b', { body: { Items: { secret } } });
  await api.settle();
});

/** Asks for a snapshot, of which nothing is read yet. */
const begin = (gone = new AbortController().signal) =>
  api.api.handle({
    method: 'GET',
    path: url,
    query: '',
    headers: { 'x-registry-token': rootToken },
    body: undefined,
    onGone: (run) => {
      gone.addEventListener('abort', run);
      return () => gone.removeEventListener('abort', run);
    },
  });

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The rows of every table of a file that has rows. */
async function rowsOf(bytes: Uint8Array): Promise<Record<string, readonly unknown[]>> {
  const rows: Record<string, readonly unknown[]> = {};
  for await (const frame of framesIn(once(bytes))) {
    if (frame.kind !== 'rows') continue;
    const { Table, Rows } = rowsIn(frame.text);
    if (Rows.length > 0) rows[Table] = [...(rows[Table] ?? []), ...Rows];
  }
  return rows;
}

test('a snapshot holds every row of every table', async () => {
  const { status, headers, bytes } = await api.worked(
    api.call('GET', url, { signal: new AbortController().signal }),
  );
  const view = api.state.read();
  expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream']);
  const name = `roster-20260101T000000Z-${view.index}.snapshot`;
  expect(headers['content-disposition']).toBe(`attachment; filename="${name}"`);
  const { header, tables } = await contentsOf(once(bytes));
  expect(header).toMatchObject({ Format: 1, Version: '0.0.0', Index: view.index });
  expect(header.ClusterID).toMatch(/^[0-9a-f-]{36}$/);
  expect(tables.map(({ Name, Version, Rows }) => [Name, Version, Rows])).toEqual(
    allTables.map((table) => [table.name, table.version, view.table(table).size]),
  );
  const rows = await rowsOf(bytes);
  expect(rows['cluster-identity']).toMatchObject([{ ID: header.ClusterID }]);
  const stored = [...view.table(evaluations).scan()];
  // The others are written as differences from the first.
  expect(rows.evaluations![0]).toEqual(stored[0]);
  expect(rows.evaluations).toMatchObject(stored.map(({ ID }) => ({ ID })));
});

test('no secret can be read in a snapshot', async () => {
  const { bytes } = await api.worked(
    api.call('GET', url, { signal: new AbortController().signal }),
  );
  const text = JSON.stringify(await rowsOf(bytes));
  expect(text).toContain('a/b');
  expect(text).not.toContain(secret);
});

test('a snapshot is of the state that it began with, while requests go on', async () => {
  const answer = await begin();
  const pieces: Uint8Array[] = [];
  let written = 0;
  const read = async () => {
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
      pieces.push(piece);
      const body = jobBody({ ID: `later-${written++}` });
      expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
    }
  };
  await api.worked(read());
  expect(written).toBeGreaterThan(allTables.length);
  const { jobs } = await contentsOf(once(Buffer.concat(pieces)));
  expect(jobs.map(({ ID }) => ID)).toEqual(['web']);
});

test('a caller who leaves ends the snapshot, and only so many are saved at a time', async () => {
  const gone = new AbortController();
  for (let held = 0; held < 4; held++) expect((await begin(gone.signal)).status).toBe(200);
  const refused = await api.worked(api.call('GET', url, { signal: new AbortController().signal }));
  expect([refused.status, refused.json.code]).toEqual([429, 'too-many-snapshots']);
  gone.abort();
  expect(
    (await api.worked(api.call('GET', url, { signal: new AbortController().signal }))).status,
  ).toBe(200);
});
