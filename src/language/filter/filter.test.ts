import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { compileFilter, FilterError } from './filter.ts';

const task = Type.Object({
  Name: Type.String(),
  Driver: Type.String(),
  Config: Type.Record(Type.String(), Type.Unknown()),
  Resources: Type.Optional(Type.Object({ CPU: Type.Integer() })),
});

const schema = Type.Object({
  ID: Type.String(),
  Status: Type.Union([Type.Literal('running'), Type.Literal('dead'), Type.Literal('')]),
  StatusDescription: Type.String(),
  Priority: Type.Integer(),
  Timeout: Type.Integer({ description: 'nanoseconds' }),
  Weight: Type.Number(),
  Stable: Type.Boolean(),
  Datacenters: Type.Array(Type.String()),
  Ports: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  Meta: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
  Counts: Type.Record(Type.String(), Type.Integer()),
  Periodic: Type.Union([Type.Object({ Spec: Type.String(), On: Type.Boolean() }), Type.Null()]),
  Version: { type: ['integer', 'null'] },
  Tasks: Type.Array(task),
  Groups: Type.Record(Type.String(), Type.Object({ Count: Type.Integer() })),
  Free: Type.Unknown(),
});

const record = {
  ID: 'web',
  Status: 'running',
  StatusDescription: '',
  Priority: 50,
  Timeout: 30e9,
  Weight: 0.5,
  Stable: true,
  Datacenters: ['dc1', 'dc2'],
  Ports: [80, 8080],
  Meta: { owner: 'anna', 'a-b': 'x', blank: '', '5': 'five' },
  Counts: { zero: 0, one: 1 },
  Periodic: { Spec: '* * * * *', On: true },
  Version: 3,
  Tasks: [
    { Name: 'app', Driver: 'docker', Config: { image: 'redis:7', ports: ['db'], n: 5, b: true } },
    { Name: 'log', Driver: 'exec', Config: {}, Resources: { CPU: 100 } },
  ],
  Groups: { api: { Count: 2 }, db: { Count: 0 } },
  Free: { list: [1, 'two'], deep: { on: false } },
};

const empty = { ID: 'none', Tasks: null, Meta: null, Periodic: null };

describe('over a full record', () => {
  test.each<[filter: string, expected: boolean]>([
    ['', true],
    ['  \n', true],
    // literals by the field's type
    ['Status == running', true],
    ['Status == "Running"', false],
    ['Status != dead', true],
    ['Priority == 50', true],
    ['Priority == "50"', true],
    ['Priority != 50', false],
    ['Timeout == 30000000000', true],
    ['Weight == 0.50', true],
    ['Weight == "5e-1"', true],
    ['Stable == true', true],
    ['Stable != true', false],
    ['Version == 3', true],
    ['Meta.owner == 5', false],
    // membership, keys, substrings
    ['dc1 in Datacenters', true],
    ['"dc3" in Datacenters', false],
    ['dc3 not in Datacenters', true],
    ['Datacenters contains dc2', true],
    ['Datacenters not contains dc2', false],
    ['80 in Ports', true],
    ['"8" in Ports', false],
    ['owner in Meta', true],
    ['Meta contains "a-b"', true],
    ['Meta contains anna', false],
    ['toString in Meta', false],
    ['we in ID', true],
    ['ID contains "eb"', true],
    ['ID not contains "x"', true],
    // patterns are not anchored
    ['ID matches "e"', true],
    ['ID matches "^e"', false],
    ['ID not matches `^w.b$`', false],
    ['Meta.owner matches `(?i)^ANNA$`', true],
    // emptiness
    ['StatusDescription is empty', true],
    ['ID is not empty', true],
    ['Meta is empty', false],
    ['Datacenters is not empty', true],
    ['Periodic is not empty', true],
    // missing values
    ['Periodic is nil', false],
    ['Periodic is not nil', true],
    ['Meta.none is nil', true],
    ['Meta.owner is nil', false],
    ['StatusDescription is nil', false],
    ['Priority is not nil', true],
    // maps and lists
    ['Meta["a-b"] == x', true],
    ['"/Meta/a-b" == x', true],
    ['Meta.5 == five', true],
    ['Counts.one == 1', true],
    ['Datacenters.1 == dc2', true],
    ['Tasks.0.Name == app', true],
    ['Tasks.1.Resources.CPU == 100', true],
    ['"/Tasks/1/Driver" == exec', true],
    ['Periodic.On == true', true],
    // a missing key or index: only the negated operators and `is empty` hold
    ['Meta.none == ""', false],
    ['Meta.none != ""', true],
    ['Meta.none contains ""', false],
    ['"" not in Meta.none', true],
    ['Meta.none matches ".*"', false],
    ['Meta.none not matches ".*"', true],
    ['Meta.none is empty', true],
    ['Meta.none is not empty', false],
    ['Counts.none == 0', false],
    ['Counts.zero == 0', true],
    ['Counts.none != 5', true],
    ['Datacenters.7 == ""', false],
    ['Tasks.7.Name == ""', false],
    ['Tasks.7.Resources.CPU != 0', true],
    ['Groups.none.Count == 0', false],
    ['Groups.db.Count == 0', true],
    ['Meta.toString is empty', true],
    ['Meta.blank == ""', true],
    // a missing field is the zero value
    ['Tasks.0.Resources.CPU == 0', true],
    ['Tasks.0.Resources is empty', true],
    ['Tasks.1.Resources is empty', false],
    // free content has the type of its value
    ['Tasks.0.Config.image == "redis:7"', true],
    ['Tasks.0.Config.n == 5', true],
    ['Tasks.0.Config.b == true', true],
    ['Tasks.0.Config.ports.0 == db', true],
    ['Tasks.0.Config.ports contains db', true],
    ['Tasks.0.Config.ports.length == 1', false],
    ['Tasks.0.Config contains image', true],
    ['Free.list.0 == 1', true],
    ['two in Free.list', true],
    ['Free.deep.on == false', true],
    ['Free.deep.off == false', false],
    ['Free.deep.on is empty', false],
    ['Free.list matches ""', false],
    // any and all
    ['any Tasks as t { t.Driver == docker }', true],
    ['all Tasks as t { t.Driver == docker }', false],
    ['all Tasks as t { t.Name != "" }', true],
    ['any Datacenters as d { d matches "2$" }', true],
    ['any Datacenters as i, d { i == 1 and d == dc2 }', true],
    ['any Datacenters as i, d { i == 0 and d == dc2 }', false],
    ['any Datacenters as i, _ { i == 1 }', true],
    ['any Meta as k { k == owner }', true],
    ['any Meta as k, v { k == owner and v == anna }', true],
    ['all Groups as _, g { g.Count == 2 }', false],
    ['any Groups as name, g { name == api and g.Count == 2 }', true],
    ['any Tasks as t { t.Driver == exec and Status == running }', true],
    ['any Tasks as ID { ID.Name == app }', true],
    ['any Tasks as a { any Tasks as b { a.Name == app and b.Name == log } }', true],
    ['any Tasks as a { any a.Config.ports as p { p == db } }', true],
    ['any Free.list as x { x == two }', true],
    ['any Free.deep as k, v { k == on and v == false }', true],
    ['any Free.deep as k { k == on }', true],
    ['any Tasks.9.Config.none as x { x is empty }', false],
    ['all Tasks.9.Config.none as x { x is empty }', true],
    // joined
    ['Status == dead or Priority == 50 and Stable == true', true],
    ['(Status == dead or Priority == 50) and Stable == false', false],
    ['not Status == dead and ID == web and Priority == 50', true],
    ['Status == dead or ID == x or Priority == 1', false],
  ])('%s is %s', (filter, expected) => {
    const accepts = compileFilter(filter, schema);
    expect(accepts(record)).toBe(expected);
    // The answer does not depend on earlier calls.
    accepts(empty);
    expect(accepts(record)).toBe(expected);
  });
});

