import { cliLimits } from '../limits.ts';

/** A server with a node, a server alone, or a node alone. */
export type AgentMode = 'both' | 'server' | 'node';

type Given<Name extends string> = { readonly [K in Name]?: unknown };
type ModeSetting = 'server_only' | 'servers';

export const modeOf = (given: Given<ModeSetting>): AgentMode => {
  if (given.servers !== undefined) return 'node';
  return given.server_only === true ? 'server' : 'both';
};

const nodeOnly: readonly string[] = [
  'introduction_token_file',
  'ca_cert',
  'client_cert',
  'client_key',
];

/** Settings of servers, and groups of settings, which end in a dot. */
const serverOnly = [
  'http',
  'http.',
  'readers',
  'decider',
  'root_token',
  'root_token_file',
  'run',
  'acl.',
  'audit.',
  'keyring.',
  'identity.',
  'peering.',
  'garbage_collection.',
  'engine',
  'etcd.',
  'snapshots.',
  'tls.',
  'ui.',
];

/** Settings that contradict the mode of the agent. */
export function modeFaults<Name extends string>(
  given: Given<Name | ModeSetting>,
  nameOf: (setting: Name | ModeSetting) => string,
): string[] {
  const set = (Object.keys(given) as Name[]).filter((name) => given[name] !== undefined);
  if (modeOf(given) !== 'node') {
    return set
      .filter((name) => nodeOnly.includes(name))
      .map((name) => `${nameOf(name)} is of no use without servers: those that the node joins`);
  }
  const faults = set
    .filter((name) =>
      serverOnly.some((own) => (own.endsWith('.') ? name.startsWith(own) : name === own)),
    )
    .map((name) => `${nameOf(name)} is a matter of servers, and of no use to a node alone`);
  if (given.server_only === true) {
    faults.push(
      `${nameOf('server_only')} and ${nameOf('servers')} exclude each other: a server alone, or a node alone`,
    );
  }
  return faults;
}

/** Says what the list of servers must be; `undefined` if it is valid. */
export function serversFault(value: unknown): string | undefined {
  const isRight =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= cliLimits.agent.serversMax &&
    new Set(value).size === value.length &&
    value.every(isServerAddress);
  if (isRight) return undefined;
  return `must be 1 to ${cliLimits.agent.serversMax} different addresses, such as "http://10.0.0.1:4720", without a path`;
}

function isServerAddress(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.pathname === '/' && `${url.username}${url.password}${url.search}${url.hash}` === '';
}
