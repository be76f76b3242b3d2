import { type AclPolicy, AclPolicySchema } from '../model/acl-policy/acl-policy.ts';
import { Text, Type } from '../model/schema.ts';
import {
  type TemplatedPolicy,
  TemplatedPolicySchema,
} from '../model/templated-policy/templated-policy.ts';
import { aclRead } from './acl.ts';
import { endpoints, typed } from './endpoint.ts';

const PreviewSchema = Type.Object({ Name: Text(), Partition: Text(), Namespace: Text() });

/** The API's description has one path and its sample another, so both are served. */
const preview = {
  kind: 'write',
  methods: ['POST'],
  summary: 'Preview the policy of a template',
  body: { schema: PreviewSchema, unknown: 'refuse', optional: true },
  answer: typed<AclPolicy>(AclPolicySchema),
  permission: aclRead,
} as const;

export const templatedPolicyEndpoints = endpoints(
  { group: 'templated-policies', noun: 'templated-policy', family: 'registry' },
  {
    list: {
      kind: 'read',
      path: '/v1/acl/templated-policies',
      summary: 'List templates of policies by name',
      answer: Type.Record(Type.String(), TemplatedPolicySchema),
      permission: aclRead,
    },
    read: {
      kind: 'read',
      path: '/v1/acl/templated-policy/name/:name+',
      summary: 'Read a template of policies',
      answer: typed<TemplatedPolicy>(TemplatedPolicySchema),
      permission: aclRead,
    },
    preview: { ...preview, path: '/v1/acl/templated-policy/preview/:name+' },
    previewByShortPath: { ...preview, path: '/v1/acl-templated/preview/:name+' },
  },
);
