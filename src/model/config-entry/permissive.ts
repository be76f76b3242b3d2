import type { ConfigEntry } from './config-entry.ts';
import type { EntryView } from './kind.ts';
import type { MeshEntry } from './mesh.ts';

interface WithMode extends Omit<ConfigEntry, 'Kind'> {
  readonly Kind: ConfigEntry['Kind'];
  readonly MutualTLSMode: string;
}

/**
 * The mesh entry must allow permissive mode first. A service that is permissive already may stay so.
 * Source: docs/behaviour/configuration.md#permissive-mutual-tls.
 */
export function permissiveFaults(
  before: WithMode | undefined,
  after: WithMode,
  view: EntryView,
): readonly string[] {
  if (after.MutualTLSMode !== 'permissive' || before?.MutualTLSMode === 'permissive') return [];
  const partition = after.Partition;
  const mesh = view.get({ partition, namespace: 'default', kind: 'mesh', name: 'mesh' });
  if ((mesh as MeshEntry | undefined)?.AllowEnablingPermissiveMutualTLS) return [];
  return [
    'MutualTLSMode cannot become "permissive": the mesh entry does not set AllowEnablingPermissiveMutualTLS',
  ];
}
