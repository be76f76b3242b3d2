import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { complete } from '../complete.ts';
import { limits } from '../limits.ts';
import { AllocationSchema, clientStatuses, desiredStatuses } from './allocation.ts';
import {
  allocationIndex,
  allocationName,
  clientStatusOf,
  isClientTerminal,
  isServerTerminal,
  isTerminal,
  occupiesNode,
  withTaskEvent,
} from './allocation-rules.ts';
import { allocationStub } from './allocation-stub.ts';
import { pendingTask, taskEvent } from './task-event.ts';

describe('terminal', () => {
  test('for the server: stop and evict', () => {
    const terminal = desiredStatuses.filter((DesiredStatus) => isServerTerminal({ DesiredStatus }));
    expect(terminal).toEqual(['stop', 'evict']);
  });

  test('for the client: complete, failed and lost', () => {
    const terminal = clientStatuses.filter((ClientStatus) => isClientTerminal({ ClientStatus }));
    expect(terminal).toEqual(['complete', 'failed', 'lost']);
  });

  test('either side ends an allocation, but only the client frees the node', () => {
    const stopping = { DesiredStatus: 'stop', ClientStatus: 'running' } as const;
    expect([isTerminal(stopping), occupiesNode(stopping)]).toEqual([true, true]);
    const failed = { DesiredStatus: 'run', ClientStatus: 'failed' } as const;
    expect([isTerminal(failed), occupiesNode(failed)]).toEqual([true, false]);
    expect(isTerminal({ DesiredStatus: 'run', ClientStatus: 'unknown' })).toBe(false);
  });
});

describe('the client status follows from the tasks: failed > running > pending > complete', () => {
  const states = {
    failed: { State: 'dead', Failed: true },
    running: { State: 'running', Failed: false },
    pending: { State: 'pending', Failed: false },
    complete: { State: 'dead', Failed: false },
  } as const;
  const order = ['failed', 'running', 'pending', 'complete'] as const;

  test('without a task', () => {
    expect(clientStatusOf({})).toEqual({ status: 'pending', description: 'No tasks have started' });
  });

  test('with any mixture of tasks', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...order), { minLength: 1 }), (mixture) => {
        const tasks = Object.fromEntries(mixture.map((word, index) => [`t${index}`, states[word]]));
        expect(clientStatusOf(tasks).status).toBe(order.find((word) => mixture.includes(word)));
      }),
    );
  });
});

describe('names', () => {
  test('are <job>.<group>[index], and the index is read from any name', () => {
    expect(allocationName('web', 'api', 3)).toBe('web.api[3]');
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), (job, group, index) => {
        expect(allocationIndex(allocationName(job, group, index))).toBe(index);
      }),
    );
    expect(allocationIndex('web.api')).toBe(-1);
  });
});

describe('task events', () => {
  test('have every field', () => {
    expect(taskEvent('Terminated', 5e15, { ExitCode: 3 })).toMatchObject({
      Type: 'Terminated',
      Time: 5e15,
      ExitCode: 3,
      Signal: 0,
      Message: '',
      FailsTask: false,
      Details: null,
    });
  });

  test('only the newest are kept', () => {
    let state = pendingTask;
    for (let time = 1; time <= limits.task.eventsKept + 2; time++)
      state = withTaskEvent(state, taskEvent('Driver', time));
    expect(state.Events!.map((event) => event.Time)).toEqual(
      Array.from({ length: limits.task.eventsKept }, (_, index) => index + 3),
    );
  });
});

describe('the stub', () => {
  const allocation = complete(AllocationSchema, { ID: 'a', TaskStates: { t: {} } });
  test.each([
    [{}, true, false],
    [{ taskStates: false }, false, false],
    [{ resources: true }, true, true],
  ])('%j', (options, hasStates, hasResources) => {
    const stub = allocationStub(allocation, 'service', options);
    expect(stub).toMatchObject({
      ID: 'a',
      JobType: 'service',
      DesiredTransition: { Migrate: null },
    });
    expect(stub.TaskStates !== null).toBe(hasStates);
    expect('AllocatedResources' in stub).toBe(hasResources);
    expect('Metrics' in stub).toBe(false);
  });
});
