import { snapshotEndpoints as contract } from '../../contract/snapshot.ts';
import { snapshotName } from '../../model/snapshot/snapshot-header.ts';
import type { Server } from '../../server/server.ts';
import { clusterIdentity } from '../../state/tables.ts';
import { jsonType } from '../http.ts';
import type { Route } from '../route.ts';
import { serveRead, serveStream } from '../serve.ts';
import { unsniffed } from './client.ts';

/** Source: docs/operations/backup.md. */
export function snapshotRoutes(server: Server): Route[] {
  return [
    ...serveStream(contract.save, async (_input, signal) => {
      const { header, pieces } = server.snapshots.begin(signal);
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${snapshotName(header)}"`,
        ...unsniffed,
      };
      return { status: 200, headers, body: pieces };
    }),
    ...serveStream(contract.restore, async ({ query, pieces, dialect }) => {
      const options = { force: query.force ?? '', isSameCluster: query.same_cluster };
      const restored = await server.restorer.restore(pieces, options);
      const headers = { ...jsonType, [dialect.headers.index]: String(restored.Index) };
      return { status: 200, headers, body: JSON.stringify(restored) };
    }),
    ...serveRead(contract.last, ({ snapshot }) => {
      const { ID = '', Restore = null } = snapshot.table(clusterIdentity).get('cluster') ?? {};
      return { ClusterID: ID, Restore, Allocations: server.returns.unknown() };
    }),
  ];
}
