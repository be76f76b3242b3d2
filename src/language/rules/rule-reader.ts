import { HclError, type HclFault } from '../hcl/errors.ts';
import type { Range, Source } from '../hcl/source.ts';
import type { HclAttribute, HclBlock, HclBody } from '../hcl/syntax.ts';
import { type CapabilityTable, variableCapabilities } from './capabilities.ts';
import type { RulesLimits } from './limits.ts';
import {
  type NamedForm,
  namedForms,
  partitionBlocks,
  type RulePlace,
  type ScalarForm,
  scalarForms,
  wordsIn,
} from './resources.ts';
import type { Access, Rule, Rules, ScopeName } from './rule.ts';
import { listed, RuleValues, shown, suggestion } from './rule-values.ts';

/** The blocks around a rule. */
interface RuleScope {
  readonly place: RulePlace;
  readonly partition: ScopeName | undefined;
  readonly namespace: ScopeName | undefined;
}

const top: RuleScope = { place: 'top', partition: undefined, namespace: undefined };

type RuleFields = Pick<Rule, 'resource' | 'match' | 'name'> & Partial<Rule>;

/** Reads the body of a policy, and continues after each fault. */
export class RuleReader {
  private readonly rules: Rule[] = [];
  private readonly faults: HclFault[] = [];
  private readonly values: RuleValues;
  private readonly source: Source;
  private readonly limits: RulesLimits;

  constructor(source: Source, limits: RulesLimits) {
    this.source = source;
    this.limits = limits;
    this.values = new RuleValues(source, limits, (sentence, range) => this.fault(sentence, range));
  }

  read(body: HclBody): Rules {
    this.body(body, top);
    if (this.faults.length > 0) throw new HclError(this.faults);
    return { rules: this.rules };
  }

  private body(body: HclBody, scope: RuleScope): void {
    for (const item of this.values.itemsOf(body)) {
      if (item.kind === 'attribute') this.attribute(item, scope);
      else this.block(item, scope);
    }
  }

  private attribute(item: HclAttribute, scope: RuleScope): void {
    const { name, nameRange, value } = item;
    const form = scalarForms.get(name);
    if (form !== undefined && form.written !== 'block') {
      if (!this.mayStand(name, form.places, scope, nameRange)) return;
      const access = this.values.policy(value, form.policies);
      if (access !== undefined) this.scalar(form, access, item.range, scope);
      return;
    }
    const named = namedForms.get(name);
    if (form === undefined && named === undefined && !partitionBlocks.has(name)) {
      this.unknown(name, scope, nameRange);
      return;
    }
    const label = form === undefined ? ' "name"' : '';
    this.fault(`"${name}" is a block: ${name}${label} { policy = "read" }`, nameRange);
  }

  private block(block: HclBlock, scope: RuleScope): void {
    const { type, typeRange } = block;
    const partitionMatch = partitionBlocks.get(type);
    const form = scalarForms.get(type);
    const named = namedForms.get(type);
    if (partitionMatch !== undefined) {
      if (this.mayStand(type, ['top'], scope, typeRange)) this.partition(block, partitionMatch);
    } else if (form !== undefined) {
      if (this.mayStand(type, form.places, scope, typeRange)) this.scalarBlock(block, form, scope);
    } else if (named !== undefined) {
      if (this.mayStand(type, named.places, scope, typeRange))
        this.readNamedRule(block, named, scope);
    } else if (type === 'variables' && scope.place === 'namespace') {
      this.variables(block, scope);
    } else {
      this.unknown(type, scope, typeRange);
    }
  }

  private partition(block: HclBlock, match: 'exact' | 'prefix'): void {
    const name = this.values.label(block, true);
    if (name === undefined) return;
    this.body(block.body, { ...top, place: 'partition', partition: { match, name } });
  }

  private scalarBlock(block: HclBlock, form: ScalarForm, scope: RuleScope): void {
    if (form.written === 'attribute') {
      this.fault(`"${block.type}" is not a block: ${block.type} = "read"`, block.typeRange);
      return;
    }
    for (const label of block.labels) this.fault(`"${block.type}" takes no name`, label.range);
    const { attributes } = this.values.parts(block, ['policy'], []);
    const access = this.requiredPolicy(block, attributes.get('policy'), form.policies);
    if (access !== undefined) this.scalar(form, access, block.range, scope);
  }

  private scalar({ resource }: ScalarForm, access: Access, range: Range, scope: RuleScope): void {
    this.addRule({ resource, match: 'all', name: '', access }, range, scope);
  }

  private readNamedRule(block: HclBlock, form: NamedForm, scope: RuleScope): void {
    if (form.resource === 'namespace') {
      this.namespace(block, form, scope);
      return;
    }
    const allowed = ['policy'];
    if (form.intentions) allowed.push('intentions');
    if (form.capabilities !== undefined) allowed.push('capabilities');
    const { attributes } = this.values.parts(block, allowed, []);
    const name = this.values.label(block, !form.nameOptional);
    const rule = this.grant(block, form, attributes, true);
    const written = attributes.get('intentions');
    const intentions = written && this.values.policy(written.value, ['deny', 'read', 'write']);
    if (rule === undefined || (name === undefined && !form.nameOptional)) return;
    const target = targetOf(form, name);
    this.addRule({ resource: form.resource, ...target, ...rule, intentions }, block.range, scope);
  }

