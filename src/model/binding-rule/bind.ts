import {
  type Identity,
  type IdentityShape,
  selectorFault,
  selects,
} from '../auth-method/identity.ts';
import {
  parseTemplate,
  renderSample,
  renderTemplate,
  type Template,
} from '../auth-method/template.ts';
import type { Fault } from '../errors.ts';
import { below, faultAt } from '../path.ts';
import { type BindingRule, type BindType, bindTypes } from './binding-rule.ts';

/** What one rule gives an identity, before anybody looked whether it exists. */
export interface Bound {
  readonly type: BindType;
  /** As the rule writes it; `lowered` is what the contract asks for first. */
  readonly name: string;
  readonly lowered: string;
  /** The template's variable, of `templated-policy`. */
  readonly variable: string | undefined;
}

const identityName = /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/;
const linkName = /^[A-Za-z0-9_-]{1,256}$/;
const policyName = /^[A-Za-z0-9_-]{1,128}$|^builtin\/[a-z-]{1,120}$/;
const templateName = /^builtin\/[a-z-]{1,120}$/;

/** Whether a computed name can be one of its kind. */
function fits(type: BindType, name: string): boolean {
  switch (type) {
    case 'service':
    case 'node':
      return name.length <= 256 && identityName.test(name);
    case 'role':
      return linkName.test(name);
    case 'policy':
      return policyName.test(name);
    case 'templated-policy':
      return templateName.test(name);
  }
}

/** Rules of a binding rule over the identity its method gives. Source: facts/registry.md §2.6. */
export function bindingRuleFaults(
  rule: Pick<BindingRule, 'Selector' | 'BindType' | 'BindName' | 'BindVars'>,
  shape: IdentityShape,
): Fault[] {
  const faults: Fault[] = [];
  const report = (field: string, message: string) =>
    faults.push(faultAt(below(null, ...field.split('.')), message));
  const fault = selectorFault(rule.Selector, shape);
  if (fault !== undefined) report('Selector', `is wrong: ${fault}`);
  if (!(bindTypes as readonly string[]).includes(rule.BindType)) report('BindType', 'is required');
  if (rule.BindName === '') {
    report('BindName', 'is required');
  } else {
    checkTemplate('BindName', rule.BindName, (sample) => fits(rule.BindType, sample.toLowerCase()));
  }
  const variable = rule.BindVars?.Name ?? '';
  if (rule.BindVars !== null && rule.BindType !== 'templated-policy') {
    report('BindVars', 'can only be given with the bind type templated-policy');
  } else if (variable !== '') {
    checkTemplate('BindVars.Name', variable, () => true);
  }
  return faults;

  function checkTemplate(field: string, text: string, isRight: (sample: string) => boolean): void {
    const template = parseTemplate(text, shape.variables);
    if (typeof template === 'string') report(field, template);
    else if (rule.BindType !== undefined && !isRight(renderSample(template))) {
      report(field, `gives no name that a ${rule.BindType || 'binding'} can have`);
    }
  }
}

/**
 * What the rules give an identity: every rule that matches adds to it. A sentence is why the login
 * fails: a rule that matches must give a right name.
 */
export function bindingsOf(
  rules: Iterable<BindingRule>,
  shape: IdentityShape,
  identity: Identity,
): readonly Bound[] | string {
  const bound: Bound[] = [];
  for (const rule of rules) {
    if (!selects(rule.Selector, shape, identity)) continue;
    const template = parseTemplate(rule.BindName, shape.variables);
    // The method's mappings may have changed since the rule was written.
    if (typeof template === 'string') return `the binding rule ${rule.ID} ${template}`;
    const name = renderTemplate(template, identity.variables);
    const type = rule.BindType as BindType;
    if (!fits(type, name.toLowerCase())) {
      return `the binding rule ${rule.ID} gives "${name.slice(0, 64)}", which no ${type} can be named`;
    }
    const variable = variableOf(rule, shape, identity);
    bound.push({ type, name, lowered: name.toLowerCase(), variable });
  }
  return bound;
}

function variableOf(
  { BindVars }: BindingRule,
  shape: IdentityShape,
  identity: Identity,
): string | undefined {
  if (BindVars === null || BindVars.Name === '') return undefined;
  const template: Template | string = parseTemplate(BindVars.Name, shape.variables);
  return typeof template === 'string' ? undefined : renderTemplate(template, identity.variables);
}
