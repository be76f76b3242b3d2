import { describe, expect, test } from 'vitest';
import type { HclError } from './errors.ts';
import { HclLimitError, renderFault, renderFaults } from './errors.ts';
import { faultOfText, plainOfText, valueOfText } from './evaluation.test-helper.ts';

/** An expression and its value as JSON. */
type Row = readonly [text: string, value: unknown];

const groups: Readonly<Record<string, readonly Row[]>> = {
  arithmetic: [
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 2 - 3', 5],
    ['7 / 2', 3.5],
    ['-7 % 3', -1],
    ['7 % -3', 1],
    ['5.5 % 0.5', 0],
    ['0.1 + 0.2', 0.3],
    ['1.1 * 3', 3.3],
    ['0.3 - 0.1', 0.2],
    ['0.3 / 0.1', 3],
    ['1 / 3', 1 / 3],
    ['-(-3)', 3],
    ['- 0', 0],
    ['"8" + 1', 9],
    ['"1e2" * "0.5"', 50],
    ['1e21 + 1e21', 2e21],
    ['9007199254740991', 9007199254740991],
    ['18446744073709552000', 2 ** 64],
    ['1e23 + 1e23', 2e23],
  ],
  comparison: [
    ['1 < 2', true],
    ['2 <= 2', true],
    ['"10" > 9', true],
    ['1 >= 2', false],
    ['1 == 1.0', true],
    ['1 == "1"', false],
    ['true == "true"', false],
    ['null == null', true],
    ['null == 0', false],
    ['"a" != "b"', true],
    ['[1, [2]] == [1, [2]]', true],
    ['[1, 2] == [2, 1]', false],
    ['{a = 1, b = 2} == {b = 2, a = 1}', true],
    ['{a = 1} == {a = "1"}', false],
    ['toset(["b", "a"]) == toset(["a", "b"])', true],
    ['toset(["a"]) == ["a"]', false],
    ['-0 == 0', true],
  ],
  logic: [
    ['true && false', false],
    ['true || false && false', true],
    ['!true || true', true],
    ['!("true")', false],
    ['"1" && true', true],
    ['false && var.nothing', false],
    ['true || 1 / 0 == 1', true],
    ['1 < 2 == true', true],
    ['1 + 1 == 2 && 2 * 2 == 4', true],
  ],
  conditions: [
    ['true ? 1 : 2', 1],
    ['"false" ? 1 : 2', 2],
    ['true ? 1 : "a"', '1'],
    ['false ? true : "a"', 'a'],
    ['true ? true : "a"', 'true'],
    ['true ? null : 1', null],
    ['false ? null : 1', 1],
    ['true ? "ok" : var.nothing', 'ok'],
    ['false ? 1 / 0 : 5', 5],
    ['true ? [1] : ["a"]', ['1']],
    ['true ? [1, "b"] : []', ['1', 'b']],
    ['true ? [] : [1]', []],
    ['true ? {a = 1} : {a = "x"}', { a: '1' }],
    ['true ? {a = 1} : {b = "x"}', { a: '1' }],
    ['true ? {a = 1, b = [1]} : {}', { a: 1, b: [1] }],
    ['true ? toset([1]) : []', [1]],
    ['true ? [1] : toset(["a"])', ['1']],
    ['true ? false ? 1 : 2 : 3', 2],
  ],
  access: [
    ['var.region', 'eu'],
    ['var["region"]', 'eu'],
    ['var.servers[1].id', 2],
    ['var.servers.1.id', 2],
    ['var.names["1"]', 'b'],
    ['var.none', null],
    ['{a = {b = 1}}.a.b', 1],
    ['{"1" = "x"}[1]', 'x'],
    ['{true = "x"}[true]', 'x'],
    ['[[1, 2], [3]][0][1]', 2],
    ['{__proto__ = 1}.__proto__', 1],
  ],
  splats: [
    ['var.servers[*].id', [1, 2]],
    ['var.servers.*.id', [1, 2]],
    ['var.servers[*]', [{ id: 1 }, { id: 2 }]],
    ['var.servers.*.id[1]', 2],
    ['[{a = [1, 2]}, {a = [3]}][*].a[0]', [1, 3]],
    ['[{a = [{b = 1}]}, {a = [{b = 2}, {b = 3}]}][*].a[*].b', [[1], [2, 3]]],
    ['var.none[*].id', []],
    ['"a"[*]', ['a']],
    ['{id = 7}[*].id', [7]],
    ['toset(["b", "a"])[*]', ['a', 'b']],
    ['[][*].x', []],
  ],
  loops: [
    ['[for x in [1, 2]: x * 2]', [2, 4]],
    ['[for i, x in ["a", "b"]: "${i}${x}"]', ['0a', '1b']],
    ['[for x in [1, 2, 3]: x if x != 2]', [1, 3]],
    ['[for k, v in {b = 1, a = 2}: "${k}${v}"]', ['a2', 'b1']],
    ['[for v in {b = 1, a = 2}: v]', [2, 1]],
    ['[for k, v in toset(["b", "a"]): "${k}=${v}"]', ['a=a', 'b=b']],
    ['{for x in ["a", "b"]: x => upper(x)}', { a: 'A', b: 'B' }],
    ['{for i, x in ["a", "b"]: i => x}', { 0: 'a', 1: 'b' }],
    ['{for x in ["ab", "ac", "b"]: substr(x, 0, 1) => x...}', { a: ['ab', 'ac'], b: ['b'] }],
    [
      '[for x in [1, 2]: [for y in [x, x + 1]: x * y]]',
      [
        [1, 2],
        [4, 6],
      ],
    ],
    ['[for x in [1]: [for x in [2]: x]]', [[2]]],
    ['[for var in ["x"]: var]', ['x']],
    ['[for x in []: x.y.z]', []],
  ],
  collections: [
    ['[1, "a", [true], null]', [1, 'a', [true], null]],
    ['{a = 1, "b c" = 2, (var.region) = 3}', { a: 1, 'b c': 2, eu: 3 }],
    ['{a = 1, a = 2}', { a: 2 }],
    ['{var = 1}', { var: 1 }],
    ['{(1 + 1) = "x"}', { 2: 'x' }],
  ],
  templates: [
    ['"a-${var.region}-${1 + 1}-${true}"', 'a-eu-2-true'],
    ['"${var.count}"', 3],
    ['"${var.names}"', ['a', 'b']],
    ['"${null}"', null],
    ['"$${a} %%{b}"', '${a} %{b}'],
    ['"%{ if var.count > 2 }many%{ else }few%{ endif }"', 'many'],
    ['"%{ if false }x%{ endif }"', ''],
    ['"%{ for n in var.names }<${n}>%{ endfor }"', '<a><b>'],
    ['"%{ for k, v in {b = 1, a = 2} }${k}${v} %{ endfor }"', 'a2 b1 '],
    ['"a %{~ if true ~} b %{~ endif ~} c"', 'abc'],
    ['<<E\na${var.region}\n  b\nE\n', 'aeu\n  b\n'],
    ['<<-E\n    a\n      ${var.region}\n    b\n  E\n', 'a\n  eu\nb\n'],
    ['<<E\n%{ for n in var.names ~}\n- ${n}\n%{ endfor ~}\nE\n', '- a\n- b\n'],
    ['"x${1e21}"', 'x1000000000000000000000'],
    ['"${0.1 + 0.2}|${1 / 4}|${1e-7}"', '0.3|0.25|0.0000001'],
  ],
  'values that are known later': [
    ['attr.cpu.arch', '${attr.cpu.arch}'],
    ['"${attr.cpu.arch}"', '${attr.cpu.arch}'],
    ['"a/${ env["HOME"] }/${NOMAD_TASK_DIR}"', 'a/${env["HOME"]}/${NOMAD_TASK_DIR}'],
    ['"${attr.unique.network.ip-address}"', '${attr.unique.network.ip-address}'],
    ['upper("${attr.os}")', '${ATTR.OS}'],
    ['[for attr in [1]: attr]', [1]],
    ['true ? attr.a : "x"', '${attr.a}'],
  ],
  calls: [
    ['max([1, 5, 3]...)', 5],
    ['max(7, [1, 5]...)', 7],
    ['max(toset([1, 5])...)', 5],
    ['upper(5)', '5'],
    ['abs("-3")', 3],
    ['join(",", toset(["b", "a"]))', 'a,b'],
    ['try(var.nothing, var.region)', 'eu'],
    ['can(var.region)', true],
    ['can(var.nothing)', false],
  ],
};

