import type { CommandEntry } from '../command-entry.ts';
import { nounEntries } from './noun-entries.ts';

const token = {
  words: ['acl', 'token'],
  one: 'a token',
  many: 'the tokens',
  load: async () => (await import('../acl/token.ts')).tokens,
};

/** Access control: tokens, logins, policies, namespaces. */
export const accessCommands: readonly CommandEntry[] = [
  {
    words: ['acl', 'why'],
    summary: 'Say why a token has a permission, or lacks it.',
    load: async () => (await import('../acl/why.ts')).aclWhy,
  },
  {
    words: ['acl', 'policy', 'test'],
    summary: 'Test rules against the permissions that they should allow and deny.',
    load: async () => (await import('../acl/policy-test.ts')).aclPolicyTest,
  },
  {
    words: ['acl', 'policy', 'diff'],
    summary: 'Show what a change of rules would allow and deny, and for which tokens.',
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
  ...nounEntries(token, ['update']),
  {
    words: ['acl', 'token', 'clone'],
    summary: 'Make a token with the links of another.',
    load: async () => (await import('../acl/token.ts')).tokenClone,
  },
  ...nounEntries(token, ['delete', 'list']),
  ...nounEntries({
    words: ['acl', 'policy'],
    one: 'a policy',
    many: 'the policies',
    load: async () => (await import('../acl/policy.ts')).policies,
  }),
  ...nounEntries({
    words: ['acl', 'role'],
    one: 'a role',
    many: 'the roles',
    load: async () => (await import('../acl/role.ts')).roles,
  }),
  {
    words: ['acl', 'templated-policy', 'list'],
    summary: 'List the templated policies.',
    load: async () => (await import('../acl/templated-policy.ts')).templatedPolicyList,
  },
  {
    words: ['acl', 'templated-policy', 'read'],
    summary: 'Show a templated policy.',
    load: async () => (await import('../acl/templated-policy.ts')).templatedPolicyRead,
  },
  {
    words: ['acl', 'templated-policy', 'preview'],
    summary: 'Show the rules that a templated policy grants.',
    load: async () => (await import('../acl/templated-policy.ts')).templatedPolicyPreview,
  },
  ...nounEntries({
    words: ['namespace'],
    one: 'a namespace',
    many: 'the namespaces',
    load: async () => (await import('../namespace/scopes.ts')).namespaces,
  }),
  ...nounEntries({
    words: ['partition'],
    one: 'a partition',
    many: 'the partitions',
    load: async () => (await import('../namespace/scopes.ts')).partitions,
  }),
  ...nounEntries({
    words: ['acl', 'auth-method'],
    one: 'an auth method',
    many: 'the auth methods',
    load: async () => (await import('../acl/auth-method.ts')).authMethods,
  }),
  ...nounEntries({
    words: ['acl', 'binding-rule'],
    one: 'a binding rule',
    many: 'the binding rules',
    load: async () => (await import('../acl/binding-rule.ts')).bindingRules,
  }),
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
