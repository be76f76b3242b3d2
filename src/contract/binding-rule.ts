import { BindingRuleAnswerSchema, BindingRuleSchema } from '../model/binding-rule/binding-rule.ts';
import { Type } from '../model/schema.ts';
import { aclList, aclRead, aclWrite } from './acl.ts';
import { endpoints } from './endpoint.ts';
import { text } from './query.ts';
import { sortsOf } from './sorts.ts';

const body = {
  example: {
    AuthMethod: 'ci',
    Selector: 'value.project == "web"',
    BindType: 'policy',
    BindName: 'web-read',
  },
  schema: BindingRuleSchema,
  unknown: 'refuse',
  checkValues: false,
} as const;

const answer = BindingRuleAnswerSchema;

export const bindingRuleEndpoints = endpoints(
  { group: 'binding-rules', noun: 'binding-rule', family: 'registry' },
  {
    create: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/binding-rule',
      summary: 'Create a binding rule',
      body,
      answer,
      permission: aclWrite,
    },
    read: {
      kind: 'read',
      path: '/v1/acl/binding-rule/:rule_id',
      summary: 'Read a binding rule',
      blocking: true,
      answer,
      permission: aclRead,
    },
    update: {
      kind: 'write',
      methods: ['PUT'],
      path: '/v1/acl/binding-rule/:rule_id',
      summary: 'Replace a binding rule',
      body,
      answer,
      permission: aclWrite,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/acl/binding-rule/:rule_id',
      summary: 'Delete a binding rule',
      answer: Type.Boolean(),
      permission: aclWrite,
    },
    list: {
      kind: 'list',
      path: '/v1/acl/binding-rules',
      summary: 'List binding rules',
      blocking: true,
      query: {
        authmethod: text('Only rules of this method.'),
      },
      answer,
      filter: BindingRuleSchema,
      sorts: sortsOf.bindingRules,
      permission: aclList,
    },
  },
);
