import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { plural } from '../render/text.ts';
import { readSnapshot } from './snapshot-inspect.ts';

export const snapshotRestore: ClientCommand = {
  words: ['operator', 'snapshot', 'restore'],
  summary: 'Replace the whole state by that of a snapshot.',
  definition: {
    arguments: [
      { name: 'FILE', kind: 'file', isRequired: true, description: 'The file of a snapshot.' },
    ],
    options: [
      {
        name: 'force',
        value: 'CLUSTER',
        description: 'Id of the cluster, if its state is not empty and may be replaced.',
      },
      {
        name: 'same-cluster',
        description:
          'Go on as the cluster that the snapshot was saved from, with its nodes and peers.',
      },
    ],
    details: `Replaces the whole state, or nothing: the file is checked here and by the server before. Look at the
effect first, with "roster operator snapshot inspect -against FILE".
Without -same-cluster a server of another cluster keeps its own id, and forgets the nodes and the peerings of the
snapshot. The server needs the root key of the cluster that saved the file. Needs a management token.`,
  },
  async run(context, [path], options) {
    const { client, environment, screen } = context;
    // The file is checked as a whole before its first byte is sent.
    if (path === '-') throw new CliError('A restore reads its file twice: give its path.');
    const { header } = await readSnapshot(environment, path!);
    const { value } = await context.untilInterrupted((signal) =>
      client.snapshots.restore(environment.readPieces(path!), {
        signal,
        force: options.text('force'),
        isSameCluster: options.flag('sameCluster'),
      }),
    );
    if (context.isJson) {
      await context.json(value);
      return exitCodes.ok;
    }
    const { Index, ClusterID, Restore } = value;
    const saved = formatInstant(instantToMs(header.CreateTime));
    await screen.line(`Restored the state at index ${header.Index}, saved ${saved}.`);
    await screen.line(`It has the index ${Index} now. The cluster is ${ClusterID}.`);
    const until = formatInstant(instantToMs(Restore.UnknownUntil));
    await screen.line(`Nodes keep allocations that it does not know until ${until}:`);
    await screen.line('see "roster operator snapshot restored".');
    return exitCodes.ok;
  },
};

export const snapshotRestored: ClientCommand = {
  words: ['operator', 'snapshot', 'restored'],
  summary: 'Show the last restore, and the allocations that nodes keep after it.',
  definition: {
    isPaged: true,
    details: `After a restore nodes keep for half an hour what the snapshot does not know. It is listed as the nodes report
it, which takes them some seconds. Needs a management token.`,
  },
  async run(context) {
    const { value } = await context.client.snapshots.lastRestore();
    if (context.isJson) {
      await context.json(value);
      return exitCodes.ok;
    }
    const { screen } = context;
    const { ClusterID, Restore, Allocations } = value;
    if (Restore === null) {
      await screen.line(`The cluster ${ClusterID} was never restored.`);
      return exitCodes.ok;
    }
    await screen.fields([
      ['Cluster', ClusterID],
      ['Restored', formatInstant(instantToMs(Restore.Time))],
      ['Index', String(Restore.Index)],
      ['Generation', String(Restore.Generation)],
      [
        'Snapshot',
        `index ${Restore.SnapshotIndex}, saved ${formatInstant(instantToMs(Restore.SnapshotTime))}`,
      ],
      ['Snapshot of', Restore.SnapshotClusterID || '-'],
    ]);
    if (Allocations.length === 0) return exitCodes.ok;
    const until = formatInstant(instantToMs(Restore.UnknownUntil));
    const count = plural(Allocations.length, 'unknown allocation');
    await screen.title(`${count}, kept until ${until}`);
    await screen.table(
      ['ID', 'Node', 'Status'],
      Allocations.map(({ ID, NodeID, ClientStatus }) => [
        context.id(ID),
        context.id(NodeID),
        screen.status(ClientStatus),
      ]),
    );
    return exitCodes.ok;
  },
};
