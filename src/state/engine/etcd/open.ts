import { join } from 'node:path';
import type { World } from '../../../base/ports.ts';
import { EtcdEngine } from './etcd.ts';
import { type EtcdAddress, GrpcEtcdClient } from './grpc-client.ts';
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

/** The engine of a log in etcd. Nothing is asked before it loads. */
export function openEtcd({ world, directory, report, ...settings }: OpenEtcdOptions): EtcdEngine {
  const { endpoints, prefix, quotaBytes } = settings;
  return new EtcdEngine({
    ...world,
    client: new GrpcEtcdClient({ ...settings, ...world }),
    prefix,
    quotaBytes,
    where: `etcd at ${endpoints.join(', ')}`,
    seen: directory === undefined ? undefined : seenFile(join(directory, 'etcd-seen.json')),
    report,
  });
}
