/**
 * Random rules, policies and questions over few names, so that they often concern the same name.
 */
import fc from 'fast-check';
import type { Access, Rule, RuleResource, ScopeName } from '../language/rules/rule.ts';
import type { Question } from './decide.ts';
import type { Policy } from './grants.ts';

const places = ['default', 'team', 'tea', 'else'];
const placeName: fc.Arbitrary<ScopeName> = fc.oneof(
  fc.record({ match: fc.constant('exact' as const), name: fc.constantFrom(...places) }),
  fc.record({ match: fc.constant('prefix' as const), name: fc.constantFrom('', 't', 'tea') }),
  fc.record({
    match: fc.constant('glob' as const),
    name: fc.constantFrom('*', '*a', 't*', '*a', 't*', '*ea*'),
  }),
);
const label = fc.constantFrom('', 'a', 'b', 'ab', 'aa', 'aba');
const glob = fc.constantFrom('*', 'a*', '*a', 'a*a', '*b*', 'ab', '**', 'a**a', 't*', 'team');
const given = ['read', 'write', 'list', 'deny', 'submit-job', 'host-volume-write'];
const capability = fc.constantFrom(...given);

const scalar = ['acl', 'keyring', 'mesh', 'operator', 'peering', 'plugin', 'quota'] as const;
const named = ['agent', 'event', 'identity', 'key', 'node', 'query', 'service', 'session'] as const;
const fine = ['namespace', 'node_pool', 'host_volume', 'variable'] as const;

const policyWord = (resource: string): fc.Arbitrary<Access> => {
  if (resource === 'key') return fc.constantFrom('deny', 'read', 'list', 'write');
  return resource === 'plugin'
    ? fc.constantFrom('deny', 'read', 'list')
    : fc.constantFrom('deny', 'read', 'write');
};

const isOneOf = (some: readonly string[], one: string) => some.includes(one);

type Part = Pick<Rule, 'resource' | 'match' | 'name' | 'access' | 'capabilities' | 'intentions'>;

function partOf(resource: RuleResource): fc.Arbitrary<Part> {
  const fixed = { resource: fc.constant(resource), access: policyWord(resource) };
  const none = { capabilities: fc.constant([]), intentions: fc.constant(undefined) };
  if (isOneOf(scalar, resource)) {
    const match = fc.constant('all' as const);
    return fc.record({ ...fixed, ...none, match, name: fc.constant('') });
  }
  if (isOneOf(fine, resource)) {
    return fc.record({
      ...fixed,
      ...none,
      match: fc.constant('glob' as const),
      name: glob,
      access: fc.constant(undefined),
      capabilities: fc.array(capability, { maxLength: 2 }),
    });
  }
  const word = fc.constantFrom('deny' as const, 'read' as const, 'write' as const);
  return fc.record({
    ...fixed,
    ...none,
    match: fc.constantFrom('exact' as const, 'prefix' as const),
    name: label,
    ...(resource === 'service' && { intentions: fc.option(word, { nil: undefined }) }),
  });
}

const ruleOf = (resource: RuleResource): fc.Arbitrary<Rule> =>
  fc
    .record({
      part: partOf(resource),
      partition: fc.option(placeName, { nil: undefined, freq: 3 }),
      namespace: fc.option(placeName, { nil: undefined, freq: 2 }),
    })
    .map(({ part, partition, namespace }) => ({
      ...part,
      partition,
      namespace: resource === 'namespace' ? undefined : namespace,
      position: { offset: 0, line: 1, column: 1 },
      text: `${resource} "${part.name}"`,
    }));

const policiesOf = (...of: readonly RuleResource[]): fc.Arbitrary<readonly Policy[]> =>
  fc.array(
    fc.record({
      ID: fc.constantFrom('p1', 'p2', 'p3', '00000000-0000-0000-0000-000000000002'),
      Name: fc.constant('policy'),
      Namespace: fc.constantFrom('default', 'default', 'team'),
      Partition: fc.constantFrom('default', 'default', 'default', 'team'),
      rules: fc.array(fc.oneof(...of.map(ruleOf)), { maxLength: 5 }),
    }),
    { maxLength: 4 },
  );

function questionAbout(resource: string): fc.Arbitrary<Question> {
  // Questions about all names under a prefix are decided cautiously where globs are involved: see
  // `NameIndex.weakest`.
  const extents = isOneOf(fine, resource) ? (['one'] as const) : (['one', 'under', 'any'] as const);
  const isScalar = isOneOf(scalar, resource);
  return fc.record({
    resource: fc.constant(resource),
    access: fc.constantFrom(
      'read',
      'write',
      'list',
      ...(resource === 'namespace' ? ['submit-job', 'host-volume-read', 'any'] : []),
    ),
    name: isScalar
      ? fc.constant('')
      : fc.constantFrom('', 'a', 'b', 'ab', 'aa', 'aba', 'abz', 'team', 'default'),
    extent: isScalar ? fc.constant('one' as const) : fc.constantFrom(...extents),
    namespace: fc.constantFrom(...places),
    partition: fc.constantFrom('default', 'default', 'team'),
  });
}

/** Policies, and questions about the resource of most of their rules. */
export const anyScenario = fc
  .constantFrom<string>(...scalar, ...named, ...fine, 'service', 'key', 'intention', 'intention')
  .chain((resource) => {
    const ruled = (resource === 'intention' ? 'service' : resource) as RuleResource;
    const others = isOneOf(['mesh', 'peering'], resource) ? (['operator'] as const) : [];
    return fc.record({
      policies: policiesOf(ruled, ...others),
      questions: fc.array(questionAbout(resource), { minLength: 1, maxLength: 10 }),
      defaultAllows: fc.boolean(),
    });
  });

/** Every name of up to four letters, including a letter that no label has. */
export const everyName: readonly string[] = ['', ...longer(''), ...places];

function longer(start: string): string[] {
  if (start.length === 4) return [];
  return ['a', 'b', 'z'].flatMap((letter) => [start + letter, ...longer(start + letter)]);
}
