import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode } from './codec.ts';
import { type Fault, RosterError } from './errors.ts';
import { canonicalizeJob } from './job/canonicalize.ts';
import { type Job, JobSchema } from './job/job.ts';
import { webJob } from './job/sample.test-helper.ts';
import { limits } from './limits.ts';
import {
  Choice,
  Flag,
  FreeMap,
  List,
  MapOf,
  Nanoseconds,
  Nullable,
  ResponseOnly,
  Text,
  TextMap,
  Type,
  Whole,
} from './schema.ts';

const Thing = Type.Object({
  Name: Text({ maxLength: 5 }),
  Count: Whole({ minimum: 0 }),
  Delay: Nanoseconds(),
  On: Flag(),
  Mode: Choice(['a', 'b'], 'a'),
  Maybe: Nullable(Type.Integer()),
  RetryJoin: List(Type.Object({ Address: Text(), Port: Whole() })),
  Meta: TextMap(),
  Config: FreeMap(),
  Parts: MapOf(Type.Object({ Size: Whole() })),
  CreateIndex: ResponseOnly(Whole()),
});

function faultsOf(run: () => unknown): readonly Fault[] {
  try {
    run();
  } catch (error) {
    if (error instanceof RosterError) return error.errors;
    throw error;
  }
  return [];
}
const messages = (input: unknown, options = {}): string[] =>
  faultsOf(() => decode(Thing, input, options)).map((fault) => fault.message);

describe('accepted bodies', () => {
  test.each([
    ['nothing', {}, {}],
    [
      'keys in any case',
      { NAME: 'x', retryjoin: [{ ADDRESS: 'h' }] },
      { Name: 'x', RetryJoin: [{ Address: 'h' }] },
    ],
    ['a duration as text', { Delay: '1m30s' }, { Delay: 90e9 }],
    ['a duration as nanoseconds', { Delay: 5 }, { Delay: 5 }],
    ['null for absent', { Name: null, Count: null }, {}],
    ['null where the schema has it', { Maybe: null }, { Maybe: null }],
    ['names of maps as written', { Meta: { aB: '1', ab: '2' } }, { Meta: { aB: '1', ab: '2' } }],
    [
      'free values at any depth',
      { Config: { a: { B: [1, null, '2s'] } } },
      { Config: { a: { B: [1, null, '2s'] } } },
    ],
    ['records in maps', { Parts: { x: { size: 1 } } }, { Parts: { x: { Size: 1 } } }],
    ['response-only fields, dropped', { CreateIndex: 7, Name: 'x' }, { Name: 'x' }],
  ])('%s', (_, input, value) => {
    expect(decode(Thing, input).value).toEqual(value);
  });

  test('snake_case only when asked', () => {
    const input = { retry_join: [{ port: 1 }] };
    expect(decode(Thing, input, { snakeCase: true }).value).toEqual({ RetryJoin: [{ Port: 1 }] });
    expect(decode(Thing, input)).toEqual({ value: {}, unknown: ['/retry_join'] });
  });

  test('response-only fields are kept when asked', () => {
    expect(decode(Thing, { CreateIndex: 7 }, { keepResponseOnly: true }).value).toEqual({
      CreateIndex: 7,
    });
  });

  test('a map may have a member named __proto__', () => {
    const input = JSON.parse('{"Parts":{"__proto__":{"Size":1}},"Meta":{"__proto__":"x"}}');
    const { value } = decode(Thing, input);
    expect(Object.keys(value.Parts!)).toEqual(['__proto__']);
    expect(Object.keys(value.Meta!)).toEqual(['__proto__']);
    expect(({} as { Size?: number }).Size).toBeUndefined();
  });
});

