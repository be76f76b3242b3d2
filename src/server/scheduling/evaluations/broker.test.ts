import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { Broker, type Brokered, type Delivery } from './broker.ts';

const limits = { deliveriesMax: 3, firstNackMs: 1_000, nackStepMs: 20_000 };

function evaluation(CreateIndex: number, JobID: string, Priority = 50): Brokered {
  return {
    ID: `e${CreateIndex}`,
    Namespace: 'default',
    Type: 'service',
    JobID,
    Priority,
    CreateIndex,
  };
}

function setUp() {
  const world = new SimulatedWorld(1);
  const gaveUp: string[] = [];
  const broker = new Broker<Brokered>({
    limits,
    timers: world.timers,
    giveUp: (one, superfluous) => gaveUp.push(one.ID, ...superfluous.map((other) => other.ID)),
  });
  return { world, broker, gaveUp };
}

test('B2: the highest priority goes first, then the oldest', () => {
  const { broker } = setUp();
  for (const one of [
    evaluation(1, 'a'),
    evaluation(2, 'b', 80),
    evaluation(3, 'c'),
    evaluation(4, 'd', 80),
  ]) {
    broker.enqueue(one);
  }
  const order = [1, 2, 3, 4].map(() => broker.take()?.evaluation.ID);
  expect(order).toEqual(['e2', 'e4', 'e1', 'e3']);
  expect(broker.take()).toBeUndefined();
});

test("B3: after an evaluation its job's newest is next, and the older ones are superfluous", () => {
  const { broker } = setUp();
  for (const index of [1, 2, 3, 4]) broker.enqueue(evaluation(index, 'a'));
  const first = broker.take()!;
  expect(broker.take()).toBeUndefined();
  expect(first.ack().map((one) => one.ID)).toEqual(['e2', 'e3']);
  expect(broker.take()!.evaluation.ID).toBe('e4');
  expect(first.ack()).toEqual([]);
});

test('B4: queueing a known evaluation does nothing, until it is done', () => {
  const { broker } = setUp();
  broker.enqueue(evaluation(1, 'a'));
  broker.enqueue(evaluation(1, 'a'));
  const first = broker.take()!;
  broker.enqueue(evaluation(1, 'a'));
  expect(broker.counts).toEqual({ ready: 0, waiting: 0, delayed: 0, out: 1 });
  first.ack();
  broker.enqueue(evaluation(1, 'a'));
  expect(broker.take()?.evaluation.ID).toBe('e1');
});

test('B5: a refused evaluation comes again later, and is given up after three deliveries', async () => {
  const { broker, world, gaveUp } = setUp();
  broker.enqueue(evaluation(1, 'a'));
  broker.take()!.nack();
  broker.enqueue(evaluation(2, 'a'));
  expect(broker.take()).toBeUndefined();
  await world.advance(999);
  expect(broker.take()).toBeUndefined();
  await world.advance(1);
  broker.take()!.nack();
  await world.advance(20_000);
  broker.take()!.nack();
  expect(gaveUp).toEqual(['e1']);
  expect(broker.take()?.evaluation.ID).toBe('e2');
});

test('whenReady calls back once, and at once if an evaluation is ready', () => {
  const { broker } = setUp();
  let wakes = 0;
  broker.whenReady(() => wakes++);
  expect(wakes).toBe(0);
  broker.enqueue(evaluation(1, 'a'));
  broker.enqueue(evaluation(2, 'b'));
  expect(wakes).toBe(1);
  broker.whenReady(() => wakes++);
  expect(wakes).toBe(2);
});

test('B3: a higher priority goes first, and later evaluations go on waiting', () => {
  const { broker } = setUp();
  const [first] = [1, 2, 3, 4, 5].map((index) => {
    broker.enqueue(evaluation(index, 'a', index === 3 ? 90 : 50));
    return index === 1 ? broker.take()! : undefined;
  });
  expect(first!.ack().map((one) => one.ID)).toEqual(['e2']);
  const important = broker.take()!;
  expect(important.evaluation.ID).toBe('e3');
  expect(broker.take()).toBeUndefined();
  expect(important.ack().map((one) => one.ID)).toEqual(['e4']);
  expect(broker.take()!.evaluation.ID).toBe('e5');
});

