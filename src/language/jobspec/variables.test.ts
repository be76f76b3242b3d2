import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { HclError, renderFaults } from '../hcl/errors.ts';
import { standardFunctions } from '../hcl/functions/standard.ts';
import { readJob } from './job-file.ts';
import type { VariableInputs } from './variable-values.ts';

const { clock, ids } = new SimulatedWorld(1);
const functions = standardFunctions({ clock, ids });

/** The value of `var.x` as JSON. */
const valueIn = (declaration: string, variables: VariableInputs = {}): unknown => {
  const text = `variable "x" {\n${declaration}\n}\njob "j" {\n name = jsonencode(var.x)\n}\n`;
  const { job } = readJob(text, { functions, variables, fileName: 'job.hcl' });
  return JSON.parse(job.Name as string);
};

function faultsOf(declaration: string, variables: VariableInputs = {}): readonly string[] {
  try {
    valueIn(declaration, variables);
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return error.faults.map(
      ({ fileName, line, column, sentence }) => `${fileName}:${line}:${column} ${sentence}`,
    );
  }
  return [];
}

const file = (text: string, name = 'vars.hcl') => ({ name, text });
const flag = (text: string) => ['x', text] as const;

const precedence: readonly (readonly [title: string, given: VariableInputs, value: string])[] = [
  ['the default', {}, 'default'],
  ['the environment beats the default', { environment: { x: 'environment' } }, 'environment'],
  [
    'a file beats the environment',
    { environment: { x: 'environment' }, files: [file('x = "file"\n')] },
    'file',
  ],
  ['the later file beats the earlier', { files: [file('x = "a"'), file('x = "b"')] }, 'b'],
  [
    'a flag beats a file',
    { environment: { x: 'e' }, files: [file('x = "f"')], flags: [flag('flag')] },
    'flag',
  ],
  ['the later flag beats the earlier', { flags: [flag('a'), flag('b')] }, 'b'],
  ['JSON', { files: [file('{"x": "${json}"}', 'vars.json')] }, '${json}'],
  ['a text that looks like a list', { flags: [flag('["a"]')] }, '["a"]'],
  ['an empty text', { flags: [flag('')] }, ''],
  ['other environment variables are ignored', { environment: { y: '1' } }, 'default'],
];

test.each(precedence)('%s', (_, given, value) => {
  expect(valueIn('default = "default"', given)).toBe(value);
});

const typed: readonly (readonly [type: string, text: string, value: unknown])[] = [
  ['string', '1', '1'],
  ['number', '1.5', 1.5],
  ['bool', 'true', true],
  ['any', '[1, "a"]', [1, 'a']],
  ['list(number)', '["1", 2]', [1, 2]],
  ['set(string)', '["b", "a", "b"]', ['a', 'b']],
  ['map(string)', '{ a = 1 }', { a: '1' }],
  ['tuple([string, number])', '[1, "2"]', ['1', 2]],
  ['object({ a = string, b = optional(number, 3) })', '{ a = 1, c = 2 }', { a: '1', b: 3 }],
  ['list(object({ a = bool }))', '[{ a = "true" }]', [{ a: true }]],
];

test.each(typed)('of type %s', (type, text, value) => {
  expect(valueIn(`type = ${type}`, { flags: [flag(text)] })).toEqual(value);
  expect(valueIn(`type = ${type}`, { environment: { x: text } })).toEqual(value);
});

test('a variable without a type has the type of its default, or is a text', () => {
  expect(valueIn('default = 1', { flags: [flag('2')] })).toBe(2);
  expect(valueIn('default = false', { flags: [flag('true')] })).toBe(true);
  expect(valueIn('default = [1]', { flags: [flag('[2]')] })).toEqual([2]);
  expect(valueIn('', { flags: [flag('2')] })).toBe('2');
  expect(valueIn('default = null')).toBeNull();
});

const validation = (condition: string, message = '"Too " + 1') =>
  `type = number\nvalidation {\n condition = ${condition}\n error_message = ${message}\n}`;