describe('refused bodies', () => {
  test.each([
    ['a list for the body', [], 'The body must be an object, got an array'],
    ['null for the body', null, 'The body must be an object, got null'],
    ['text', { Name: 1 }, 'Name must be a string, got the number 1'],
    ['an integer', { Count: '1' }, 'Count must be an integer, got a string'],
    ['a fraction', { Count: 1.5 }, 'Count must be an integer, got the number 1.5'],
    ['too large', { Count: 2 ** 53 }, 'Count is too large for an integer'],
    [
      'a duration',
      { Delay: '5 min' },
      'Delay must be an integer of nanoseconds or a duration such as "30s", got "5 min"',
    ],
    [
      'a long duration',
      { Delay: '9999999h' },
      'Delay must be an integer of nanoseconds or a duration such as "30s", got "9999999h"',
    ],
    ['a boolean', { On: 'true' }, 'On must be a boolean, got a string'],
    ['a list', { RetryJoin: {} }, 'RetryJoin must be an array, got an object'],
    ['null in a list', { RetryJoin: [null] }, 'RetryJoin[0] must not be null'],
    [
      'an item',
      { RetryJoin: [{}, { Port: 'x' }] },
      'RetryJoin[1].Port must be an integer, got a string',
    ],
    ['a map', { Meta: [] }, 'Meta must be an object, got an array'],
    ['a value of a map', { Meta: { 'a b': 1 } }, 'Meta["a b"] must be a string, got the number 1'],
    ['null in a map', { Meta: { a: null } }, 'Meta.a must not be null'],
    [
      'one field twice',
      { name: 'a', Name: 'b' },
      'name is the same field as "Name": give only one',
    ],
    [
      'one field twice, folded',
      { name: 'a', NAME: 'b' },
      'NAME is the same field as "name": give only one',
    ],
    ['a bound', { Count: -1 }, 'Count must be at least 0, got -1'],
    ['a choice', { Mode: 'c' }, 'Mode must be one of a, b, got "c"'],
    ['a long text', { Name: 'abcdef' }, 'Name must be at most 5 characters long'],
  ])('%s', (_, input, message) => {
    expect(messages(input)).toEqual([message]);
  });

  test('all at once, with pointers', () => {
    const faults = faultsOf(() =>
      decode(Thing, { Name: 1, RetryJoin: [{ Port: 'x' }], Meta: { 'a/b': 2 } }),
    );
    expect(faults.map((fault) => fault.pointer)).toEqual([
      '/Name',
      '/RetryJoin/0/Port',
      '/Meta/a~1b',
    ]);
  });

  test('a fault of type does not hide or move a fault of value', () => {
    expect(messages({ Name: 1, Count: -1, Things: 1 })).toEqual([
      'Name must be a string, got the number 1',
      'Count must be at least 0, got -1',
    ]);
    const Bounded = Type.Object({ Sizes: List(Type.Object({ Size: Whole({ minimum: 1 }) })) });
    const faults = faultsOf(() => decode(Bounded, { Sizes: [7, { Size: 0 }] }));
    expect(faults.map((fault) => fault.pointer)).toEqual(['/Sizes/0', '/Sizes/1/Size']);
  });

  test('below a key of the body', () => {
    const at = ['Job'];
    expect(faultsOf(() => decode(Thing, { Name: 1 }, { at }))[0]?.pointer).toBe('/Job/Name');
    expect(faultsOf(() => decode(Thing, undefined, { at }))[0]?.message).toBe('Job is required');
  });

  test('values are left alone when asked', () => {
    expect(messages({ Count: -1, Mode: 'c' }, { checkValues: false })).toEqual([]);
  });

  test('unknown keys are reported, or refused', () => {
    const input = { Nmae: 'x', RetryJoin: [{ Prot: 1 }] };
    expect(decode(Thing, input).unknown).toEqual(['/Nmae', '/RetryJoin/0/Prot']);
    expect(messages(input, { unknown: 'refuse' })).toEqual([
      'Nmae is not a known field; did you mean "Name"?',
      'RetryJoin[0].Prot is not a known field; did you mean "Port"?',
    ]);
  });

  test('no more faults than the limit', () => {
    const RetryJoin = Array.from({ length: 1000 }, () => 1);
    expect(messages({ RetryJoin })).toHaveLength(limits.fault.listedMax);
  });

  test.each([
    [limits.http.jsonDepthMax, 0],
    [limits.http.jsonDepthMax + 1, 1],
  ])('a free value %i levels deep: %i fault', (depth, count) => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level++) value = { a: value };
    expect(messages({ Config: { deep: value } })).toHaveLength(count);
  });
});

