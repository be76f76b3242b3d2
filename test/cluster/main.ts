/**
 * `npm run cluster [-- --dir DIR]`: three members of etcd, three servers and two nodes on this machine, until
 * Ctrl-C. Without `--dir` their directory is a temporary one, which is removed.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { secondMs } from '../../src/base/units.ts';
import { ensureEtcd, etcdPath } from '../../tools/etcd.mjs';
import { awayMs, LocalCluster } from './local-cluster.ts';

const usage = 'usage: npm run cluster [-- --dir DIR]';

function readCommand(): { readonly directory: string | undefined } {
  const { values } = parseArgs({ options: { dir: { type: 'string' } } });
  return { directory: values.dir };
}

function told(cluster: LocalCluster): string {
  const { servers, directory, isKept, rootToken, pid } = cluster;
  return `
Three servers, two nodes and three members of etcd run. Their logs are in ${directory}

In another terminal:
  export ROSTER_ADDR=${servers.join(',')} ROSTER_TOKEN=${rootToken}
  bin/roster server members
  bin/roster node status
  bin/roster job run examples/web.json
  bin/roster operator leader step-down
  kill -9 ${pid}    # a server; it starts again after ${awayMs / secondMs} seconds, as every process does that ends

Ctrl-C ends them${isKept ? '' : ' and removes their directory'}.
`;
}

async function main(): Promise<number> {
  const { directory } = readCommand();
  await ensureEtcd();
  if (!existsSync(etcdPath())) {
    process.stderr.write(
      'npm run cluster needs etcd: install Go, with which it is built once, or name its program in the variable ETCD.\n',
    );
    return 1;
  }
  const cluster = new LocalCluster(directory, (sentence) => process.stdout.write(`${sentence}\n`));
  const signalled = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolve(undefined));
    }
  });
  try {
    const started = await Promise.race([cluster.start().then(() => true), signalled]);
    if (started) process.stdout.write(told(cluster));
    await signalled;
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  } finally {
    await cluster.stop();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${usage}\n`);
  process.exitCode = 2;
}
