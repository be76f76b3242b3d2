/**
 * Words of other products' job files that have another name here. Every refusal of a word asks this table, so
 * that a block in HCL, a field in JSON, a choice, a reference and a function of a template get the same
 * answer.
 */

/** The kind of a word. */
export type WordKind = 'block' | 'field' | 'provider' | 'function';

type Words = Readonly<Record<string, string>>;

const isHere = (name: string): string => `here it is "${name}"`;
const noEngine = 'nothing here talks to a secrets engine: keep secrets in variables, and use "var"';
const noKeys = 'there is no key-value store here: keep it in a variable, and use "var"';

/** Each answer follows a semicolon. */
const table: Readonly<Record<WordKind, Words>> = {
  block: {
    vault: isHere('secrets'),
    consul: isHere('registry'),
    vault_token: isHere('secrets_token'),
    consul_token: isHere('registry_token'),
    vault_namespace: isHere('secrets_namespace'),
    consul_namespace: 'here it is the "namespace" of the "registry" of a group',
  },
  // In small letters, since names of fields may be written in any case.
  field: {
    vault: isHere('Secrets'),
    consul: isHere('Registry'),
    vaulttoken: isHere('SecretsToken'),
    consultoken: isHere('RegistryToken'),
    vaultnamespace: isHere('SecretsNamespace'),
    consulnamespace: 'here it is the "Namespace" of the "Registry" of a group',
  },
  provider: {
    nomad: 'here it is "scheduler", and may be left out',
    consul: 'here it is "registry", and may be left out',
  },
  function: {
    nomadVar: isHere('var'),
    nomadVarExists: isHere('varExists'),
    nomadVarList: isHere('varList'),
    nomadVarListSafe: isHere('varList'),
    nomadService: isHere('service'),
    nomadServices: isHere('services'),
    secret: noEngine,
    secrets: noEngine,
    pkiCert: noEngine,
    key: noKeys,
    keyExists: noKeys,
    keyExistsGet: noKeys,
    keyOrDefault: noKeys,
    ls: noKeys,
    safeLs: noKeys,
    safeTree: noKeys,
    tree: noKeys,
    connect: 'there is no mesh here: use "service"',
    caLeaf: 'there is no mesh here, and so no certificate of one',
    caRoots: 'there is no mesh here, and so no certificate of one',
    node: 'here "env" knows the node by the variables of the task',
    nodes: 'templates here do not see the nodes',
    datacenters: 'templates here do not see the datacenters',
  },
};

/** The end of a message that refuses the word: `; here it is "secrets"`, or ''. */
export function fieldWord(kind: WordKind, word: string): string {
  const words = table[kind];
  return Object.hasOwn(words, word) ? `; ${words[word]}` : '';
}

/** Variables of another product in a text, such as `NOMAD_PORT_http`. */
export const foreignVariable = /\bNOMAD_[A-Za-z0-9_]+/g;

/** Prefixes of attributes of other products, with the prefixes here. */
const attributePrefixes: Words = {
  'attr.nomad.': 'attr.roster.',
  'attr.vault.': 'attr.secrets.',
};

/** The name here of a reference or variable of another product, if any. */
export function ourReference(name: string): string | undefined {
  if (name.startsWith('NOMAD_')) return `ROSTER_${name.slice('NOMAD_'.length)}`;
  const prefix = Object.keys(attributePrefixes).find((one) => name.startsWith(one));
  return prefix === undefined ? undefined : attributePrefixes[prefix]! + name.slice(prefix.length);
}
