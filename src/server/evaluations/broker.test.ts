import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
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

test('B2: the highest priority goes first, equal ones in the order of creation', () => {
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

test('B3: behind one of the same job the newest is next and the older are superfluous', () => {
  const { broker } = setUp();
  for (const index of [1, 2, 3, 4]) broker.enqueue(evaluation(index, 'a'));
  const first = broker.take()!;
  expect(broker.take()).toBeUndefined();
  expect(first.ack().map((one) => one.ID)).toEqual(['e3', 'e2']);
  expect(broker.take()!.evaluation.ID).toBe('e4');
  expect(first.ack()).toEqual([]);
});

test('B4: queueing what is known does nothing, until it is done', () => {
  const { broker } = setUp();
  broker.enqueue(evaluation(1, 'a'));
  broker.enqueue(evaluation(1, 'a'));
  const first = broker.take()!;
  broker.enqueue(evaluation(1, 'a'));
  expect(broker.counts).toEqual({ ready: 0, waiting: 0, delayed: 0, known: 1 });
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

test('whenReady wakes once, at once when something is ready', () => {
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

test('B1: whatever the order of calls, no job has two evaluations out, and none is lost', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('enqueue', 'take', 'ack'), fc.nat(3), fc.nat(2)));
  fc.assert(
    fc.property(steps, (calls) => {
      const { broker } = setUp();
      const out: Delivery<Brokered>[] = [];
      const settled = new Set<string>();
      let index = 0;
      const ack = () => {
        const delivery = out.shift();
        if (delivery === undefined) return;
        settled.add(delivery.evaluation.ID);
        for (const older of delivery.ack()) settled.add(older.ID);
      };
      for (const [call, job, priority] of calls) {
        if (call === 'enqueue') broker.enqueue(evaluation(++index, `j${job}`, priority));
        if (call === 'take') {
          const delivery = broker.take();
          if (delivery !== undefined) out.push(delivery);
        }
        if (call === 'ack') ack();
        const jobs = out.map((delivery) => delivery.evaluation.JobID);
        expect(new Set(jobs).size).toBe(jobs.length);
      }
      for (let delivery = broker.take(); delivery || out.length > 0; delivery = broker.take()) {
        if (delivery) out.push(delivery);
        ack();
      }
      expect(settled.size).toBe(index);
      expect(broker.counts).toEqual({ ready: 0, waiting: 0, delayed: 0, known: 0 });
    }),
  );
});
