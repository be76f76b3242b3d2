import type { AclPolicy } from '../acl-policy/acl-policy.ts';
import { isIdentityName } from '../acl-token/identities.ts';
import { invalid } from '../errors.ts';
import type { Scope } from '../namespace/namespace.ts';
import { templatedPolicy } from './synthetic.ts';
import { type BuiltinTemplate, renderTemplate, takesName } from './templated-policy.ts';

/**
 * The policy that a token with this template would have. Nothing is stored. A template without
 * variables ignores a name. Source: docs/contract/access-control.md#preview-a-templated-policy.
 * @throws RosterError `invalid-body`
 */
export function previewTemplate(template: BuiltinTemplate, name: string, scope: Scope): AclPolicy {
  if (takesName(template)) {
    const message =
      name === ''
        ? `Name is required by ${template.TemplateName}`
        : isIdentityName(name)
          ? undefined
          : 'Name must be 1 to 256 characters: lowercase letters, digits, "-" and "_", beginning and ending with a letter or digit';
    if (message !== undefined) throw invalid('invalid-body', [{ pointer: '/Name', message }]);
  }
  return templatedPolicy(template.TemplateName, renderTemplate(template, name), [], scope);
}