for (const [name, rows] of Object.entries(groups)) {
  describe(name, () => {
    test.each(rows)('%s', (text, value) => expect(plainOfText(text)).toEqual(value));
  });
}

describe('faults', () => {
  test.each<readonly [text: string, fault: string]>([
    ['vra.region', '1:1 There is no variable "vra"; did you mean "var"?'],
    ['x', '1:1 There is no variable "x"'],
    ['var.regoin', '1:5 There is no variable "regoin"; did you mean "region"?'],
    ['var["regoin"]', '1:5 There is no variable "regoin"; did you mean "region"?'],
    ['{a = 1}.toString', '1:9 There is no attribute "toString" in this object'],
    ['var.region.x', '1:12 "x" is an attribute of objects, and this is a string'],
    [
      'var.servers.id',
      '1:13 "id" is an attribute of objects, and this is a list; its elements may: write [*] before it, or an index',
    ],
    ['var.none.x', '1:10 "x" is an attribute of objects, and this is null'],
    ['var.names[2]', '1:11 There is no element 2: the list has 2 elements'],
    ['var.names[-1]', '1:11 The index of a list is a whole number from 0 on, not -1'],
    ['var.names[0.5]', '1:11 The index of a list is a whole number from 0 on, not 0.5'],
    ['var.names["a"]', '1:11 The index of a list has to be a number, and is the string "a"'],
    ['var.names[null]', '1:11 The index of a list has to be a number, and is null'],
    ['"abc"[0]', '1:7 An index belongs to a list or object, and this is a string'],
    [
      'toset([1])[0]',
      '1:12 An index belongs to a list or object, and this is a set; write tolist(…) around it',
    ],
    ['1 + "a"', '1:5 The right side of "+" has to be a number, and is the string "a"'],
    ['[] * 2', '1:1 The left side of "*" has to be a number, and is a list'],
    ['null + 1', '1:1 The left side of "+" has to be a number, and is null'],
    ['true < 1', '1:1 The left side of "<" has to be a number, and is a bool'],
    ['1 / 0', '1:5 Division by zero'],
    ['5 % 0', '1:5 Division by zero'],
    ['-"a"', '1:2 The value after "-" has to be a number, and is the string "a"'],
    ['!1', '1:2 The value after "!" has to be true or false, and is a number'],
    ['1 && true', '1:1 The left side of "&&" has to be true or false, and is a number'],
    [
      '18446744073709551616',
      '1:1 This number has more digits than a number holds; write such numbers as strings',
    ],
    ['1e300 * 1e300', '1:1 The result of "*" is too large to be a number'],
    [
      '9007199254740991 + 2',
      '1:1 The result of "+" has more digits than a number holds; write such numbers as strings',
    ],
    [
      '[9007199254740993]',
      '1:2 This number has more digits than a number holds; write such numbers as strings',
    ],
    ['null ? 1 : 2', '1:1 The condition has to be true or false, and is null'],
    ['1 ? 1 : 2', '1:1 The condition has to be true or false, and is a number'],
    [
      'true ? "a" : [1]',
      '1:1 Both results of a condition have one type, and these are string and tuple([number])',
    ],
    [
      'true ? 1 : true',
      '1:1 Both results of a condition have one type, and these are number and bool',
    ],
    ['"a${[1]}"', '1:5 A value within a text has to be a string, and is a list'],
    ['"a${null}"', '1:5 A value within a text has to be a string, and is null'],
    ['"%{ if null }a%{ endif }"', '1:8 The condition has to be true or false, and is null'],
    ['[for x in null: x]', '1:11 A "for" goes through a list, set or object, and this is null'],
    [
      '[for x in "abc": x]',
      '1:11 A "for" goes through a list, set or object, and this is a string',
    ],
    [
      '[for x in [1]: x if x]',
      '1:21 The condition after "if" has to be true or false, and is a number',
    ],
    [
      '{for x in [1, 1]: x => x}',
      '1:19 Two elements have the key "1"; write "..." behind the value to gather the values of a key in a list',
    ],
    ['{for x in [null]: x => x}', '1:19 The key has to be a string, and is null'],
    ['{([]) = 1}', '1:2 The key has to be a string, and is a list'],
    ['uper("a")', '1:1 There is no function "uper"; did you mean "upper"?'],
    ['a::b(1)', '1:1 There is no function "a::b"'],
    ['upper()', '1:1 Write upper(string): 0 arguments are given'],
    ['upper("a", "b")', '1:1 Write upper(string): 2 arguments are given'],
    ['substr("a")', '1:1 Write substr(string, offset, [length]): 1 argument is given'],
    ['max()', '1:1 Write max(number, numbers...): 0 arguments are given'],
    ['upper([1])', '1:7 The argument "string" of upper has to be a string, and is a list'],
    ['upper(null)', '1:7 The argument "string" of upper has to be a string, and is null'],
    [
      'join(",", [["a"]])',
      '1:11 The argument "lists" of join has to be a string, and is a list, at [0]',
    ],
    ['max("a"...)', '1:5 The value before "..." has to be a list or set, and is a string'],
    ['attr[var.region]', '1:6 "attr" is only known where the task runs; its key has to be fixed'],
    ['can(1, 2)', '1:1 can takes 1 arguments, and 2 are given'],
    ['try(var.a, var.b)', '1:16 There is no variable "b"'],
    ['[1,\n  2,\n  var.x]', '3:7 There is no variable "x"'],
  ])('%s', (text, fault) => expect(faultOfText(text)).toBe(fault));

  test('are shown with file, line and caret', () => {
    expect.assertions(3);
    try {
      valueOfText('[\n  upper("a"),\n  uper("b"),\n]');
    } catch (error) {
      expect((error as HclError).message).toBe(
        'There is no function "uper"; did you mean "upper"? (job.hcl, line 3, column 3)',
      );
      expect(renderFault(error as HclError)).toBe(
        [
          'job.hcl:3:3: There is no function "uper"; did you mean "upper"?',
          '  3 |   uper("b"),',
          '    |   ^',
        ].join('\n'),
      );
      expect(renderFaults(error as HclError)).toBe(renderFault(error as HclError));
    }
  });
});

