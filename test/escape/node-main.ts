/**
 * Nodes of one user for escape tests: each is the product's node without some defences. The
 * argument is JSON: `NodeProgramInput`. SIGTERM ends the nodes and their tasks.
 */
import { startNode } from '../../src/agent-node.ts';
import type { HostVolumes } from '../../src/model/volume/host-volume.ts';
import { type Defence, defencesWithout } from '../../src/node/defences.ts';
import type { DriverSettings } from '../../src/node/drivers/allowed.ts';
import type { DockerSettings } from '../../src/node/drivers/docker/settings.ts';
import type { IsolationSettings } from '../../src/node/drivers/isolation/settings.ts';
import { launchSupervisor } from '../../src/node/supervisor/launch.ts';

export interface NodeInput {
  readonly name: string;
  /** Its server's address. */
  readonly address: string;
  readonly dataDirectory: string;
  readonly without: readonly Defence[];
  readonly isolation: IsolationSettings;
  readonly docker: DockerSettings;
  readonly drivers: DriverSettings;
  readonly hostVolumes: HostVolumes;
}

export interface NodeProgramInput {
  readonly introductionToken: string;
  readonly nodes: readonly NodeInput[];
}

/** Jobs with an identity are placed only on nodes that report a version of the product. */
const version = '0.1.0';

const { introductionToken, nodes } = JSON.parse(process.argv[2]!) as NodeProgramInput;

const supervisor = new URL('./supervisor-main.ts', import.meta.url);

const log = {
  info: (_: object, sentence?: string) => process.stderr.write(`${sentence}\n`),
  warn: (fields: object, sentence?: string) =>
    process.stderr.write(`${sentence} ${JSON.stringify(fields)}\n`),
};

// The nodes' own timers keep no process alive.
const alive = setInterval(() => {}, 1 << 30);
const started = await Promise.all(
  nodes.map(async ({ name, address, dataDirectory, without, hostVolumes, ...settings }) => {
    const servers = { addresses: [address], introduction: async () => introductionToken };
    const options = {
      ...settings,
      dataDirectory,
      version,
      environment: process.env,
      node: { name, address: '127.0.0.1', hostVolumes },
      log: log as never,
    };
    const defences = defencesWithout(without);
    const node = await startNode(options, servers, {
      defences,
      launchSupervisor: (given) => launchSupervisor({ ...given, defences } as never, supervisor),
    });
    await node.registered();
    return node;
  }),
);
process.stdout.write('ready\n');
process.once('SIGTERM', () => {
  clearInterval(alive);
  void Promise.all(started.map((node) => node.close('stop'))).then(() => process.exit(0));
});
