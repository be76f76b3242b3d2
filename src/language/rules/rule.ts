import type { Position } from '../hcl/source.ts';

/**
 * Policy rules as plain data, in the order of the text. The authorizer decides how they work together.
 * Source: docs/reference/rules.md.
 */
export interface Rules {
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly resource: RuleResource;
  /**
   * What `name` covers: that name, all that begin with it, all that fit it with `*` for any
   * characters, or everything (`name` is then empty): resources without names, and the forms
   * `agent { … }` and `node { … }`, which are as wide as an empty prefix.
   */
  readonly match: 'exact' | 'prefix' | 'glob' | 'all';
  readonly name: string;
  /** The policy as written; `undefined` where only capabilities are given. */
  readonly access: Access | undefined;
  /** Only on a service: its own policy for intentions. */
  readonly intentions: Access | undefined;
  /**
   * What is allowed by name, sorted: the capabilities given and those that the policy stands for.
   * `deny` among them denies all. Empty on resources that have none.
   */
  readonly capabilities: readonly string[];
  /** The blocks around the rule; `undefined` is where the policy itself lives. */
  readonly partition: ScopeName | undefined;
  readonly namespace: ScopeName | undefined;
  /** Where the rule begins. */
  readonly position: Position;
  /** How it is written, shortened to `rulesLimits.ruleTextLengthMax`. */
  readonly text: string;
}

export type RuleResource =
  | ('acl' | 'agent' | 'event' | 'host_volume' | 'identity' | 'key' | 'keyring' | 'mesh')
  | ('namespace' | 'node')
  | ('node_pool' | 'operator' | 'peering' | 'plugin' | 'query' | 'quota' | 'service' | 'session')
  | 'variable';

/** `list` on keys and plugins only; `scale` on namespaces only. */
export type Access = 'deny' | 'list' | 'read' | 'scale' | 'write';

export interface ScopeName {
  readonly match: 'exact' | 'prefix' | 'glob';
  readonly name: string;
}
