import type { Command } from './definition.ts';

export interface CommandEntry {
  /** `['job', 'run']` */
  readonly words: readonly string[];
  readonly summary: string;
  /** A command's code is only loaded when it is used. */
  readonly load: () => Promise<Command>;
}

/** The words that stand before commands, and what they are about. */
export const groups: Readonly<Record<string, string>> = {
  job: 'Run, look at and stop jobs.',
  alloc: 'Look at allocations and read their logs.',
  node: 'Look at the machines that run them.',
  eval: 'Look at the decisions of the scheduler.',
  'acl auth-method': 'Say how people and machines log in.',
  'acl binding-rule': 'Say what a login gives.',
  operator: 'Look after the control plane itself.',
  'operator keyring': 'The keys that secrets are sealed under.',
  acl: 'Say who may do what.',
  'acl token': 'Hand out and look at tokens.',
  'acl policy': 'Write the rules that tokens are judged by.',
  'acl role': 'Bundle policies under a name.',
  'acl templated-policy': 'Look at the builtin templates of policies.',
  namespace: 'Keep realms of names apart.',
  partition: 'Keep realms of namespaces apart.',
};

export const commands: readonly CommandEntry[] = [
  {
    words: ['agent'],
    summary: 'Start an agent: server and node in one process.',
    load: async () => (await import('./agent/agent.ts')).agent,
  },
  {
    words: ['job', 'run'],
    summary: 'Register or update a job and watch it start.',
    load: async () => (await import('./job/run.ts')).jobRun,
  },
  {
    words: ['job', 'status'],
    summary: 'List the jobs, or show how one fares.',
    load: async () => (await import('./job/status.ts')).jobStatus,
  },
  {
    words: ['job', 'stop'],
    summary: 'Stop a job and watch it end.',
    load: async () => (await import('./job/stop.ts')).jobStop,
  },
  {
    words: ['job', 'inspect'],
    summary: 'Print the job as it is registered, as JSON.',
    load: async () => (await import('./job/inspect.ts')).jobInspect,
  },
  {
    words: ['alloc', 'status'],
    summary: 'List the allocations, or show how one fares.',
    load: async () => (await import('./alloc/status.ts')).allocStatus,
  },
  {
    words: ['alloc', 'logs'],
    summary: 'Print what a task wrote, and follow it.',
    load: async () => (await import('./alloc/logs.ts')).allocLogs,
  },
  {
    words: ['node', 'status'],
    summary: 'List the nodes, or show how one fares.',
    load: async () => (await import('./node/status.ts')).nodeStatus,
  },
  {
    words: ['eval', 'status'],
    summary: 'Show what an evaluation decided.',
    load: async () => (await import('./eval/status.ts')).evalStatus,
  },
  {
    words: ['acl', 'why'],
    summary: 'Say why a token may do something, or may not.',
    load: async () => (await import('./acl/why.ts')).aclWhy,
  },
  {
    words: ['acl', 'policy', 'test'],
    summary: 'Hold rules against what they are expected to allow and deny.',
    load: async () => (await import('./acl/policy-test.ts')).aclPolicyTest,
  },
  {
    words: ['acl', 'policy', 'diff'],
    summary: 'Say what other rules would change, and for which tokens.',
    load: async () => (await import('./acl/policy-diff.ts')).aclPolicyDiff,
  },
  {
    words: ['acl', 'bootstrap'],
    summary: 'Make the first token, which may do everything.',
    load: async () => (await import('./acl/bootstrap.ts')).aclBootstrap,
  },
  {
    words: ['acl', 'token', 'create'],
    summary: 'Create a token.',
    load: async () => (await import('./acl/token.ts')).tokenCreate,
  },
  {
    words: ['acl', 'token', 'read'],
    summary: 'Show a token.',
    load: async () => (await import('./acl/token.ts')).tokenRead,
  },
  {
    words: ['acl', 'token', 'update'],
    summary: 'Change a token.',
    load: async () => (await import('./acl/token.ts')).tokenUpdate,
  },
  {
    words: ['acl', 'token', 'clone'],
    summary: 'Make a token with the links of another.',
    load: async () => (await import('./acl/token.ts')).tokenClone,
  },
  {
    words: ['acl', 'token', 'delete'],
    summary: 'Delete a token.',
    load: async () => (await import('./acl/token.ts')).tokenDelete,
  },
  {
    words: ['acl', 'token', 'list'],
    summary: 'List the tokens.',
    load: async () => (await import('./acl/token.ts')).tokenList,
  },
  {
    words: ['acl', 'policy', 'create'],
    summary: 'Create a policy.',
    load: async () => (await import('./acl/policy.ts')).policyCreate,
  },
  {
    words: ['acl', 'policy', 'read'],
    summary: 'Show a policy.',
    load: async () => (await import('./acl/policy.ts')).policyRead,
  },
  {
    words: ['acl', 'policy', 'update'],
    summary: 'Change a policy.',
    load: async () => (await import('./acl/policy.ts')).policyUpdate,
  },
  {
    words: ['acl', 'policy', 'delete'],
    summary: 'Delete a policy.',
    load: async () => (await import('./acl/policy.ts')).policyDelete,
  },
  {
    words: ['acl', 'policy', 'list'],
    summary: 'List the policies.',
    load: async () => (await import('./acl/policy.ts')).policyList,
  },
  {
    words: ['acl', 'role', 'create'],
    summary: 'Create a role.',
    load: async () => (await import('./acl/role.ts')).roleCreate,
  },
  {
    words: ['acl', 'role', 'read'],
    summary: 'Show a role.',
    load: async () => (await import('./acl/role.ts')).roleRead,
  },
  {
    words: ['acl', 'role', 'update'],
    summary: 'Change a role.',
    load: async () => (await import('./acl/role.ts')).roleUpdate,
  },
  {
    words: ['acl', 'role', 'delete'],
    summary: 'Delete a role.',
    load: async () => (await import('./acl/role.ts')).roleDelete,
  },
  {
    words: ['acl', 'role', 'list'],
    summary: 'List the roles.',
    load: async () => (await import('./acl/role.ts')).roleList,
  },
  {
    words: ['acl', 'templated-policy', 'list'],
    summary: 'List the templates of policies.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyList,
  },
  {
    words: ['acl', 'templated-policy', 'read'],
    summary: 'Show a template of policies.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyRead,
  },
  {
    words: ['acl', 'templated-policy', 'preview'],
    summary: 'Show the rules that a template stands for.',
    load: async () => (await import('./acl/templated-policy.ts')).templatedPolicyPreview,
  },
  {
    words: ['namespace', 'create'],
    summary: 'Create a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.create,
  },
  {
    words: ['namespace', 'read'],
    summary: 'Show a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.read,
  },
  {
    words: ['namespace', 'update'],
    summary: 'Change a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.update,
  },
  {
    words: ['namespace', 'delete'],
    summary: 'Delete a namespace.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.delete,
  },
  {
    words: ['namespace', 'list'],
    summary: 'List the namespaces.',
    load: async () => (await import('./namespace/realms.ts')).namespaceCommands.list,
  },
  {
    words: ['partition', 'create'],
    summary: 'Create a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.create,
  },
  {
    words: ['partition', 'read'],
    summary: 'Show a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.read,
  },
  {
    words: ['partition', 'update'],
    summary: 'Change a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.update,
  },
  {
    words: ['partition', 'delete'],
    summary: 'Delete a partition.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.delete,
  },
  {
    words: ['partition', 'list'],
    summary: 'List the partitions.',
    load: async () => (await import('./namespace/realms.ts')).partitionCommands.list,
  },
  {
    words: ['acl', 'auth-method', 'create'],
    summary: 'Create an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodCreate,
  },
  {
    words: ['acl', 'auth-method', 'read'],
    summary: 'Show an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodRead,
  },
  {
    words: ['acl', 'auth-method', 'update'],
    summary: 'Change an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodUpdate,
  },
  {
    words: ['acl', 'auth-method', 'delete'],
    summary: 'Delete an auth method.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodDelete,
  },
  {
    words: ['acl', 'auth-method', 'list'],
    summary: 'List the auth methods.',
    load: async () => (await import('./acl/auth-method.ts')).authMethodList,
  },
  {
    words: ['acl', 'binding-rule', 'create'],
    summary: 'Create a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleCreate,
  },
  {
    words: ['acl', 'binding-rule', 'read'],
    summary: 'Show a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleRead,
  },
  {
    words: ['acl', 'binding-rule', 'update'],
    summary: 'Change a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleUpdate,
  },
  {
    words: ['acl', 'binding-rule', 'delete'],
    summary: 'Delete a binding rule.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleDelete,
  },
  {
    words: ['acl', 'binding-rule', 'list'],
    summary: 'List the binding rules.',
    load: async () => (await import('./acl/binding-rule.ts')).bindingRuleList,
  },
  {
    words: ['login'],
    summary: 'Log in and get a token.',
    load: async () => (await import('./login/login.ts')).login,
  },
  {
    words: ['logout'],
    summary: 'End the token of a login.',
    load: async () => (await import('./login/logout.ts')).logout,
  },
  {
    words: ['operator', 'keyring', 'list'],
    summary: 'List the keys of the keyring.',
    load: async () => (await import('./operator/keyring.ts')).keyringList,
  },
  {
    words: ['operator', 'keyring', 'rotate'],
    summary: 'Make a new key and seal every secret anew.',
    load: async () => (await import('./operator/keyring.ts')).keyringRotate,
  },
  {
    words: ['version'],
    summary: 'Print the version of this program.',
    load: async () => (await import('./version.ts')).version,
  },
  {
    words: ['completion'],
    summary: 'Print a completion script for your shell.',
    load: async () => (await import('./completion/completion.ts')).completion,
  },
];
