import { afterAll, beforeAll, describe, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { etcdPath } from '../../tools/etcd.mjs';
import { command, endAgents, newDirectory } from '../support/agent.ts';
import { EtcdCluster, etcdServer, freePorts } from '../support/etcd.ts';
import { runGuide } from './guide.ts';

describe('guides with etcd', needing(etcdServer), () => {
  let etcd: EtcdCluster;

  beforeAll(async () => {
    etcd = await EtcdCluster.start(1);
  });

  afterAll(async () => {
    await endAgents();
    await etcd?.stop();
  });

  test('the guide to the move of the state does what it says', { timeout: 180_000 }, () =>
    runGuide('docs/operations/engines.md', { replace: { '127.0.0.1:2379': etcd.endpoints[0]! } }),
  );

  test('the guide to upgrades does what it says', { timeout: 180_000 }, () =>
    runGuide('docs/operations/upgrade.md', { replace: { '127.0.0.1:2379': etcd.endpoints[0]! } }),
  );

  test('the page about several servers does what it says', { timeout: 180_000 }, () => {
    const folder = newDirectory('etc');
    const replace = { '127.0.0.1:2379': etcd.endpoints[0]!, '/etc/roster': folder };
    const cwd = newDirectory('reader');
    return runGuide('docs/operations/servers.md', { replace, programs: { roster: command }, cwd });
  });

  test('the guide to lost members of etcd does what it says', { timeout: 300_000 }, async () => {
    const usual = ['1', '2', '3', '4'].flatMap((digit) => [`${digit}2379`, `${digit}2380`]);
    const free = await freePorts(usual.length);
    const replace = Object.fromEntries(usual.map((port, at) => [port, String(free[at])]));
    await runGuide('docs/operations/etcd.md', { replace, programs: { etcd: etcdPath() } });
  });
});
