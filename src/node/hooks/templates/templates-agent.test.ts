/** Templates of real processes, with a replaced agent. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realWorld } from '../../../base/ports-real.ts';
import type { Input } from '../../../model/schema.ts';
import type { Template } from '../../../model/task/files.ts';
import { serve } from '../../../sdk/server.test-helper.ts';
import {
  dataDirectory,
  eventsOf,
  id,
  running,
  servers,
  startAgent,
} from '../../agents.test-helper.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob } from '../../records.test-helper.ts';
import { ServerData } from './server-data.ts';

const job = (script: string, templates: readonly Input<Template>[]) => ({
  Allocation: testAllocation({ ID: id(1) }),
  Job: testJob([
    {
      Name: 'app',
      Driver: 'raw_exec',
      KillTimeout: 1e9,
      Config: { command: 'sh', args: ['-c', script] },
      Templates: templates.map((one) => ({ Splay: 0, Wait: { Min: 0, Max: 0 }, ...one })),
    },
  ]),
});

const log = () =>
  readFileSync(join(dataDirectory, 'alloc', id(1), 'alloc', 'logs', 'app.stdout.0'), 'utf8');

/** One variable, served like a server does: with an index, and held until it changes. */
function variableServer() {
  let items: Record<string, string> | undefined;
  let index = 1;
  let wake = Promise.withResolvers<void>();
  return {
    set(next: Record<string, string> | undefined) {
      items = next;
      index++;
      wake.resolve();
      wake = Promise.withResolvers();
    },
    async answer(query: Readonly<Record<string, string>>) {
      if (Number(query.index ?? 0) >= index) await wake.promise;
      const headers = { 'x-scheduler-index': String(index), 'content-type': 'application/json' };
      if (items !== undefined) return { headers, json: { Path: 'a', Items: items } };
      return { status: 404, headers, json: { code: 'not-found', detail: 'no such variable' } };
    },
  };
}

test('a variable that changes restarts its task, also across agents', async () => {
  const variable = variableServer();
  await using server = await serve(({ path, query }) => {
    expect(path).toBe('/v1/var/roster%2Fjobs%2Fweb');
    return variable.answer(query);
  });
  const dataOf = () => new ServerData({ world: realWorld, address: server.address });
  let data = dataOf();
  const agent = await startAgent({ templateData: data });
  servers.assign([
    job('echo "$COLOUR"; exec sleep 600', [
      {
        EmbeddedTmpl: 'COLOUR={{(var "roster/jobs/web").colour}}',
        DestPath: 'secrets/env',
        Envvars: true,
        Perms: '0600',
      },
    ]),
  ]);
  await eventually(() => expect(server.seen.length).toBeGreaterThan(0));
  expect(servers.statusOf(id(1))).not.toBe('running');
  variable.set({ colour: 'blue' });
  await eventually(() => expect(log()).toBe('blue\n'));
  const file = join(dataDirectory, 'alloc', id(1), 'app', 'secrets', 'env');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  variable.set({ colour: 'blue', other: 'x' });
  variable.set({ colour: 'green' });
  await eventually(() => expect(log()).toBe('blue\ngreen\n'));
  expect(eventsOf(servers.reports.get(id(1)))).toContain('Restart Signaled');

  await agent.stop({ stopTasks: false });
  await data.close();
  expect(running()).toHaveLength(1);
  data = dataOf();
  const next = await startAgent({ templateData: data });
  const asked = server.seen.length;
  // The second request comes after the first answer was used.
  await eventually(() => expect(server.seen.length).toBeGreaterThan(asked + 1));
  expect(log()).toBe('blue\ngreen\n');
  variable.set({ colour: 'red' });
  await eventually(() => expect(log()).toBe('blue\ngreen\nred\n'));
  expect(next.id).toBe(agent.id);
  await data.close();
});

test('a signal reaches the process once its file is replaced', async () => {
  const variable = variableServer();
  variable.set({ size: '1' });
  await using server = await serve(({ query }) => variable.answer(query));
  const data = new ServerData({ world: realWorld, address: server.address });
  await startAgent({ templateData: data });
  servers.assign([
    job('trap "cat local/size" USR1; echo up; while true; do sleep 0.05; done', [
      {
        EmbeddedTmpl: 'size {{(var "a").size}}\n',
        DestPath: 'local/size',
        ChangeMode: 'signal',
        ChangeSignal: 'SIGUSR1',
      },
    ]),
  ]);
  await eventually(() => expect(log()).toBe('up\n'));
  variable.set({ size: '2' });
  await eventually(() => expect(log()).toBe('up\nsize 2\n'));
  await data.close();
});
