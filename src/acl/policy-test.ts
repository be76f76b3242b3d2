import { evaluateConstant } from '../language/hcl/constant.ts';
import { HclError, type HclFault } from '../language/hcl/errors.ts';
import { parseHcl } from '../language/hcl/parse.ts';
import { Source } from '../language/hcl/source.ts';
import type { HclAttribute, HclBody, HclExpression } from '../language/hcl/syntax.ts';
import { parseRules } from '../language/rules/parse.ts';
import type { Permission } from '../model/permission/permission.ts';
import {
  PermissionFault,
  permissionOf,
  splitPermission,
} from '../model/permission/permission-words.ts';
import type { DefaultPolicy, Subject } from './authorizer.ts';
import { type Explanation, explain } from './explain.ts';
import type { Policy } from './grants.ts';
import { RuleTable } from './rule-table.ts';

/**
 * A file of expectations about rules:
 *
 *     policies = ["web.hcl"]             # files of rules, as the policies of one token
 *     rules    = "operator = \"read\""   # or rules in this file
 *     allow    = ["service:write web", "operator:read"]
 *     deny     = ["operator:write"]
 *     namespace "team" {                 # expectations about another namespace
 *       deny = ["service:read web"]
 *     }
 */
export interface PolicyTest {
  /** File names, as written in the test file. */
  readonly policies: readonly string[];
  readonly rules: string | undefined;
  readonly defaultPolicy: DefaultPolicy;
  readonly expectations: readonly Expectation[];
}

export interface Expectation {
  readonly expected: 'allow' | 'deny';
  readonly permission: Permission;
  /** The line in the test file, from 1. */
  readonly line: number;
}

export interface ExpectationResult extends Expectation {
  readonly met: boolean;
  readonly explanation: Explanation;
}

/** @throws HclError with every fault of the file */
export function parsePolicyTest(text: string): PolicyTest {
  const reader = new TestReader(text);
  const test = reader.read(parseHcl(text));
  if (reader.faults.length > 0) throw new HclError(reader.faults);
  return test;
}

/** `texts`: the texts of the rules by file name. */
export function runPolicyTest(
  { expectations, defaultPolicy }: PolicyTest,
  texts: ReadonlyMap<string, string>,
): ExpectationResult[] {
  const policies = [...texts].map(([name, text]) => policyOf(name, text));
  const subject = subjectOf(policies, defaultPolicy);
  return expectations.map((expectation) => {
    const explanation = explain(subject, expectation.permission);
    const met = explanation.Allowed === (expectation.expected === 'allow');
    return { ...expectation, met, explanation };
  });
}

/** A policy in the namespace `default` that is not stored. @throws HclError */
export const policyOf = (name: string, text: string): Policy => ({
  ID: name,
  Name: name,
  Namespace: 'default',
  Partition: 'default',
  rules: parseRules(text).rules,
});

/** A token with exactly these policies. */
export const subjectOf = (policies: readonly Policy[], defaultPolicy: DefaultPolicy): Subject => ({
  caller: {
    kind: 'token',
    accessor: '',
    management: false,
    namespace: 'default',
    partition: 'default',
  },
  rules: new RuleTable(policies),
  defaultPolicy,
});

class TestReader {
  readonly faults: HclFault[] = [];
  readonly #source: Source;

  constructor(text: string) {
    this.#source = new Source(text);
  }

  read(body: HclBody): PolicyTest {
    const attributes = this.#attributes(body);
    const known = ['policies', 'rules', 'default', 'allow', 'deny'];
    this.#refuseOthers(body, known);
    const [rules] = this.#texts(attributes.get('rules'));
    const [standing = 'deny'] = this.#texts(attributes.get('default'));
    if (standing !== 'allow' && standing !== 'deny') {
      this.#fault('"default" is "allow" or "deny"', attributes.get('default')!.value);
    }
    return {
      policies: this.#texts(attributes.get('policies')),
      rules,
      defaultPolicy: standing === 'allow' ? 'allow' : 'deny',
      expectations: [
        ...this.#expectations(attributes, 'default'),
        ...body.items.flatMap((item) => {
          const [label, ...more] = item.kind === 'block' ? item.labels : [];
          if (item.kind !== 'block' || label === undefined || more.length > 0) return [];
          this.#refuseOthers(item.body, ['allow', 'deny'], false);
          return this.#expectations(this.#attributes(item.body), label.text);
        }),
      ],
    };
  }

  #attributes(body: HclBody): Map<string, HclAttribute> {
    return new Map(
      body.items.flatMap((item) => (item.kind === 'attribute' ? [[item.name, item] as const] : [])),
    );
  }

  #refuseOthers(body: HclBody, known: readonly string[], blocks = true): void {
    for (const item of body.items) {
      const isKnown =
        item.kind === 'attribute'
          ? known.includes(item.name)
          : blocks && item.type === 'namespace' && item.labels.length === 1;
      if (isKnown) continue;
      const { start } = item.range;
      const listed = `${known.join(', ')}${blocks ? ' and namespace "name" { … }' : ''}`;
      this.faults.push(this.#source.fault(`A policy test has ${listed}`, start.offset));
    }
  }

  /** The texts of an attribute, which is a text or a list of texts. */
  #texts(attribute: HclAttribute | undefined): string[] {
    return this.#items(attribute).flatMap((item) => this.#text(item) ?? []);
  }

  #items(attribute: HclAttribute | undefined): readonly HclExpression[] {
    if (attribute === undefined) return [];
    return attribute.value.kind === 'tuple' ? attribute.value.items : [attribute.value];
  }

  #text(expression: HclExpression): string | undefined {
    try {
      const value = evaluateConstant(expression, this.#source);
      if (typeof value === 'string') return value;
      this.#fault('Expected a text', expression);
    } catch (error) {
      if (!(error instanceof HclError)) throw error;
      this.faults.push(...error.faults);
    }
    return undefined;
  }

  #expectations(attributes: ReadonlyMap<string, HclAttribute>, namespace: string): Expectation[] {
    return (['allow', 'deny'] as const).flatMap((expected) =>
      this.#items(attributes.get(expected)).flatMap((item) => {
        const permission = this.#permission(item, namespace);
        return permission === undefined
          ? []
          : [{ expected, permission, line: item.range.start.line }];
      }),
    );
  }

  /** Reads `service:write web`; the name begins after the first space. */
  #permission(item: HclExpression, namespace: string): Permission | undefined {
    const text = this.#text(item);
    if (text === undefined) return undefined;
    const space = text.indexOf(' ');
    const [words, name] = space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
    try {
      return permissionOf({ ...splitPermission(words), name }, { namespace });
    } catch (error) {
      if (!(error instanceof PermissionFault)) throw error;
      this.#fault(`The permission ${error.message}`, item);
      return undefined;
    }
  }

  #fault(sentence: string, { range }: HclExpression): void {
    this.faults.push(this.#source.fault(sentence, range.start.offset));
  }
}
