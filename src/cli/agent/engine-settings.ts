import { durationMs, parseDuration } from '../../base/duration.ts';
import { limits } from '../../model/limits.ts';
import { isServerAddress } from '../../model/peering/rules.ts';
import { cliLimits } from '../limits.ts';
import {
  type Check,
  duration,
  file,
  flag,
  listThat,
  oneOf,
  text,
  textThat,
  wholeFrom1,
} from './setting-checks.ts';

/** Where the state is made durable: the data directory, or etcd. */
export const engineWords = ['embedded', 'etcd'] as const;

/** The options of a log in etcd. */
export interface EtcdOptions {
  /** Each `host:port`. */
  readonly endpoints: readonly string[];
  readonly usesTls: boolean;
  readonly caFile: string | undefined;
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly user: string | undefined;
  readonly passwordFile: string | undefined;
  /** Keys begin with it. */
  readonly prefix: string;
  /** `undefined`: as etcd tells. */
  readonly quotaBytes: number | undefined;
  /** `host:port` for the other servers; `undefined`: where the agent listens. */
  readonly advertise: string | undefined;
  /** Speak to servers of other machines without TLS. */
  readonly allowsPlaintext: boolean;
  /** The age of the state from which on `stale` requests are refused; `undefined`: the default. */
  readonly staleMaxMs: number | undefined;
}

const endpoint = /^(https?:\/\/)?([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/;

export const engineSettings = {
  engine: oneOf(engineWords),
  'etcd.endpoints': listThat(
    (value) => endpoint.test(value),
    'must be a list of HOST:PORT, or https://HOST:PORT for TLS',
    { least: 1, most: cliLimits.agent.serversMax },
  ),
  'etcd.prefix': textThat(
    (value) => /^\/[A-Za-z0-9._/-]{0,126}\/$/.test(value),
    'must begin and end with "/", such as "/roster/"',
  ),
  'etcd.user': text(),
  'etcd.password_file': file,
  'etcd.ca_file': file,
  'etcd.cert_file': file,
  'etcd.key_file': file,
  'etcd.quota_bytes': wholeFrom1,
  'cluster.advertise': textThat(
    isServerAddress,
    'must be HOST:PORT under which the other servers reach this one, such as "10.0.0.1:4720"',
  ),
  'cluster.allow_plaintext': flag,
  'cluster.stale_max': duration(limits.servers.staleMaxLeastMs),
} as const satisfies Readonly<Record<string, Check>>;

type EngineSetting = keyof typeof engineSettings;
type Given = { readonly [Name in EngineSetting | 'readers']?: unknown };

/** Settings of the engine that contradict each other. */
export function engineFaults(
  given: Given,
  nameOf: (setting: EngineSetting | 'readers') => string,
): string[] {
  if (given.engine !== 'etcd') {
    return (Object.keys(engineSettings) as EngineSetting[])
      .filter((name) => name !== 'engine' && given[name] !== undefined)
      .map((name) => `${nameOf(name)} is of no use without the engine etcd`);
  }
  const faults: string[] = [];
  if (given['etcd.endpoints'] === undefined) {
    faults.push(`${nameOf('etcd.endpoints')} is missing: name where etcd listens`);
  }
  if (given.readers !== undefined) {
    faults.push(`${nameOf('readers')} is of no use with the engine etcd: start more servers on it`);
  }
  for (const [one, other] of together) {
    if (given[one] !== undefined && given[other] === undefined) {
      faults.push(`${nameOf(one)} is of no use without ${nameOf(other)}`);
    }
  }
  return faults;
}

const together: readonly (readonly [EngineSetting, EngineSetting])[] = [
  ['etcd.user', 'etcd.password_file'],
  ['etcd.password_file', 'etcd.user'],
  ['etcd.cert_file', 'etcd.key_file'],
  ['etcd.key_file', 'etcd.cert_file'],
];

/** The options of valid settings; `undefined`: the state is in the data directory. */
export function etcdOf(given: Given): EtcdOptions | undefined {
  if (given.engine !== 'etcd') return undefined;
  const words = given as Partial<Record<EngineSetting, string>>;
  const endpoints = given['etcd.endpoints'] as readonly string[];
  const staleMax = words['cluster.stale_max'];
  const tlsFiles = ['etcd.ca_file', 'etcd.cert_file'] as const;
  return {
    endpoints: endpoints.map((value) => value.replace(/^https?:\/\//, '')),
    usesTls:
      endpoints.some((value) => value.startsWith('https://')) ||
      tlsFiles.some((name) => given[name] !== undefined),
    caFile: words['etcd.ca_file'],
    certificateFile: words['etcd.cert_file'],
    keyFile: words['etcd.key_file'],
    user: words['etcd.user'],
    passwordFile: words['etcd.password_file'],
    prefix: words['etcd.prefix'] ?? '/roster/',
    quotaBytes: given['etcd.quota_bytes'] as number | undefined,
    advertise: words['cluster.advertise'],
    allowsPlaintext: given['cluster.allow_plaintext'] === true,
    staleMaxMs: staleMax === undefined ? undefined : durationMs(parseDuration(staleMax)!),
  };
}
