import { templatedPolicyEndpoints as contract } from '../../contract/templated-policy.ts';
import { refusal } from '../../model/errors.ts';
import { previewTemplate } from '../../model/templated-policy/preview.ts';
import {
  builtinTemplates,
  presentedTemplate,
  templateNamed,
} from '../../model/templated-policy/templated-policy.ts';
import { requireScope } from '../../server/acl/scope.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveRead, serveWrite } from '../serve.ts';
import { scopeOf } from './acl.ts';

/** Source: docs/contract/access-control.md#templated-policies. */
export function templatedPolicyRoutes({ state }: Pick<ServerContext, 'state'>): Route[] {
  const requireTemplate = (name: string) => {
    const found = templateNamed(name);
    if (found === undefined) throw refusal('template-not-found', { template: name });
    return found;
  };
  const preview = async (input: InputOf<typeof contract.preview>) => {
    const template = requireTemplate(input.parameters.name);
    requireScope(state.read(), input);
    return { value: previewTemplate(template, input.body.Name ?? '', scopeOf(input)) };
  };
  return [
    ...serveRead(contract.list, () =>
      Object.fromEntries(builtinTemplates.map((one) => [one.TemplateName, presentedTemplate(one)])),
    ),
    ...serveRead(contract.read, ({ parameters }) =>
      presentedTemplate(requireTemplate(parameters.name!)),
    ),
    ...serveWrite(contract.preview, preview),
    ...serveWrite(contract.previewByShortPath, preview),
  ];
}