/** An evaluation of a job is out (e1), a more important one waits (e2), and the job is purged. */
function purged() {
  const { broker, ...rest } = setUp();
  broker.enqueue(evaluation(1, 'a'));
  const first = broker.take()!;
  broker.enqueue(evaluation(2, 'a', 90));
  broker.enqueue(evaluation(3, 'a'));
  expect(broker.end([{ ID: 'e1' }, { ID: 'e2' }, { ID: 'e3' }])).toEqual([]);
  broker.enqueue(evaluation(4, 'a'));
  return { broker, first, ...rest };
}

test('B6: an evaluation ended by a purge makes no other superfluous, however important it was', () => {
  const { broker, first } = purged();
  broker.enqueue(evaluation(5, 'a'));
  expect(broker.counts).toEqual({ ready: 0, waiting: 2, delayed: 0, out: 1 });
  expect(first.ack().map((one) => one.ID)).toEqual(['e4']);
  expect(broker.take()!.evaluation.ID).toBe('e5');
});

test('B6: an evaluation that has ended is not tried again', async () => {
  const { broker, first, world, gaveUp } = purged();
  expect(first.nack()).toEqual([]);
  expect(broker.take()!.evaluation.ID).toBe('e4');
  await world.advance(60_000);
  expect([broker.take(), gaveUp]).toEqual([undefined, []]);
});

test.each(['ready', 'delayed'])(
  'B6: an evaluation that ends while it is %s makes way',
  async (place) => {
    const { broker, world } = setUp();
    broker.enqueue(evaluation(1, 'a'));
    if (place === 'delayed') broker.take()!.nack();
    for (const index of [2, 3]) broker.enqueue(evaluation(index, 'a'));
    expect(broker.end([{ ID: 'e1' }]).map((one) => one.ID)).toEqual(['e2']);
    await world.advance(60_000);
    expect(broker.take()!.evaluation.ID).toBe('e3');
    expect(broker.take()).toBeUndefined();
    expect(broker.counts).toEqual({ ready: 0, waiting: 0, delayed: 0, out: 1 });
  },
);

const calls = fc.array(
  fc.record({
    call: fc.constantFrom('enqueue', 'enqueue', 'take', 'ack', 'purge'),
    job: fc.nat(2),
    priority: fc.nat(2),
  }),
);

test('B1, B3, B6: in whatever order of calls, no evaluation is lost, and the newest of a job is decided', () => {
  fc.assert(
    fc.property(calls, (list) => {
      const { broker } = setUp();
      const out: Delivery<Brokered>[] = [];
      const open = new Map<string, Brokered>();
      const newest = new Map<string, string>();
      const decided = new Set<string>();
      let index = 0;
      const settle = (...over: readonly Brokered[]) => {
        for (const { ID } of over) expect(open.delete(ID)).toBe(true);
      };
      const run = (call: string, JobID: string, priority: number): void => {
        if (call === 'purge') {
          const ended = [...open.values()].filter((one) => one.JobID === JobID);
          settle(...ended);
          settle(...broker.end(ended));
        }
        if (call === 'purge' || call === 'enqueue') {
          const one = evaluation(++index, JobID, priority);
          open.set(one.ID, one);
          newest.set(JobID, one.ID);
          broker.enqueue(one);
        }
        const delivery = call === 'take' ? broker.take() : undefined;
        if (delivery !== undefined) {
          const { evaluation: one } = delivery;
          expect(open.has(one.ID)).toBe(true);
          expect(out.map((other) => other.evaluation.JobID)).not.toContain(one.JobID);
          out.push(delivery);
        }
        const done = call === 'ack' ? out.shift() : undefined;
        if (done === undefined) return;
        decided.add(done.evaluation.ID);
        open.delete(done.evaluation.ID);
        settle(...done.ack());
      };
      for (const { call, job, priority } of list) run(call, `j${job}`, priority);
      for (let left = 2 * index; left > 0; left--) {
        run('take', '', 0);
        run('ack', '', 0);
      }
      expect([...newest.values()].filter((id) => !decided.has(id))).toEqual([]);
      expect([...open.keys()]).toEqual([]);
      expect(broker.counts).toEqual({ ready: 0, waiting: 0, delayed: 0, out: 0 });
    }),
  );
});
