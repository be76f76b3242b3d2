import type { CommandEntry } from '../command-entry.ts';

/** Who may do what and where: tokens, logins, policies, namespaces. */
export const accessCommands: readonly CommandEntry[] = [
  {
    words: ['acl', 'why'],
    summary: 'Say why a token may do something, or may not.',
    load: async () => (await import('../acl/why.ts')).aclWhy,
  },
  {
    words: ['acl', 'policy', 'test'],
    summary: 'Hold rules against what they are expected to allow and deny.',
    load: async () => (await import('../acl/policy-test.ts')).aclPolicyTest,
  },
  {
    words: ['acl', 'policy', 'diff'],
    summary: 'Say what other rules would change, and for which tokens.',
    load: async () => (await import('../acl/policy-diff.ts')).aclPolicyDiff,
  },
  {
    words: ['acl', 'bootstrap'],
    summary: 'Make the first token, which may do everything.',
    load: async () => (await import('../acl/bootstrap.ts')).aclBootstrap,
  },
  {
    words: ['acl', 'token', 'create'],
    summary: 'Create a token.',
    load: async () => (await import('../acl/token.ts')).tokenCreate,
  },
  {
    words: ['acl', 'token', 'read'],
    summary: 'Show a token.',
    load: async () => (await import('../acl/token.ts')).tokenRead,
  },
  {
    words: ['acl', 'token', 'update'],
    summary: 'Change a token.',
    load: async () => (await import('../acl/token.ts')).tokenUpdate,
  },
  {
    words: ['acl', 'token', 'clone'],
    summary: 'Make a token with the links of another.',
    load: async () => (await import('../acl/token.ts')).tokenClone,
  },
  {
    words: ['acl', 'token', 'delete'],
    summary: 'Delete a token.',
    load: async () => (await import('../acl/token.ts')).tokenDelete,
  },
  {
    words: ['acl', 'token', 'list'],
    summary: 'List the tokens.',
    load: async () => (await import('../acl/token.ts')).tokenList,
  },
  {
    words: ['acl', 'policy', 'create'],
    summary: 'Create a policy.',
    load: async () => (await import('../acl/policy.ts')).policyCreate,
  },
  {
    words: ['acl', 'policy', 'read'],
    summary: 'Show a policy.',
    load: async () => (await import('../acl/policy.ts')).policyRead,
  },
  {
    words: ['acl', 'policy', 'update'],
    summary: 'Change a policy.',
    load: async () => (await import('../acl/policy.ts')).policyUpdate,
  },
  {
    words: ['acl', 'policy', 'delete'],
    summary: 'Delete a policy.',
    load: async () => (await import('../acl/policy.ts')).policyDelete,
  },
  {
    words: ['acl', 'policy', 'list'],
    summary: 'List the policies.',
    load: async () => (await import('../acl/policy.ts')).policyList,
  },
  {
    words: ['acl', 'role', 'create'],
    summary: 'Create a role.',
    load: async () => (await import('../acl/role.ts')).roleCreate,
  },
  {
    words: ['acl', 'role', 'read'],
    summary: 'Show a role.',
    load: async () => (await import('../acl/role.ts')).roleRead,
  },
  {
    words: ['acl', 'role', 'update'],
    summary: 'Change a role.',
    load: async () => (await import('../acl/role.ts')).roleUpdate,
  },
  {
    words: ['acl', 'role', 'delete'],
    summary: 'Delete a role.',
    load: async () => (await import('../acl/role.ts')).roleDelete,
  },
  {
    words: ['acl', 'role', 'list'],
    summary: 'List the roles.',
    load: async () => (await import('../acl/role.ts')).roleList,
  },
  {
    words: ['acl', 'templated-policy', 'list'],
    summary: 'List the templates of policies.',
    load: async () => (await import('../acl/templated-policy.ts')).templatedPolicyList,
  },
  {
    words: ['acl', 'templated-policy', 'read'],
    summary: 'Show a template of policies.',
    load: async () => (await import('../acl/templated-policy.ts')).templatedPolicyRead,
  },
  {
    words: ['acl', 'templated-policy', 'preview'],
    summary: 'Show the rules that a template stands for.',
    load: async () => (await import('../acl/templated-policy.ts')).templatedPolicyPreview,
  },
  {
    words: ['namespace', 'create'],
    summary: 'Create a namespace.',
    load: async () => (await import('../namespace/realms.ts')).namespaceCommands.create,
  },
  {
    words: ['namespace', 'read'],
    summary: 'Show a namespace.',
    load: async () => (await import('../namespace/realms.ts')).namespaceCommands.read,
  },
  {
    words: ['namespace', 'update'],
    summary: 'Change a namespace.',
    load: async () => (await import('../namespace/realms.ts')).namespaceCommands.update,
  },
  {
    words: ['namespace', 'delete'],
    summary: 'Delete a namespace.',
    load: async () => (await import('../namespace/realms.ts')).namespaceCommands.delete,
  },
  {
    words: ['namespace', 'list'],
    summary: 'List the namespaces.',
    load: async () => (await import('../namespace/realms.ts')).namespaceCommands.list,
  },
  {
    words: ['partition', 'create'],
    summary: 'Create a partition.',
    load: async () => (await import('../namespace/realms.ts')).partitionCommands.create,
  },
  {
    words: ['partition', 'read'],
    summary: 'Show a partition.',
    load: async () => (await import('../namespace/realms.ts')).partitionCommands.read,
  },
  {
    words: ['partition', 'update'],
    summary: 'Change a partition.',
    load: async () => (await import('../namespace/realms.ts')).partitionCommands.update,
  },
  {
    words: ['partition', 'delete'],
    summary: 'Delete a partition.',
    load: async () => (await import('../namespace/realms.ts')).partitionCommands.delete,
  },
  {
    words: ['partition', 'list'],
    summary: 'List the partitions.',
    load: async () => (await import('../namespace/realms.ts')).partitionCommands.list,
  },
  {
    words: ['acl', 'auth-method', 'create'],
    summary: 'Create an auth method.',
    load: async () => (await import('../acl/auth-method.ts')).authMethodCreate,
  },
  {
    words: ['acl', 'auth-method', 'read'],
    summary: 'Show an auth method.',
    load: async () => (await import('../acl/auth-method.ts')).authMethodRead,
  },
  {
    words: ['acl', 'auth-method', 'update'],
    summary: 'Change an auth method.',
    load: async () => (await import('../acl/auth-method.ts')).authMethodUpdate,
  },
  {
    words: ['acl', 'auth-method', 'delete'],
    summary: 'Delete an auth method.',
    load: async () => (await import('../acl/auth-method.ts')).authMethodDelete,
  },
  {
    words: ['acl', 'auth-method', 'list'],
    summary: 'List the auth methods.',
    load: async () => (await import('../acl/auth-method.ts')).authMethodList,
  },
  {
    words: ['acl', 'binding-rule', 'create'],
    summary: 'Create a binding rule.',
    load: async () => (await import('../acl/binding-rule.ts')).bindingRuleCreate,
  },
  {
    words: ['acl', 'binding-rule', 'read'],
    summary: 'Show a binding rule.',
    load: async () => (await import('../acl/binding-rule.ts')).bindingRuleRead,
  },
  {
    words: ['acl', 'binding-rule', 'update'],
    summary: 'Change a binding rule.',
    load: async () => (await import('../acl/binding-rule.ts')).bindingRuleUpdate,
  },
  {
    words: ['acl', 'binding-rule', 'delete'],
    summary: 'Delete a binding rule.',
    load: async () => (await import('../acl/binding-rule.ts')).bindingRuleDelete,
  },
  {
    words: ['acl', 'binding-rule', 'list'],
    summary: 'List the binding rules.',
    load: async () => (await import('../acl/binding-rule.ts')).bindingRuleList,
  },
  {
    words: ['login'],
    summary: 'Log in and get a token.',
    load: async () => (await import('../login/login.ts')).login,
  },
  {
    words: ['logout'],
    summary: 'End the token of a login.',
    load: async () => (await import('../login/logout.ts')).logout,
  },
];
