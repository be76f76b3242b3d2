/** A snapshot is saved and restored over a port: its file is a body that the server reads piece by piece. */
import { expect, onTestFinished, test } from 'vitest';
import { createAgent } from '../../src/agent.ts';
import { createClient } from '../../src/sdk/client.ts';
import { jobBody, rootToken } from '../support/api.ts';

const rootKey = new Uint8Array(32).fill(7);

async function start() {
  const agent = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken, rootKey });
  onTestFinished(() => agent.close('stop'));
  const client = createClient({ address: agent.address, token: rootToken });
  onTestFinished(() => client.close());
  return { agent, client };
}

test('what one server saves another restores', async () => {
  const [from, to] = [await start(), await start()];
  await fetch(`${from.agent.address}/v1/jobs`, {
    method: 'POST',
    headers: { 'x-registry-token': rootToken },
    body: JSON.stringify(jobBody()),
  });
  const { value } = await to.client.snapshots.restore(from.client.snapshots.save());
  expect(value.Restore).toMatchObject({ Generation: 1 });
  const jobs = await to.client.jobs.list();
  expect(jobs.value.map(({ ID }) => ID)).toEqual(['web']);
  const { value: last } = await to.client.snapshots.lastRestore();
  expect(last).toEqual({ ClusterID: value.ClusterID, Restore: value.Restore, Allocations: [] });
});

test('a restore takes no key, under which a repetition would run it again', async () => {
  const { agent, client } = await start();
  const answer = await fetch(`${agent.address}/v1/operator/snapshot`, {
    method: 'PUT',
    headers: { 'x-registry-token': rootToken, 'idempotency-key': 'once' },
    body: 'a file',
  });
  const { status, detail } = (await answer.json()) as { status: number; detail: string };
  expect([status, detail]).toEqual([400, expect.stringContaining('takes no Idempotency-Key')]);
  expect((await client.snapshots.lastRestore()).value.Restore).toBeNull();
});

test('a caller without the permission is refused before the body is read', async () => {
  const { agent } = await start();
  let read = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; read < 10_000; read++) yield new Uint8Array(65_536);
  }
  const client = createClient({ address: agent.address });
  onTestFinished(() => client.close());
  await expect(client.snapshots.restore(endless())).rejects.toMatchObject({ status: 403 });
  expect(read).toBeLessThan(10_000);
});

test('a file that breaks off is refused, and the server goes on', async () => {
  const { client } = await start();
  async function* broken(): AsyncGenerator<Uint8Array> {
    let pieces = 0;
    for await (const piece of client.snapshots.save()) {
      if (pieces++ === 3) throw new Error('the disk is gone');
      yield piece;
    }
  }
  await expect(client.snapshots.restore(broken())).rejects.toThrow();
  const { value } = await client.snapshots.restore(client.snapshots.save());
  expect(value.Restore.Generation).toBe(1);
});
