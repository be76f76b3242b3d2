import { join } from 'node:path';
import type { World } from '../../../base/ports.ts';
import { copyFile } from './copy-file.ts';
import { EtcdEngine } from './etcd.ts';
import { type EtcdAddress, GrpcEtcdClient } from './grpc-client.ts';
import { Keys } from './keys.ts';
import { etcdLimits } from './limits.ts';
import { EtcdMembers } from './members.ts';
import { EtcdOffline } from './offline.ts';
import type { EtcdEngineOptions } from './options.ts';
import { EtcdRecovery } from './recovery.ts';
import { seenFile } from './seen.ts';

export interface EtcdSettings extends EtcdAddress {
  /** The keys of the cluster begin with it. */
  readonly prefix: string;
  /** The quota of etcd's database; `undefined`: as etcd tells. */
  readonly quotaBytes?: number | undefined;
}

export interface OpenEtcdOptions
  extends EtcdSettings,
    Pick<EtcdEngineOptions, 'signal' | 'waiting' | 'isHeldBack'> {
  readonly world: World;
  /** Where the server remembers which log it has known, and keeps a copy; `undefined`: nowhere. */
  readonly directory: string | undefined;
  readonly report: (fault: unknown) => void;
}

export interface OpenedEtcd {
  /** Nothing is asked before it loads. It closes the connection. */
  readonly engine: EtcdEngine;
  /** The list of servers, over the same connection. */
  readonly members: EtcdMembers;
}

/** A log in etcd, and the list of the servers that share it. */
export function openEtcd({ directory, ...options }: OpenEtcdOptions): OpenedEtcd {
  const parts = partsOf(options);
  const keys = new Keys(options.prefix);
  const kept = directory === undefined ? {} : keptIn(directory);
  const engine = new EtcdEngine({ ...parts, ...kept });
  const mayJoin = () => {
    const { isUnconfirmed, isHeldBack, fault } = engine.health;
    return !isUnconfirmed && !isHeldBack && fault === undefined;
  };
  const members = new EtcdMembers({ ...parts, keys, limits: etcdLimits, mayJoin });
  return { engine, members };
}

/** The same log while no server uses it. It closes the connection. */
export const openOffline = (options: Omit<OpenEtcdOptions, 'directory'>): EtcdOffline =>
  new EtcdOffline(partsOf(options));

/** The same for the way out after it has diverged. */
export const openRecovery = ({
  directory,
  ...options
}: OpenEtcdOptions & { readonly directory: string }): EtcdRecovery =>
  new EtcdRecovery({ ...partsOf(options), ...keptIn(directory) });

const keptIn = (directory: string) => ({
  seen: seenFile(seenIn(directory)),
  copy: copyFile(copyIn(directory)),
});

function partsOf({ world, report, ...settings }: Omit<OpenEtcdOptions, 'directory'>) {
  const { endpoints, prefix, quotaBytes, signal, waiting, isHeldBack } = settings;
  const client = new GrpcEtcdClient({ ...settings, ...world });
  const where = `etcd at ${endpoints.join(', ')}`;
  return { ...world, client, prefix, quotaBytes, where, report, signal, waiting, isHeldBack };
}

/** Where a server keeps a copy of the state in its directory. */
const copyIn = (directory: string): string => join(directory, 'etcd-copy');

/** Where a server remembers in its directory which log it has known. */
export const seenIn = (directory: string): string => join(directory, 'etcd-seen.json');