describe('properties', () => {
  const base = ['$', '{BASE}'].join('');
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
  const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
  const task = fc.record(
    {
      Name: name,
      Driver: fc.constantFrom('raw_exec', 'docker'),
      Config: nullable(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })),
      Env: nullable(fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 })),
      KillTimeout: fc.nat(),
      Lifecycle: nullable(
        fc.record({ Hook: fc.constantFrom('', 'prestart'), Sidecar: fc.boolean() }),
      ),
      Resources: fc.record(
        { CPU: fc.nat(1000), Cores: fc.nat(2), MemoryMB: fc.nat(1000) },
        { requiredKeys: [] },
      ),
      RestartPolicy: nullable(
        fc.record(
          { Attempts: fc.nat(5), Mode: fc.constantFrom('fail', 'delay') },
          { requiredKeys: [] },
        ),
      ),
      Services: nullable(
        fc.array(
          fc.record(
            { Name: fc.constantFrom('', base, 'x'), PortLabel: name },
            { requiredKeys: [] },
          ),
          { maxLength: 2 },
        ),
      ),
      Templates: fc.array(
        fc.record(
          {
            DestPath: name,
            ChangeMode: fc.constantFrom('signal', 'noop'),
            ChangeSignal: fc.constantFrom('', 'sigusr1'),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
      Artifacts: fc.array(
        fc.record(
          { GetterSource: fc.webUrl(), GetterMode: fc.constantFrom('any', 'file') },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  );
  const update = nullable(
    fc.record(
      {
        Stagger: fc.nat(),
        MaxParallel: fc.nat(4),
        HealthCheck: fc.constantFrom('', 'checks', 'manual'),
        Canary: fc.nat(2),
      },
      { requiredKeys: [] },
    ),
  );
  const group = fc.record(
    {
      Name: name,
      Count: nullable(fc.nat(9)),
      Update: update,
      Tasks: fc.array(task, { maxLength: 3 }),
      Migrate: nullable(fc.record({ MaxParallel: fc.nat(3) })),
      ReschedulePolicy: nullable(
        fc.record({ Attempts: fc.nat(3), Unlimited: fc.boolean() }, { requiredKeys: [] }),
      ),
      Scaling: nullable(
        fc.record({ Min: nullable(fc.nat(3)), Max: fc.nat(9) }, { requiredKeys: [] }),
      ),
      Volumes: nullable(fc.dictionary(name, fc.record({ Source: name }), { maxKeys: 2 })),
      Networks: nullable(
        fc.array(fc.record({ DynamicPorts: fc.array(fc.record({ Label: name })) }), {
          maxLength: 2,
        }),
      ),
    },
    { requiredKeys: [] },
  );
  const anyJob = fc.record(
    {
      ID: name,
      Type: fc.constantFrom('service', 'batch', 'system', 'sysbatch', ''),
      Priority: fc.nat(100),
      Update: update,
      Reschedule: nullable(fc.record({ Attempts: fc.nat(3) })),
      Datacenters: fc.array(name, { maxLength: 2 }),
      Meta: nullable(fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 })),
      TaskGroups: fc.array(group, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  );
  const canonical = (input: unknown): Job =>
    canonicalizeJob(decode(JobSchema, input, { checkValues: false }).value);

  test('decoding an encoded canonical job gives it back', () => {
    fc.assert(
      fc.property(anyJob, (input) => {
        const job = canonical(input);
        const sent = JSON.parse(JSON.stringify(job));
        const { value, unknown } = decode(JobSchema, sent, {
          keepResponseOnly: true,
          checkValues: false,
        });
        expect(unknown).toEqual([]);
        expect(JSON.parse(JSON.stringify(value))).toEqual(sent);
        expect(Object.keys(job)).toEqual(Object.keys(JobSchema.properties));
      }),
    );
  });

  test('canonicalizing twice is canonicalizing once', () => {
    fc.assert(
      fc.property(anyJob, (input) => {
        const job = canonical(input);
        expect(canonicalizeJob(job)).toEqual(job);
        expect(canonical(JSON.parse(JSON.stringify(job)))).toEqual(JSON.parse(JSON.stringify(job)));
      }),
    );
  });

  /** The value with the schema's keys respelled where the coin says so; the callers' keys in maps stay. */
  function respelled(value: unknown, coin: () => boolean, free = false): unknown {
    if (Array.isArray(value)) return value.map((item) => respelled(item, coin, free));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => {
      const isMap = ['Config', 'Env', 'Meta'].includes(key);
      const spelled = [...key].map((letter) =>
        coin() ? letter.toUpperCase() : letter.toLowerCase(),
      );
      return [free ? key : spelled.join(''), respelled(inner, coin, free || isMap)];
    });
    return Object.fromEntries(entries);
  }

  test('the case of keys makes no difference', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (coins) => {
        const coin = () => coins.next().value as boolean;
        expect(decode(JobSchema, respelled(webJob, coin))).toEqual(decode(JobSchema, webJob));
      }),
    );
  });

  /** Random values with names of the schema, so that the decoder goes deeper than the first level. */
  const junk = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue({ maxDepth: 2 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(
        fc.oneof(
          fc.constantFrom(
            'ID',
            'taskgroups',
            'Tasks',
            'Config',
            'Env',
            'Update',
            'Delay',
            'Volumes',
            '__proto__',
          ),
          fc.string(),
        ),
        tie('value'),
        { maxKeys: 4 },
      ),
    ),
  })).value;

  test('random values are refused with a RosterError or decoded, never anything else', () => {
    fc.assert(
      fc.property(junk, (input) => {
        try {
          canonicalizeJob(decode(JobSchema, input).value);
        } catch (error) {
          expect(error).toBeInstanceOf(RosterError);
          expect((error as RosterError).errors.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
