import { describe, expect, test } from 'vitest';
import { nowMs, run } from '../harness.test-helper.ts';
import { forms, variableExample, variableExampleJson, variableIn } from './variable-file.ts';

const metadata = {
  Namespace: 'default',
  Path: 'a/b',
  CreateIndex: 3,
  ModifyIndex: 7,
  CreateTime: nowMs * 1e6,
  ModifyTime: nowMs * 1e6,
};
const variable = { ...metadata, Items: { user: 'app', 'pass word': 'a "b" ${c}\n' } };
const server = {
  'GET /v1/var/a/b': { json: variable },
  'PUT /v1/var/a/b': { json: variable },
  'DELETE /v1/var/a/b': { json: true },
  'DELETE /v1/var/none': { json: false },
  'GET /v1/vars': { json: [metadata] },
};
const conflict = {
  'PUT /v1/var/a/b': {
    status: 409,
    json: { code: 'variable-conflict', detail: 'The variable "a/b" has the ModifyIndex 7.' },
  },
};

describe('var put', () => {
  const hcl = 'path = "a/b"\nitems {\n user = "app"\n}\n';
  test.each<[string, string[], string, string, object]>([
    ['a new variable', ['a/b', 'user=app'], '', '?cas=0', { user: 'app' }],
    ['by force', ['a/b', 'user=app', '-force'], '', '', { user: 'app' }],
    [
      'an unchanged variable',
      ['a/b', 'user=a=b', '-check-index', '7'],
      '',
      '?cas=7',
      { user: 'a=b' },
    ],
    ['by the other name', ['a/b', 'user=', '-cas', '7'], '', '?cas=7', { user: '' }],
    ['the text of a file', ['a/b', 'user=@name'], '', '?cas=0', { user: 'from a file\n' }],
    ['a description', ['@web.hcl'], '', '?cas=0', { user: 'app' }],
    ['and more', ['@web.hcl', 'more=1'], '', '?cas=0', { user: 'app', more: '1' }],
    [
      'a variable from standard input',
      ['-'],
      JSON.stringify(variable),
      '?namespace=default&cas=7',
      variable.Items,
    ],
    ['in its form', ['-in', 'hcl', '-'], hcl, '?cas=0', { user: 'app' }],
  ])('%s', async (_, words, stdin, query, Items) => {
    const files = { 'web.hcl': hcl, name: 'from a file\n' };
    const { exitCode, seen, stdout } = await run(['var', 'put', ...words], {
      server,
      stdin,
      files,
    });
    expect([exitCode, stdout]).toEqual([0, 'The variable a/b is written, at index 7.\n']);
    expect(seen).toMatchObject([{ method: 'PUT', body: { Items } }]);
    expect(seen[0]!.query).toEqual(Object.fromEntries(new URLSearchParams(query)));
  });

  test.each([
    [['a/b', 'hunter2'], 'Every item must have the form KEY=VALUE, and one has not.'],
    [['a/b', 'k=v', '-force', '-cas', '1'], '--force and --check-index contradict each other.'],
    [['a/b', 'k=v', '-cas', 'x'], '--check-index must be an integer from 0, got "x".'],
    [['a/b', 'k=v', '-out', 'x'], '--out must be one of table, json, hcl, none, got "x".'],
    [['-', '-in', 'json'], 'Standard input is not JSON.'],
    [['-'], 'The description does not tell the path of the variable.'],
    [['@missing'], '"missing" cannot be read: there is no such file.'],
  ])('refused: %j', async (words, message) => {
    const { exitCode, stderr, seen } = await run(['var', 'put', ...words], { server });
    expect([exitCode, seen]).toEqual([1, []]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('hunter2');
  });

  test('a conflict comes with advice', async () => {
    const { exitCode, stderr } = await run(['var', 'put', 'a/b', 'k=v'], { server: conflict });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('--force replaces the stored variable');
  });
});

test('var get prints a variable in every format, and a single item unchanged', async () => {
  const get = (...words: string[]) => run(['var', 'get', ...words, 'a/b'], { server });
  expect((await get()).stdout).toContain('pass word  a "b" ${c}');
  expect(JSON.parse((await get('-json')).stdout)).toEqual(variable);
  const { stdout } = await get('-out', 'hcl');
  expect(variableIn(stdout, 'x')).toEqual({
    path: 'a/b',
    namespace: 'default',
    modifyIndex: 7,
    items: variable.Items,
  });
  expect((await get('-item', 'pass word')).stdout).toBe(variable.Items['pass word']);
  expect(await get('-item', 'none')).toMatchObject({ exitCode: 1, stdout: '' });
});

test('var list and purge', async () => {
  const listed = await run(['var', 'list', 'a/'], { server });
  expect(listed.stdout).toBe('Path  Index  Modified\na/b   7      2026-01-01T00:00:00Z\n');
  expect(listed.seen[0]!.query).toEqual({ prefix: 'a/' });
  const every = await run(['var', 'list', '-namespace', '*'], { server });
  expect(every.stdout).toContain('default    a/b');
  const gone = await run(['var', 'purge', 'a/b', '-cas', '7'], { server });
  expect(gone.stdout).toBe('The variable a/b is deleted.\n');
  expect(gone.seen[0]!.query).toEqual({ cas: '7' });
  expect((await run(['var', 'purge', 'none'], { server })).exitCode).toBe(1);
});

test.each(forms)('var init writes a description in %s that put understands', async (form) => {
  const { written, exitCode } = await run(['var', 'init', '-out', form]);
  const text = written[`spec.var.${form}`]!;
  expect([exitCode, text]).toEqual([0, form === 'hcl' ? variableExample : variableExampleJson]);
  expect(variableIn(text, 'x')).toMatchObject({
    path: 'roster/jobs/example',
    items: { user: 'app', password: 'change me' },
  });
  const files = { [`spec.var.${form}`]: 'mine' };
  expect((await run(['var', 'init', '-out', form], { files })).exitCode).toBe(1);
});
