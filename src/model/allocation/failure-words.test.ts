import { expect, test } from 'vitest';
import { failureReasons } from './failure-words.ts';
import { taskEvent } from './task-event.ts';
import { taskEventTypes } from './task-state.ts';

const events = (...all: readonly (readonly [keyof typeof taskEventTypes, string])[]) => ({
  Events: all.map(([type, DisplayMessage], index) =>
    taskEvent(taskEventTypes[type], index, { DisplayMessage }),
  ),
});

test.each([
  {
    says: 'the end of the last run before the consequences that the node drew from it',
    states: {
      run: events(
        ['terminated', 'Exit Code: 3'],
        ['restarting', 'Task restarting in 1s'],
        ['terminated', 'Exit Code: 7'],
        ['notRestarting', 'Policy allows no restarts'],
        ['allocationUnhealthy', 'Unhealthy because the task failed'],
      ),
    },
    reasons: ['Task "run": Exit Code: 7'],
  },
  {
    says: 'the judgement of the node, if no run has ended',
    states: {
      run: events(
        ['started', 'Task started'],
        ['allocationUnhealthy', 'Not healthy by its deadline'],
      ),
      side: events(['started', 'Task started']),
    },
    reasons: ['Task "run": Not healthy by its deadline'],
  },
  {
    says: 'every task that has a reason',
    states: {
      one: events(['driverFailure', 'No such command']),
      two: events(['setupFailure', 'No room for its directory']),
    },
    reasons: ['Task "one": No such command', 'Task "two": No room for its directory'],
  },
  { says: 'the description, if no task has a reason', states: {}, reasons: ['Failed tasks'] },
  { says: 'the description, if the states are not known', states: null, reasons: ['Failed tasks'] },
])('$says', ({ states, reasons }) => {
  expect(failureReasons({ TaskStates: states, ClientDescription: 'Failed tasks' })).toEqual(
    reasons,
  );
});

test('nothing is made up where nothing is told', () => {
  expect(failureReasons({ TaskStates: null, ClientDescription: '' })).toEqual([]);
});
