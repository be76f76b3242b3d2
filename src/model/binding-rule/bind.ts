import { isPolicyName } from '../acl-policy/write.ts';
import { isIdentityName } from '../acl-token/identities.ts';
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
import { checkValues } from '../check-values.ts';
import type { Fault } from '../errors.ts';
import { below, faultAt, quote } from '../path.ts';
import { takesName, templateNamed } from '../templated-policy/templated-policy.ts';
import { type BindingRule, BindingRuleSchema, type BindType, bindTypes } from './binding-rule.ts';

/** The grant of a rule to an identity, before anybody checks that its target exists. */
export interface Bound {
  readonly type: BindType;
  /** The name as the rule makes it; `lowered`, its lower-case form, is looked up first. */
  readonly name: string;
  readonly lowered: string;
  /** The variable of the template, for `templated-policy`. */
  readonly variable: string | undefined;
}

const roleName = /^[A-Za-z0-9_-]{1,256}$/;
const templateName = /^builtin\/[a-z-]{1,120}$/;

/** Whether a computed name is a valid name of its kind. */
function fits(type: BindType, name: string): boolean {
  switch (type) {
    case 'service':
    case 'node':
      return isIdentityName(name);
    case 'role':
      return roleName.test(name);
    case 'policy':
      return isPolicyName(name);
    case 'templated-policy':
      return templateName.test(name);
  }
}

/**
 * The faults of a binding rule of its method. Without the `shape` of the method's identities the parts that
 * depend on it are not checked. Source: docs/behaviour/access-control.md#bind-names.
 */
export function bindingRuleFaults(rule: BindingRule, shape: IdentityShape | undefined): Fault[] {
  const { BindType, ...rest }: Omit<BindingRule, 'BindType'> & { BindType: string } = rule;
  const faults = checkValues(BindingRuleSchema, BindType === '' ? rest : rule);
  // Texts that are too long are not read.
  const isBounded = faults.every(({ pointer }) => pointer === '/BindType');
  if (BindType === '') faults.push(faultAt(below(null, 'BindType'), 'is required'));
  if (rule.BindName === '') faults.push(faultAt(below(null, 'BindName'), 'is required'));
  return shape === undefined || !isBounded ? faults : [...faults, ...shapedFaults(rule, shape)];
}

function shapedFaults(rule: BindingRule, shape: IdentityShape): Fault[] {
  const faults: Fault[] = [];
  const report = (field: string, message: string) =>
    faults.push(faultAt(below(null, ...field.split('.')), message));
  const fault = selectorFault(rule.Selector, shape);
  if (fault !== undefined) report('Selector', `is wrong: ${fault}`);
  if (rule.BindName !== '') {
    const type = rule.BindType as BindType;
    const isKnown = (bindTypes as readonly string[]).includes(type);
    checkTemplate('BindName', rule.BindName, (name) => !isKnown || fits(type, name.toLowerCase()));
  }
  const variable = rule.BindVars?.Name ?? '';
  if (rule.BindVars !== null && rule.BindType !== 'templated-policy') {
    report('BindVars', 'can only be given with the bind type templated-policy');
  } else if (variable !== '') {
    checkTemplate('BindVars.Name', variable, (sample) => isIdentityName(sample.toLowerCase()));
  }
  if (rule.BindType === 'templated-policy') checkTemplated(variable);
  return faults;

  function checkTemplate(field: string, text: string, isRight: (sample: string) => boolean): void {
    const template = parseTemplate(text, shape.variables);
    if (typeof template === 'string') report(field, template);
    else if (!isRight(renderSample(template))) {
      const what = field === 'BindName' ? rule.BindType : 'templated policy';
      report(field, `gives no name that a ${what} can have`);
    }
  }

  /** Checks the variable of a template that the rule names outright, before any login. */
  function checkTemplated(variable: string): void {
    const parsed = parseTemplate(rule.BindName, shape.variables);
    const isOutright =
      typeof parsed !== 'string' && parsed.every((part) => typeof part === 'string');
    if (!isOutright || !templateName.test(rule.BindName.toLowerCase())) return;
    const template = templateNamed(parsed.join('').toLowerCase());
    if (template === undefined) {
      report('BindName', `names no templated policy: ${quote(rule.BindName)}`);
    } else if (takesName(template) && variable === '') {
      report('BindVars.Name', `is required by ${template.TemplateName}`);
    } else if (!takesName(template) && variable !== '') {
      report('BindVars.Name', `is no variable of ${template.TemplateName}, which takes none`);
    }
  }
}

/**
 * The grants of all rules that match the identity, or a sentence that says why the login fails: a rule that
 * matches must make a valid name.
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
    // The mappings of the method may have changed since the rule was written.
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
