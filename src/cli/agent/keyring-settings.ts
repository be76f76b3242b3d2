import { type Check, file, text, textThat } from './setting-checks.ts';

/** How an agent reaches the service that opens its root key. */
export interface KeyServiceOptions {
  readonly url: string;
  readonly key: string;
  readonly wrappedKeyFile: string;
  readonly tokenFile: string;
  readonly caFile: string | undefined;
}

const service = 'keyring.kms';

/** The root key is in the answer of the service. */
const isServiceAddress = (value: string): boolean => {
  const url = URL.parse(value);
  if (url === null || `${url.username}${url.search}${url.hash}` !== '') return false;
  const isNear = /^(127\.|\[::1\]$|localhost$)/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isNear);
};

export const keyringSettings = {
  'keyring.root_key_file': file,
  'keyring.root_key': textThat(
    (value) => /^[A-Za-z0-9+/]{43}=$/.test(value.trim()),
    'must be 32 bytes in base64, as "openssl rand -base64 32" makes them',
  ),
  'keyring.kms.url': textThat(
    isServiceAddress,
    'must be an address that begins with https://, or with http:// on this machine, without a query',
  ),
  'keyring.kms.key': text(),
  'keyring.kms.wrapped_key_file': file,
  'keyring.kms.token_file': file,
  'keyring.kms.ca_file': file,
} as const satisfies Readonly<Record<string, Check>>;

type KeyringSetting = keyof typeof keyringSettings;
type Given = { readonly [Name in KeyringSetting]?: unknown };

/** The settings without which the service cannot be asked. */
const needed = [
  'keyring.kms.url',
  'keyring.kms.key',
  'keyring.kms.wrapped_key_file',
  'keyring.kms.token_file',
] as const;

/** Settings of the root key that contradict each other. */
export function keyringFaults(
  given: Given,
  nameOf: (setting: KeyringSetting) => string,
): readonly string[] {
  const of = (Object.keys(keyringSettings) as KeyringSetting[]).filter(
    (name) => given[name] !== undefined,
  );
  const faults: string[] = [];
  const asked = of.find((name) => name.startsWith(service));
  if (asked !== undefined) {
    const missing = needed.filter((name) => given[name] === undefined);
    faults.push(...missing.map((name) => `${nameOf(name)} is missing beside ${nameOf(asked)}`));
  }
  const sources = [...of.filter((name) => !name.startsWith(service)), ...(asked ? [asked] : [])];
  if (sources.length > 1) {
    const names = sources.map(nameOf).join(' and ');
    faults.push(`${names} exclude each other: give the root key once`);
  }
  return faults;
}

/** The options of valid settings; `undefined`: no service is asked. */
export function keyServiceOf(given: Given): KeyServiceOptions | undefined {
  const words = given as Partial<Record<KeyringSetting, string>>;
  const url = words['keyring.kms.url'];
  if (url === undefined) return undefined;
  return {
    url: url.replace(/\/+$/, ''),
    key: words['keyring.kms.key']!,
    wrappedKeyFile: words['keyring.kms.wrapped_key_file']!,
    tokenFile: words['keyring.kms.token_file']!,
    caFile: words['keyring.kms.ca_file'],
  };
}
