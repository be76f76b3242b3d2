import { describe, expect, test } from 'vitest';
import { allowedTasks, endingRounds, endReason, type States, type TaskSketch } from './stages.ts';

const task = (Name: string, Hook = '', Sidecar = false, Leader = false) =>
  ({ Name, Leader, Lifecycle: Hook === '' ? null : { Hook, Sidecar } }) as TaskSketch;

const tasks = [
  task('init', 'prestart'),
  task('proxy', 'prestart', true),
  task('app'),
  task('side'),
  task('warm', 'poststart'),
  task('clean', 'poststop'),
];

/** `p` pending, `r` running, `d` dead, `f` dead and failed; in the order of `tasks`. */
function states(letters: string, of: readonly TaskSketch[] = tasks): States {
  const words = { p: 'pending', r: 'running', d: 'dead', f: 'dead' } as const;
  return Object.fromEntries(
    of.map(({ Name }, index) => {
      const letter = letters[index] as keyof typeof words;
      const StartedAt = letter === 'p' ? null : '2026-01-01T00:00:00Z';
      return [Name, { State: words[letter], Failed: letter === 'f', StartedAt }];
    }),
  );
}

test.each([
  ['at first only prestart', 'pppppp', 'init proxy'],
  ['a sidecar that is not up holds main back', 'dppppp', 'proxy'],
  ['an unfinished prestart holds main back', 'rrpppp', ''],
  ['a failed prestart holds main back', 'frpppp', ''],
  ['prestart done', 'drpppp', 'app side'],
  ['one main task pending holds poststart back', 'drrppp', 'side'],
  ['main running', 'drrrpp', 'warm'],
  ['main done already', 'drddpp', 'warm'],
  ['poststop waits for all', 'ddddrp', ''],
  ['all dead', 'dddddp', 'clean'],
])('%s', (_name, letters, expected) => {
  const now = states(letters);
  const allowed = allowedTasks(tasks, now);
  const starting = tasks.filter(({ Name }) => allowed.has(Name) && now[Name]?.State === 'pending');
  expect(starting.map(({ Name }) => Name).join(' ')).toBe(expected);
});

test('poststop tasks do not run if no other task ran', () => {
  const never = Object.fromEntries(
    tasks.map(({ Name }) => [Name, { State: 'dead' as const, Failed: false, StartedAt: null }]),
  );
  expect(allowedTasks(tasks, never)).not.toContain('clean');
});

describe('the rest ends', () => {
  const leading = [task('main', '', false, true), task('helper')];
  const single = [task('app'), task('proxy', 'prestart', true)];
  test.each([
    ['not while all is well', tasks, 'drrrdp', undefined],
    ['when a task failed', tasks, 'drrfpp', { kind: 'sibling-failed', task: 'side' }],
    ['not when a poststop task failed', single, 'rr', undefined],
    ['when the leader is done', leading, 'dr', { kind: 'leader-dead' }],
    ['not when another than the leader is done', leading, 'rd', undefined],
    ['when only sidecars are left', single, 'dr', { kind: 'main-tasks-dead' }],
  ])('%s', (_name, of, letters, expected) => {
    expect(endReason(of, states(letters, of))).toEqual(expected);
  });
});

test('the leader ends first, then the others, then the sidecars; poststop tasks stay', () => {
  const rounds = endingRounds([...tasks, task('lead', '', false, true)]);
  expect(rounds).toEqual([['lead'], ['init', 'app', 'side', 'warm'], ['proxy']]);
});

/**
 * Every combination of states of one task of each kind, compared with the stages of
 * docs/behaviour/client.md#the-order-of-tasks: a task may run if an entered stage allows it.
 */
test('the stages are those of the table, for every state of every kind of task', () => {
  const kinds = [
    task('init', 'prestart'),
    task('proxy', 'prestart', true),
    task('app'),
    task('warm', 'poststart'),
    task('watch', 'poststart', true),
    task('clean', 'poststop'),
  ];
  const letters = ['p', 'r', 'd', 'f'];
  for (let number = 0; number < letters.length ** kinds.length; number++) {
    const word = kinds.map((_, index) => letters[(number >> (2 * index)) & 3]).join('');
    const [init, proxy, app, warm, watch] = word;
    const main = init === 'd' && proxy === 'r';
    const poststart = main && app !== 'p';
    const others = [init, proxy, app, warm, watch];
    const isOver = others.every((letter) => letter === 'd' || letter === 'f');
    const expected = [
      'init',
      'proxy',
      ...(main ? ['app'] : []),
      ...(poststart ? ['warm', 'watch'] : []),
      ...(isOver ? ['clean'] : []),
    ];
    expect([word, ...allowedTasks(kinds, states(word, kinds))]).toEqual([word, ...expected]);
    const reason = endReason(kinds, states(word, kinds))?.kind;
    const hasFailed = others.includes('f');
    const onlySidecars = [init, app, warm].every((letter) => letter === 'd');
    const end = hasFailed ? 'sibling-failed' : onlySidecars ? 'main-tasks-dead' : undefined;
    expect([word, reason]).toEqual([word, end]);
  }
});
