import { describeCaller } from '../model/permission/caller.ts';
import { describePermission, type Permission } from '../model/permission/permission.ts';
import { decideByCaller, decideFor, type Subject } from './authorizer.ts';
import {
  anyAccess,
  type Question,
  questionOf,
  type RulePermission,
  type Verdict,
} from './decide.ts';
import { everyAccess, type Grant } from './grants.ts';
import type { Linked } from './links.ts';
import { denies } from './name-index.ts';

/** The reason for a decision, found by the same functions as `allows`. */
export interface Explanation {
  /** In the words of a refusal. */
  readonly Permission: string;
  readonly Allowed: boolean;
  readonly Reason: string;
  /** The rules that decided. They allow, deny, or give too little. */
  readonly Rules: readonly ExplainedRule[];
  /** A rule that would allow it. Empty when it is allowed, or when no rule could allow it. */
  readonly Missing: string;
  /** The parts of a compound permission, in order. */
  readonly Parts: readonly Explanation[];
}

export interface ExplainedRule {
  readonly Policy: { readonly ID: string; readonly Name: string };
  /** The ways from the token to the policy. Each is a list of links that begins at the token. */
  readonly Via: readonly string[];
  readonly Effect: 'allow' | 'deny' | 'too-little';
  /** The text of the rule and its position in the policy, counted from 1. */
  readonly Text: string;
  readonly Line: number;
  readonly Column: number;
}

/**
 * `links`: the policies of the subject's token (`Resolver.linksOf`). `explain(…).Allowed` equals
 * the answer of `allows`; `explain.test.ts` holds the two equal.
 */
export function explain(
  subject: Subject,
  permission: Permission,
  links: readonly Linked[] = [],
): Explanation {
  const base = { Permission: describePermission(permission), Rules: [], Missing: '', Parts: [] };
  switch (permission.kind) {
    case 'any':
    case 'all': {
      const Parts = permission.of.map((part) => explain(subject, part, links));
      const Allowed =
        permission.kind === 'any'
          ? Parts.some((part) => part.Allowed)
          : Parts.every((part) => part.Allowed);
      const which = permission.kind === 'any' ? 'one' : 'each';
      const Reason = `It takes ${which} of ${Parts.length} permissions.`;
      return { ...base, Allowed, Reason, Parts };
    }
    case 'namespace':
    case 'resource':
    case 'named':
      return { ...base, ...explainByRules(subject, permission, links) };
    default: {
      const Allowed = decideByCaller(subject.caller, permission);
      return { ...base, Allowed, Reason: reasonOf(subject, permission, Allowed) };
    }
  }
}

type Explained = Pick<Explanation, 'Allowed' | 'Reason' | 'Rules' | 'Missing'>;

function explainByRules(
  subject: Subject,
  permission: RulePermission,
  links: readonly Linked[],
): Explained {
  const verdict: Verdict = decideFor(subject, permission);
  const question = questionOf(permission);
  const Missing = verdict.allowed ? '' : ruleFor(question);
  const { caller, rules, defaultPolicy } = subject;
  if (caller.kind === 'unrestricted') {
    return { Allowed: true, Reason: 'Access control is switched off.', Rules: [], Missing: '' };
  }
  if (rules === undefined) {
    const Reason = `${capital(describeCaller(caller))} is no token and has no policies.`;
    return { Allowed: false, Reason, Rules: [], Missing: '' };
  }
  const { entry, allowed } = verdict;
  if (entry === undefined) {
    const skipped = links.filter(({ elsewhere }) => elsewhere).map(({ policy }) => policy.Name);
    const not = skipped.length === 0 ? '' : ` Policies for other datacenters: ${skipped.join()}.`;
    const has = links.length === 0 ? 'It has no policies' : 'No rule of its policies speaks of it';
    const Reason = `${has}, so the default policy decides: ${defaultPolicy}.${not}`;
    return { Allowed: allowed, Reason, Rules: [], Missing };
  }
  const isDenied = denies(entry);
  const deciding = entry.grants.filter(({ holds }) =>
    allowed ? gives(holds, question.access) : !isDenied || holds === undefined,
  );
  const effect = allowed ? 'allow' : isDenied ? 'deny' : 'too-little';
  const sentence = {
    allow: 'The nearest rule gives it.',
    deny: 'The nearest rule denies it.',
    'too-little': 'The nearest rule speaks of it and gives less.',
  }[effect];
  const Rules = deciding.map((grant) => explainedRule(grant, effect, links));
  return { Allowed: allowed, Reason: sentence, Rules, Missing };
}

