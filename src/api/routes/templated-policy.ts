import { AclPolicySchema } from '../../model/acl-policy/acl-policy.ts';
import { refusal } from '../../model/errors.ts';
import { Text, Type } from '../../model/schema.ts';
import { previewTemplate } from '../../model/templated-policy/preview.ts';
import {
  builtinTemplates,
  presentedTemplate,
  TemplatedPolicySchema,
  templateNamed,
} from '../../model/templated-policy/templated-policy.ts';
import { requireScope } from '../../server/acl/scope.ts';
import type { ServerContext } from '../../server/context.ts';
import { type Input, type Route, readRoute, writeRoute } from '../route.ts';
import { aclRead, scopeOf } from './acl.ts';

const family = 'registry';
const noun = 'templated-policy';

const PreviewSchema = Type.Object({ Name: Text(), Partition: Text(), Namespace: Text() });
type Preview = Input<Record<never, never>, { readonly Name?: string }>;

/**
 * Two spellings of one endpoint.
 * Source: docs/contract/access-control.md#preview-a-templated-policy.
 */
const previewPaths = [
  '/v1/acl/templated-policy/preview/:name+',
  '/v1/acl-templated/preview/:name+',
];

/** Source: docs/contract/access-control.md#templated-policies. */
export function templatedPolicyRoutes({ state }: Pick<ServerContext, 'state'>): Route[] {
  const requireTemplate = (name: string) => {
    const found = templateNamed(name);
    if (found === undefined) throw refusal('template-not-found', { template: name });
    return found;
  };
  return [
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/templated-policies', noun, family },
      summary: 'All templates of policies, by name',
      answer: Type.Record(Type.String(), TemplatedPolicySchema),
      permission: aclRead,
      handle: () =>
        Object.fromEntries(
          builtinTemplates.map((one) => [one.TemplateName, presentedTemplate(one)]),
        ),
    }),
    readRoute({
      ...{ method: 'GET', path: '/v1/acl/templated-policy/name/:name+', noun, family },
      summary: 'Read a template of policies',
      answer: TemplatedPolicySchema,
      permission: aclRead,
      handle: ({ parameters }) => presentedTemplate(requireTemplate(parameters.name!)),
    }),
    ...previewPaths.map((path) =>
      writeRoute({
        ...{ method: 'POST', path, noun, family },
        summary: 'The policy that a template stands for',
        body: { schema: PreviewSchema, unknown: 'refuse', optional: true },
        answer: AclPolicySchema,
        permission: aclRead,
        handle: async (input: Preview) => {
          const template = requireTemplate(input.parameters.name!);
          requireScope(state.read(), input);
          return { value: previewTemplate(template, input.body.Name ?? '', scopeOf(input)) };
        },
      }),
    ),
  ];
}