describe('over a nearly empty record', () => {
  test.each<[filter: string, expected: boolean]>([
    ['Status == ""', true],
    ['Status != ""', false],
    ['Status == running', false],
    ['Status contains ""', true],
    ['Status matches "^$"', true],
    ['Status matches "."', false],
    ['Status is empty', true],
    ['Priority == 0', true],
    ['Priority == 1', false],
    ['Weight == 0', true],
    ['Version == 0', true],
    ['Stable == false', true],
    ['Stable == true', false],
    ['Datacenters is empty', true],
    ['dc1 in Datacenters', false],
    ['Datacenters.0 == ""', false],
    ['Meta is empty', true],
    ['owner in Meta', false],
    ['Meta.owner == ""', false],
    ['Periodic is empty', true],
    ['Periodic.Spec == ""', true],
    ['Periodic.On != true', true],
    ['any Tasks as t { t.Name != x }', false],
    ['all Tasks as t { t.Name == x }', true],
    ['Free is empty', true],
    ['Free == ""', false],
    ['Free.a.b.c is empty', true],
  ])('%s is %s', (filter, expected) => {
    expect(compileFilter(filter, schema)(empty)).toBe(expected);
  });

  test.each([null, undefined, 'text', 5, [], { Tasks: 'x', Meta: 5, Datacenters: {} }])(
    'a record that is %j is no reason to throw',
    (odd) => {
      for (const filter of ['Meta.x == y', 'Tasks.0.Name == x', 'x in Datacenters', 'ID == x']) {
        expect(compileFilter(filter, schema)(odd)).toBe(false);
      }
      expect(compileFilter('any Tasks as t { t.Name != x }', schema)(odd)).toBe(false);
    },
  );
});