describe('bounds', () => {
  const doubled = (count: number): string =>
    `[for a0 in [[1, 1]]: ${Array.from({ length: count }, (_, at) => `[for a${at + 1} in [[a${at}, a${at}]]: `).join('')}a${count}${']'.repeat(count)}]`;

  test.each<readonly [text: string, sentence: RegExp]>([
    ['[for a in range(1000): [for b in range(1000): [for c in range(1000): c]]]', /steps/],
    ['[for a in range(1000): [for b in range(1000): "${a}${b}"]]', /steps/],
    [
      '"%{ for a in range(1000) }%{ for b in range(1000) }%{ for c in range(1000) }%{ endfor }%{ endfor }%{ endfor }"',
      /steps/,
    ],
    [doubled(30), /The value is larger than/],
    ['try([for a in range(1000): [for b in range(1000): b]], 1)', /steps/],
    ['can([for a in range(1000): [for b in range(1000): b]])', /steps/],
    ['true ? 1 : [for a in range(1000): [for b in range(1000): b]]', /steps/],
    ['range(1e9)', /more than 1024 numbers/],
    ['range(0, 1, 1e-9)', /more than 1024 numbers/],
    ['format("%1000000000d", 1)', /asks for more than 1024 characters/],
    ['format("%.1000000000f", 1)', /asks for more than 1024 characters/],
    ['indent(1e9, "a\\nb")', /steps|The values are larger/],
    ['join(join("", range(1000)), range(1000))', /no fault|The values are larger/],
    [
      'join(join("", [for a in range(1000): "0123456789"]), range(1000))',
      /steps|The values are larger/,
    ],
    [
      'replace(join("", range(1000)), "", join("", [for a in range(10): join("", range(1000))]))',
      /steps|The values are larger/,
    ],
    ['setproduct(range(1000), range(1000), range(1000))', /steps|The values are larger/],
    ['setproduct([for a in range(100): range(100)]...)', /steps|The values are larger/],
    ['pow(10, 1e9)', /too large/],
    ['parseint(join("", [for a in range(1000): "11"]), 2)', /too large/],
    [
      'formatlist(join("", [for a in range(1000): "0123456789"]), range(1000))',
      /0 of 1 values are used/,
    ],
    ['[for a in range(1000): formatlist("%s", range(1000))]', /steps|The values are larger/],
    [
      'regexall("", join("", [for a in range(1000): join("", range(1000))]))',
      /steps|The values are larger/,
    ],
    [
      'regex("(a*)*(a*)*(a*)*$b", join("", [for a in range(1000): join("", [for b in range(80): "a"])]))',
      /steps/,
    ],
    ['regex("(((((((((a{10}){10}){10}){10}){10}){10}){10}){10}){10})", "a")', /too large/],
    [
      'regex_replace(join("", range(1000)), "", join("", [for a in range(10): join("", range(1000))]))',
      /steps|The values are larger/,
    ],
    ['jsondecode(join("", [for a in range(1000): "[["]))', /nested more than/],
    ['yamldecode(join("", [for a in range(1000): "[["]))', /nested more than/],
    ['yamldecode(join("", [for a in range(1000): "- "]))', /nested more than/],
    [
      `yamldecode("a: &a [1,1,1,1,1,1,1,1]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\\n")`,
      /alias/,
    ],
    ['[for a in range(1000): yamldecode("a: b")]', /steps/],
    ['[for a in range(1000): jsondecode("{}")]', /no fault|steps/],
    ['[for a in range(1000): sha512(join("", [for b in range(100): "0123456789"]))]', /steps/],
    ['strrev(join("", [for a in range(1000): join("", [for b in range(100): "é"])]))', /steps/],
  ])('%s', (text, sentence) => expect(faultOfText(text)).toMatch(sentence));

  test.each<readonly [what: string, text: string, value: unknown]>([
    ['a chain of operators', Array(1000).fill('1').join(' + '), 1000],
    ['parentheses', `${'('.repeat(120)}1${')'.repeat(120)}`, 1],
    ['conditions', `${'true ? '.repeat(100)}1${' : 2'.repeat(100)}`, 1],
    ['calls', `${'upper('.repeat(120)}"a"${')'.repeat(120)}`, 'A'],
    ['templates', `${'"${'.repeat(40)}1${'}"'.repeat(40)}`, 1],
    ['loops', `${'[for x in [1]: '.repeat(60)}1${']'.repeat(60)}[0]${'[0]'.repeat(59)}`, 1],
    ['splats', `length([1]${'[*]'.repeat(50)})`, 1],
  ])('the highest trees need no deep recursion: %s', (_, text, value) => {
    expect(valueOfText(text)).toEqual(value);
  });

  test('end the evaluation, with a place', () => {
    expect.assertions(2);
    try {
      valueOfText('[1, [for a in range(1000): [for b in range(1000): b]]]');
    } catch (error) {
      expect(error).toBeInstanceOf(HclLimitError);
      expect((error as HclError).column).toBeGreaterThan(4);
    }
  });

  test('are the bounds of the budget', () => {
    expect(faultOfText('[1, 2, 3]', { stepsMax: 3 })).toBe(
      '1:8 Evaluation takes more than 3 steps',
    );
    expect(faultOfText('[[[1]]]', { depthMax: 2 })).toBe(
      '1:1 The value is nested more than 2 deep',
    );
    expect(faultOfText('"abc${"def"}"', { sizeMax: 4 })).toBe(
      '1:1 The values are larger than 4 characters',
    );
  });
});