const gives = (holds: Grant['holds'], access: string): boolean =>
  holds !== undefined &&
  (holds.includes(access) ||
    holds.includes(everyAccess) ||
    (access === anyAccess && holds.length > 0));

function explainedRule(
  { policy, rule }: Grant,
  Effect: ExplainedRule['Effect'],
  links: readonly Linked[],
): ExplainedRule {
  const { ID, Name } = policy;
  const { line: Line, column: Column } = rule.position;
  const Via = links.filter((link) => link.policy.ID === ID && !link.elsewhere).map(wayOf);
  return { Policy: { ID, Name }, Via, Effect, Text: rule.text, Line, Column };
}

function wayOf({ from, role, synthetic, policy }: Linked): string {
  const start = from === 'token' ? 'the token' : `the defaults of its namespace`;
  const through = role === undefined ? '' : ` → role "${role.Name}"`;
  return `${start}${through} → ${synthetic ? policy.Description : `policy "${policy.Name}"`}`;
}

function reasonOf({ caller }: Subject, permission: Permission, allowed: boolean): string {
  if (caller.kind === 'unrestricted') return 'Access control is switched off.';
  if (permission.kind === 'open') return 'Everybody may.';
  const who = capital(describeCaller(caller)).replace(/,$/, '');
  if (caller.kind === 'token') {
    return allowed ? `${who} has the management policy.` : `${who} lacks the management policy.`;
  }
  return allowed ? `${who} may do it.` : `${who} may not do it.`;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** A rule that allows the question, for a policy in the namespace `default`. */
export function ruleFor(question: Question): string {
  const { resource, access, name, extent, namespace, partition } = question;
  const inPlace = (rule: string, place: string) => {
    const inNamespace = place === 'default' ? rule : `namespace ${quoted(place)} { ${rule} }`;
    return partition === 'default'
      ? inNamespace
      : `partition ${quoted(partition)} { ${inNamespace} }`;
  };
  const list = `capabilities = [${quoted(access === anyAccess ? 'list-jobs' : access)}]`;
  if (resource === 'namespace') return inPlace(`namespace ${quoted(name)} { ${list} }`, 'default');
  if (resource === 'variable') {
    const path = `variables { path ${quoted(name)} { ${list} } }`;
    return inPlace(`namespace ${quoted(namespace)} { ${path} }`, 'default');
  }
  if (resource === 'node_pool' || resource === 'host_volume') {
    return inPlace(`${resource} ${quoted(name)} { ${list} }`, 'default');
  }
  const policy = `policy = ${quoted(access)}`;
  if (scalars.includes(resource)) {
    const isBlock = resource === 'plugin' || resource === 'quota';
    const rule = isBlock ? `${resource} { ${policy} }` : `${resource} = ${quoted(access)}`;
    return inPlace(rule, namespace);
  }
  if (resource === 'intention') {
    const label = extent === 'one' ? `service ${quoted(name)}` : 'service_prefix ""';
    return inPlace(`${label} { policy = "read" intentions = ${quoted(access)} }`, namespace);
  }
  const label = extent === 'one' ? resource : `${resource}_prefix`;
  return inPlace(`${label} ${quoted(name)} { ${policy} }`, namespace);
}

const scalars = ['acl', 'keyring', 'mesh', 'operator', 'peering', 'plugin', 'quota'];

/**
 * A string of the rules language. `${` and `%{` would begin a template; a doubled sign escapes
 * them.
 */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[$%](?=\{)/g, (sign) => sign + sign);