describe('refused when compiled, with the place', () => {
  test.each<[filter: string, offset: number, sentence: RegExp]>([
    ['Statu == x', 0, /^There is no field "Statu"; did you mean "Status", "StatusDescription"\?$/],
    ['status == x', 0, /did you mean "Status"/],
    ['Xyzzy == x', 0, /^There is no field "Xyzzy"$/],
    ['ID == x and Periodic.Spek == y', 21, /no field "Spek" in "Periodic"; did you mean "Spec"/],
    ['Tasks.0.Nam == x', 8, /no field "Nam" in "Tasks\.0"; did you mean "Name"/],
    ['toString == x', 0, /no field "toString"/],
    ['"/Meta/x/y" == x', 0, /"Meta\.x" is a string and has no field "y"/],
    ['ID.x == y', 3, /"ID" is a string and has no field "x"/],
    [
      'Tasks.Name == x',
      6,
      /Expected an index, found "Name": "Tasks" is a list of objects; .* any or all/,
    ],
    ['Datacenters.01 == x', 12, /Expected an index/],
    // operators by type
    ['Datacenters == x', 0, /^"==" cannot be used on "Datacenters", which is a list of strings$/],
    ['Meta == x', 0, /which is a map/],
    ['Periodic == x', 0, /which is an object/],
    ['Priority contains 5', 0, /"contains".*an integer/],
    ['5 in Priority', 5, /"in".*an integer/],
    ['Priority matches 5', 0, /"matches".*an integer/],
    ['Datacenters matches x', 0, /"matches".*a list/],
    ['Stable is empty', 0, /"is empty".*a boolean/],
    ['Priority is not empty', 0, /"is empty".*an integer/],
    ['Spec in Periodic', 8, /"in".*an object/],
    ['x in Tasks', 5, /"in".*a list of objects/],
    ['any Periodic as x { x is empty }', 4, /"any".*an object/],
    ['all ID as x { x is empty }', 4, /"all".*a string/],
    // literals by type
    ['Priority == x', 12, /^"x" is not an integer$/],
    ['Priority == 1.5', 12, /not an integer/],
    ['Priority == ""', 12, /not an integer/],
    ['Weight != "1e999"', 10, /not a number/],
    ['Stable == yes', 10, /not true or false/],
    ['x in Ports', 0, /not an integer/],
    ['Ports contains 1.5', 15, /not an integer/],
    // patterns
    ['ID matches "("', 11, /^The pattern is not valid: a "\(" is not closed$/],
    ['ID matches "(?=x)"', 11, /lookahead/],
    ['ID matches `(a)\\1`', 11, /backreferences/],
    // bound names
    ['any Tasks as t { t.Nam == x }', 19, /no field "Nam" in "t"; did you mean "Name"/],
    ['any Tasks as task { tsk.Name == x }', 20, /no field "tsk"; did you mean "task"/],
    ['any Tasks as t { t == x }', 17, /"==" cannot be used on "t", which is an object/],
    ['any Tasks as t { t.Name == x } and t.Name == x', 35, /no field "t"/],
    ['any Datacenters as i, d { i == x }', 31, /not an integer/],
    ['any Meta as _, v { _ == x }', 19, /Expected a selector or a value/],
  ])('%s', (filter, offset, sentence) => {
    let error: unknown;
    try {
      compileFilter(filter, schema);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(FilterError);
    expect((error as FilterError).sentence).toMatch(sentence);
    expect((error as FilterError).offset).toBe(offset);
  });
});

test('limits are options', () => {
  expect(() => compileFilter('ID == web', schema, { expressionLength: 5 })).toThrow(FilterError);
  expect(() => compileFilter('(ID == web)', schema, { depth: 0 })).toThrow(FilterError);
});

test('an instant too great for a safe integer compares as the nearest double', () => {
  const at = 1_700_000_000_123;
  const accepts = compileFilter('Timeout == 1700000000123000000', schema);
  expect(accepts({ Timeout: at * 1e6 })).toBe(true);
});

describe('a strict filter refuses free content of a type that the operator does not take', () => {
  const config = 'Tasks.0.Config';
  test.each([
    [
      `${config}.n not matches "x"`,
      '"matches" cannot be used on "Tasks.0.Config.n", where a value of type number stands',
    ],
    [
      `${config}.b not contains "x"`,
      '"contains" cannot be used on "Tasks.0.Config.b", where a value of type boolean stands',
    ],
    [
      `"x" not in ${config}.n`,
      '"in" cannot be used on "Tasks.0.Config.n", where a value of type number stands',
    ],
    [
      `${config}.ports != x`,
      '"==" cannot be used on "Tasks.0.Config.ports", where a value of type list stands',
    ],
    [
      `${config}.n is not empty`,
      '"is empty" cannot be used on "Tasks.0.Config.n", where a value of type number stands',
    ],
    ['Free.deep != x', '"==" cannot be used on "Free.deep", where a value of type object stands'],
  ])('%s', (filter, sentence) => {
    const accepts = compileFilter(filter, schema, { isStrict: true });
    expect(() => accepts(record)).toThrow(sentence);
    expect(compileFilter(filter, schema)(record)).toBe(true);
  });

  test.each([
    [`${config}.image matches "redis"`, true],
    [`${config}.image is not empty`, true],
    [`${config}.n == 5 and ${config}.b == true`, true],
    [`db in ${config}.ports and ${config}.ports is not empty`, true],
    ['deep in Free', true],
    [`${config}.none is empty and ${config}.none != x`, true],
    [`${config}.none not matches "x"`, true],
  ])('%s is %s', (filter, expected) => {
    expect(compileFilter(filter, schema, { isStrict: true })(record)).toBe(expected);
  });
});
