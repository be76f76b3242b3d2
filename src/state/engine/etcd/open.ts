import { join } from 'node:path';
import type { World } from '../../../base/ports.ts';
import { EtcdEngine } from './etcd.ts';
import { type EtcdAddress, GrpcEtcdClient } from './grpc-client.ts';
import { Keys } from './keys.ts';
import { etcdLimits } from './limits.ts';
import { EtcdMembers } from './members.ts';
import { seenFile } from './seen.ts';

export interface EtcdSettings extends EtcdAddress {
  /** The keys of the cluster begin with it. */
  readonly prefix: string;
  /** The quota of etcd's database; `undefined`: as etcd tells. */
  readonly quotaBytes?: number | undefined;
}

export interface OpenEtcdOptions extends EtcdSettings {
  readonly world: World;
  /** Where the server remembers which log it has known; `undefined`: nowhere. */
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
export function openEtcd({ world, directory, report, ...settings }: OpenEtcdOptions): OpenedEtcd {
  const { endpoints, prefix, quotaBytes } = settings;
  const client = new GrpcEtcdClient({ ...settings, ...world });
  const keys = new Keys(prefix);
  const members = new EtcdMembers({ ...world, client, keys, limits: etcdLimits, report });
  const engine = new EtcdEngine({
    ...world,
    client,
    prefix,
    quotaBytes,
    where: `etcd at ${endpoints.join(', ')}`,
    seen: directory === undefined ? undefined : seenFile(join(directory, 'etcd-seen.json')),
    report,
  });
  return { engine, members };
}