  /** Reads a namespace block: a rule for the jobs of the namespace, and the rules in the block. */
  private namespace(block: HclBlock, form: NamedForm, scope: RuleScope): void {
    const name = this.values.label(block, true);
    if (name === undefined) return;
    const target = { match: form.match === 'glob' ? matchOf(name) : form.match, name };
    const own = ['policy', 'capabilities'];
    const attributes = new Map<string, HclAttribute>();
    const inner: HclBody['items'][number][] = [];
    for (const item of this.values.itemsOf(block.body)) {
      if (item.kind === 'attribute' && own.includes(item.name)) attributes.set(item.name, item);
      else inner.push(item);
    }
    if (attributes.size > 0) {
      const rule = this.grant(block, form, attributes, false);
      if (rule !== undefined) {
        this.addRule({ resource: 'namespace', ...target, ...rule }, block.range, scope);
      }
    }
    this.body({ ...block.body, items: inner }, { ...scope, place: 'namespace', namespace: target });
  }

  private variables(block: HclBlock, scope: RuleScope): void {
    for (const label of block.labels) this.fault('"variables" takes no name', label.range);
    const { blocks } = this.values.parts(block, [], ['path']);
    for (const path of blocks) {
      const { attributes } = this.values.parts(path, ['capabilities'], []);
      const name = this.values.label(path, true);
      const given = attributes.get('capabilities');
      if (given === undefined) {
        this.fault('This path needs capabilities: capabilities = ["read"]', path.typeRange);
        continue;
      }
      const capabilities = this.values.capabilities(given.value, variableCapabilities);
      if (name === undefined || capabilities === undefined) continue;
      const target = { resource: 'variable', match: matchOf(name), name } as const;
      this.addRule({ ...target, capabilities }, path.range, scope);
    }
  }

  /** The access of `policy` and `capabilities` together; `undefined` after a fault. */
  private grant(
    block: HclBlock,
    form: NamedForm,
    attributes: ReadonlyMap<string, HclAttribute>,
    required: boolean,
  ): Pick<Rule, 'access' | 'capabilities'> | undefined {
    const given = attributes.get('capabilities');
    const policy = attributes.get('policy');
    const table = form.capabilities;
    const capabilities =
      given && table ? this.values.capabilities(given.value, table) : ([] as const);
    if (policy === undefined && (given !== undefined || !required)) {
      return capabilities && { access: undefined, capabilities };
    }
    const access = this.requiredPolicy(block, policy, form.policies);
    if (access === undefined || capabilities === undefined) return undefined;
    return { access, capabilities: union(capabilities, coarse(table, access)) };
  }

  private requiredPolicy(
    block: HclBlock,
    attribute: HclAttribute | undefined,
    policies: readonly Access[],
  ): Access | undefined {
    if (attribute !== undefined) return this.values.policy(attribute.value, policies);
    this.fault(`This rule needs a policy: ${listed(policies)}`, block.typeRange);
    return undefined;
  }

  private addRule(fields: RuleFields, range: Range, scope: RuleScope): void {
    if (this.rules.length >= this.limits.rulesMax) {
      this.fault(`A policy has ${this.limits.rulesMax} rules at most`, range);
      throw new HclError(this.faults);
    }
    const { partition, namespace } = scope;
    this.rules.push({
      access: undefined,
      intentions: undefined,
      capabilities: [],
      ...fields,
      partition,
      namespace,
      position: range.start,
      text: this.textOf(range),
    });
  }

  private textOf({ start, end }: Range): string {
    const most = this.limits.ruleTextLengthMax;
    const { text } = this.source;
    if (end.offset - start.offset <= most) return text.slice(start.offset, end.offset);
    return `${text.slice(start.offset, start.offset + most - 1).toWellFormed()}…`;
  }

  private mayStand(
    word: string,
    places: readonly RulePlace[],
    scope: RuleScope,
    range: Range,
  ): boolean {
    if (places.includes(scope.place)) return true;
    this.fault(`"${word}" may not stand in a ${scope.place}`, range);
    return false;
  }

  private unknown(word: string, { place }: RuleScope, range: Range): void {
    const own = place === 'namespace' ? ['policy', 'capabilities', 'variables'] : [];
    const hint = suggestion(word, [...wordsIn(place), ...own]);
    this.fault(`"${shown(word)}" is not a resource${hint}`, range);
  }

  private fault(sentence: string, { start }: Range): void {
    this.faults.push(this.source.fault(sentence, start.offset));
    if (this.faults.length >= this.limits.faultsMax) throw new HclError(this.faults);
  }
}

const matchOf = (name: string): 'exact' | 'glob' => (name.includes('*') ? 'glob' : 'exact');

function targetOf({ match }: NamedForm, name: string | undefined): Pick<Rule, 'match' | 'name'> {
  if (name === undefined) return { match: 'all', name: '' };
  return { match: match === 'glob' ? matchOf(name) : match, name };
}

const coarse = (table: CapabilityTable | undefined, access: Access): readonly string[] =>
  table?.policies[access] ?? [];

const union = (left: readonly string[], right: readonly string[]): readonly string[] =>
  [...new Set([...left, ...right])].sort();