const refused: readonly (readonly [
  title: string,
  declaration: string,
  given: VariableInputs,
  faults: readonly string[],
])[] = [
  [
    'a missing value',
    'description = "What is said."',
    {},
    ['job.hcl:1:1 The variable "x" needs a value (What is said.)'],
  ],
  [
    'a flag for an unknown variable',
    'default = 1',
    { flags: [['xy', 'secret']] },
    ['-var xy:1:1 The job file has no variable "xy"; did you mean "x"?'],
  ],
  [
    'an entry of a file for an unknown variable, and a block in the file',
    'default = 1',
    { files: [file('y = 1\nz {}\n')] },
    [
      'vars.hcl:1:1 The job file has no variable "y"',
      'vars.hcl:2:1 A file of variables holds "name = value" only, and no blocks',
    ],
  ],
  [
    'a file that is no HCL',
    'default = 1',
    { files: [file('x = \n')] },
    ['vars.hcl:1:5 Expected a value, found the end of the line'],
  ],
  [
    'a file that refers to something',
    'default = 1',
    { files: [file('x = var.y\n')] },
    ['vars.hcl:1:5 There is no variable "var"'],
  ],
  [
    'a value of a file with the wrong type',
    'type = list(string)',
    { files: [file('\nx = 1\n')] },
    ['vars.hcl:2:1 The variable "x" has to be list(string), and is a number'],
  ],
  [
    'a flag with the wrong type',
    'type = number',
    { flags: [flag('many')] },
    ['-var x:1:1 The variable "x" has to be a number, and is the string "many"'],
  ],
  [
    'a flag that is no expression',
    'type = list(string)',
    { flags: [flag('[')] },
    ['-var x:1:1 Expected a value, found the end of the text (line 1, column 2 of the value)'],
  ],
  [
    'an environment variable that is no expression',
    'type = any',
    { environment: { x: 'a b' } },
    [
      'the environment variable of "x":1:1 Expected an operator or the end of the text, found "b" (line 1, column 3 of the value)',
    ],
  ],
  [
    'a default with the wrong type',
    'type = number\ndefault = "many"',
    {},
    ['job.hcl:3:11 The default has to be a number, and is the string "many"'],
  ],
  [
    'an invalid type',
    'type = strong',
    {},
    ['job.hcl:2:8 There is no type "strong"; did you mean "string"?'],
  ],
  [
    'an unknown attribute',
    'defualt = 1',
    {},
    [
      'job.hcl:2:1 "variable" has no "defualt"; did you mean "default"?',
      'job.hcl:1:1 The variable "x" needs a value',
    ],
  ],
  [
    'a value that a validation refuses',
    validation('var.x < 3', '"Not ${var.x}."'),
    { flags: [flag('5')] },
    ['-var x:1:1 The variable "x" is refused: Not 5.'],
  ],
  [
    'an invalid condition',
    validation('var.x'),
    { flags: [flag('5')] },
    ['job.hcl:4:14 A condition has to be true or false'],
  ],
  [
    'half a validation',
    'type = number\nvalidation {\n condition = true\n}',
    { flags: [flag('5')] },
    ['job.hcl:3:1 "validation" needs condition and error_message'],
  ],
];

test.each(refused)('refused: %s', (_, declaration, given, faults) => {
  expect(new Set(faultsOf(declaration, given))).toEqual(new Set(faults));
});

test('a validation accepts a value', () => {
  expect(valueIn(validation('var.x < 3 && var.x > 0'), { flags: [flag('2')] })).toBe(2);
});

test('values of flags and of the environment are not shown', () => {
  const show = (variables: VariableInputs) => {
    try {
      valueIn('type = list(string)', variables);
    } catch (error) {
      return renderFaults(error as HclError);
    }
    throw new Error('it was accepted');
  };
  expect(show({ flags: [flag('["hunter2"')] })).not.toContain('hunter2');
  expect(show({ environment: { x: '{ a = "hunter2" }' } })).not.toContain('hunter2');
  expect(show({ flags: [flag('[]'), ['y', 'hunter2']] })).not.toContain('hunter2');
});

test('two variables with the same name, and invalid names, are refused', () => {
  const text = 'variable "a" {}\nvariable "a" {}\nvariable "b c" {}\nvariable {}\njob "j" {}\n';
  try {
    readJob(text, { functions, variables: { flags: [['a', '1']] } });
    expect.unreachable();
  } catch (error) {
    const faults = (error as HclError).faults.map(({ line, sentence }) => `${line} ${sentence}`);
    expect(faults).toEqual([
      '2 There is a variable "a" already',
      '3 The name of a variable has letters, digits, "_" and "-" only',
      '4 "variable" needs one name: variable "name" { … }',
    ]);
  }
});
