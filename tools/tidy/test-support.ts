/**
 * What tests share has one suffix and one place: `<name>.test-helper.ts` beside the code, and below `test/`,
 * which is all test code, the folder `test/support/` for what tests of several folders use. Tests of
 * documents (`test/docs/`) hold them against tables of every folder.
 */
import { dirname, join } from 'node:path/posix';
import type { Project, Rule } from './rule.ts';

const test = /\.test\.ts$/;
const helper = /\.test-helper\.ts$/;
const otherName = /[./-](?:testing|fixtures?|harness|crash)[./]/;
/** It is started by its path. */
const program = /(?:\/main\.ts|\.mjs)$/;

export const testSupport: Rule = {
  name: 'test-support',
  prepare: (project) => {
    const users = usersOf(project);
    return ({ path }) => {
      const message = path.startsWith('test/')
        ? faultOfShared(path, users.get(path) ?? [])
        : faultOfHelper(path, users.get(path) ?? [], project);
      return message === undefined ? [] : [{ line: 1, message }];
    };
  },
};

function faultOfHelper(
  path: string,
  users: readonly string[],
  { texts }: Project,
): string | undefined {
  if (test.test(path) || helper.test(path) || program.test(path)) return undefined;
  if (texts.get(path)?.includes('import.meta.main')) return undefined;
  const isForTests =
    users.length > 0 && users.every((user) => test.test(user) || helper.test(user));
  if (!isForTests && !otherName.test(path)) return undefined;
  return 'only tests use the file: name it <name>.test-helper.ts';
}

function faultOfShared(path: string, users: readonly string[]): string | undefined {
  if (test.test(path) || path.startsWith('test/support/')) return undefined;
  const other = users.find((user) => ![folderOf(path), 'test/docs'].includes(folderOf(user)));
  return other === undefined ? undefined : `${other} uses the file, too: move it to test/support`;
}

/** `test/e2e` of all that is below it. */
const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');

/** The files that import each file. */
function usersOf({ texts }: Project): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const [path, text] of texts) {
    for (const [, specifier = ''] of text.matchAll(/(?:from|import\(?|URL\() ?'(\.[^']*)'/g)) {
      const target = join(dirname(path), specifier);
      users.set(target, [...(users.get(target) ?? []), path]);
    }
  }
  return users;
}
