import { commands } from './commands.generated.ts';
import { globalOptions } from './definition.ts';
import { foreignWord } from './foreign-words.ts';
import { groups } from './groups.ts';
import { normalizeWords, plainWords } from './words.ts';

/**
 * Short forms of commands, and the words of other control planes for them. No alias is a command, and each of the
 * commands exists. An alias that is the first word of a group gives way to the group and its commands: "plan web.hcl" is
 * "job plan web.hcl", and "plan list" is itself. docs/reference/commands.md lists them.
 */
export const aliases: Readonly<Record<string, string>> = {
  run: 'job run',
  plan: 'job plan',
  stop: 'job stop',
  validate: 'job validate',
  inspect: 'job inspect',
  init: 'job init',
  logs: 'alloc logs',
  exec: 'alloc exec',
  fs: 'alloc fs',
  members: 'server members',
  debug: 'operator debug',
  reload: 'agent reload',
  info: 'agent-info',
  services: 'service list',
  'alloc-status': 'alloc status',
  'eval-status': 'eval status',
  'node-status': 'node status',
  'node-drain': 'node drain',
  'server-members': 'server members',
  'job list': 'job status',
  'job logs': 'alloc logs -job',
  'alloc list': 'alloc status',
  'node list': 'node status',
  'node info': 'node status',
  'service status': 'service info',
  'service read': 'service info',
  'deployment info': 'deployment status',
  'eval info': 'eval status',
  'event follow': 'event stream',
  'acl token self': 'acl token read',
  'acl token info': 'acl token read',
  'acl policy info': 'acl policy read',
  'acl role info': 'acl role read',
  'acl auth-method info': 'acl auth-method read',
  'acl binding-rule info': 'acl binding-rule read',
  'namespace status': 'namespace read',
  'namespace info': 'namespace read',
  'namespace inspect': 'namespace read -json',
  'node pool read': 'node pool info',
  'node pool create': 'node pool apply',
  'job policy create': 'job policy apply',
  'job policy info': 'job policy read',
  'var read': 'var get',
  'var delete': 'var purge',
  'server list': 'server members',
  'config validate': 'agent validate',
  'catalog services': 'service list',
  'catalog nodes': 'node status',
  'intention list': 'config list service-intentions',
  'snapshot save': 'operator snapshot save',
  'snapshot restore': 'operator snapshot restore',
  'snapshot inspect': 'operator snapshot inspect',
  'operator root keyring list': 'operator keyring list',
  'operator root keyring rotate': 'operator keyring rotate',
  'operator raft list-peers': 'server members',
  'operator raft transfer-leadership': 'operator leader step-down',
  'operator autopilot health': 'server health',
  'operator autopilot state': 'server health',
};

const wordsOf = new Map(Object.keys(aliases).map((name) => [name, name.split(' ')]));

/** The words as they were typed, with the command in place of its alias. */
export function withoutAlias(given: readonly string[]): readonly string[] {
  const all = plainWords(normalizeWords(given), globalOptions);
  const plain = all[0]?.word === 'help' ? all.slice(1) : all;
  const spoken = plain.map(({ word }) => word);
  const [name, length = 0] = longest(spoken) ?? [];
  const foreign = foreignWord(spoken)?.name.split(' ') ?? [];
  if (name === undefined || foreign.length > length || isOfGroup(name, spoken)) return given;
  const places = plain.slice(0, length).map(({ position }) => position);
  return given.flatMap((word, at) => {
    if (at === places[0]) return aliases[name]!.split(' ');
    return places.includes(at) ? [] : [word];
  });
}

/** Whether the words are the group of that name, or a command in it. */
function isOfGroup(name: string, spoken: readonly string[]): boolean {
  if (!Object.hasOwn(groups, name)) return false;
  if (spoken.length === name.split(' ').length) return true;
  return commands.some(
    ({ words }) =>
      words.join(' ').startsWith(`${name} `) && words.every((word, at) => spoken[at] === word),
  );
}

/** The longest alias that the words begin with. */
function longest(given: readonly string[]): readonly [name: string, length: number] | undefined {
  let best: readonly [string, number] | undefined;
  for (const [name, words] of wordsOf) {
    const fits = words.every((word, at) => given[at] === word);
    if (fits && words.length > (best?.[1] ?? 0)) best = [name, words.length];
  }
  return best;
}
