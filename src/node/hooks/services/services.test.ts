/** Registration of services, with real runners in simulated time. */
import { expect, test } from 'vitest';
import {
  allocationOf,
  batches,
  check,
  driver,
  events,
  forgetBatches,
  jobOf,
  names,
  notices,
  plainProbe,
  results,
  run,
  runner,
  services,
  state,
  takeUp,
  told,
  until,
  useServices,
  web,
  world,
} from './services.test-helper.ts';

test('a service is registered with all its fields, with references resolved', async () => {
  const Tags = ['v1', '${ROSTER_ALLOC_INDEX}', '${node.unique.name}', '${UNKNOWN}'];
  const Meta = { place: '${node.datacenter}${ROSTER_GROUP_NAME}' };
  await run({ group: [{ ...web, Tags, Meta }], task: { Services: [{ Name: 'own' }] } });
  await until(() => expect(names()).toEqual(['web', 'own']), 10);
  expect(told[0]).toEqual({
    ID: `${runner!.id}-group-web-http`,
    ServiceName: 'web',
    TaskName: '',
    Address: '10.0.0.7',
    Port: 25_001,
    Status: 'unchecked',
    Tags: ['v1', '2', 'alpha', '${UNKNOWN}'],
    Meta: { place: 'dc1servers' },
    TaggedAddresses: null,
    Weights: null,
  });
  expect(told[1]).toMatchObject({ TaskName: 'app', Address: '10.0.0.7', Port: 0 });
  expect(batches).toBe(1);
});

test.each([
  [
    'a number with a mode that takes one',
    { PortLabel: '9000', AddressMode: 'driver' },
    '10.0.0.7:9000',
  ],
  [
    'an address of its own',
    { Address: 'lb.${node.unique.name}.example' },
    'lb.alpha.example:25001',
  ],
])('the address is %s', async (_name, fields, address) => {
  await run({ task: { Services: [{ ...web, ...fields }] } });
  await until(() => expect(told.map((one) => `${one.Address}:${one.Port}`)).toEqual([address]), 10);
});

test('an allocation with its own network has its address there', async () => {
  const NetworkStatus = { Address: '172.26.0.4' };
  await run({ group: [{ ...web, AddressMode: 'alloc' }], allocation: { NetworkStatus } });
  await until(() => expect(told).toMatchObject([{ Address: '172.26.0.4', Port: 8080 }]), 10);
});

test('a service that cannot be registered is reported once, and keeps no other from it', async () => {
  const group = [{ ...web, Name: 'no such ${UNKNOWN}' }, { ...web, PortLabel: '${LATE}' }, web];
  await run({ group });
  await until(() => expect(names()).toEqual(['web']), 10);
  await world.advance(60_000);
  expect(notices).toHaveLength(2);
  expect(notices[0]).toContain('the service "no such ${UNKNOWN}" cannot be registered');
  expect(notices[1]).toContain('the allocation has no port "${LATE}"');
});

test('a canary has its own tags until it is promoted', async () => {
  const group = [{ ...web, Tags: ['live'], CanaryTags: ['canary'] }];
  await run({ group, allocation: { DeploymentStatus: { Canary: true } } });
  await until(() => expect(told).toMatchObject([{ Tags: ['canary'] }]), 10);
  runner!.update(allocationOf({ DeploymentStatus: { Canary: false } }), jobOf({ group }));
  await until(() => expect(told).toMatchObject([{ Tags: ['live'] }]), 10);
});

test('a service is deregistered while its task does not run', async () => {
  await run({ group: [web], task: { Config: { run_for: '60s', exit_code: 1 } } });
  await until(() => expect(names()).toEqual(['web']), 10);
  await until(() => expect(state().Restarts).toBe(1), 1000);
  await until(() => expect(names()).toEqual([]), 10);
  await until(() => expect(names()).toEqual(['web']), 1000);
});

test('a service is deregistered before the shutdown delay begins', async () => {
  await run({ group: [web], task: { Services: [{ Name: 'own' }], ShutdownDelay: 30e9 } });
  await until(() => expect(names()).toEqual(['web', 'own']), 10);
  void runner!.stop();
  await until(() => expect(events()).toContain('Waiting for shutdown delay'), 10);
  expect(told).toEqual([]);
  expect(driver.running).toHaveLength(1);
});

test('an update in place registers changes, and leaves running checks alone', async () => {
  const before = [{ ...web, Checks: [check] }];
  await run({ group: before });
  await until(() => expect(told).toMatchObject([{ Status: 'passing' }]), 100);
  const [since] = results().map(({ Timestamp }) => Timestamp);
  const group = [
    { ...web, Tags: ['new'], Checks: [check] },
    { ...web, Name: 'other' },
  ];
  runner!.update(allocationOf(), jobOf({ group }));
  await until(() => expect(names()).toEqual(['web', 'other']), 10);
  expect(told[0]).toMatchObject({ Tags: ['new'], Status: 'passing' });
  expect(results()).toMatchObject([{ Status: 'passing', Timestamp: since }]);
  runner!.update(allocationOf(), jobOf({ group: [] }));
  await until(() => expect(names()).toEqual([]), 10);
  expect(results()).toEqual([]);
});

test('an agent that takes up an allocation deregisters nothing, and reports everything once it is known', async () => {
  const wanted = { group: [{ ...web, Checks: [check] }] };
  await run(wanted);
  await until(() => expect(told).toMatchObject([{ Status: 'passing' }]), 100);
  await runner!.leave();
  forgetBatches();
  useServices(plainProbe, true);
  await takeUp(wanted);
  services.noteRestored();
  await until(() => expect(batches).toBe(1), 100);
  expect(told).toMatchObject([{ ServiceName: 'web', Status: 'passing' }]);
});

test('an agent that finds a task ended deregisters its services', async () => {
  await run({ group: [web], task: { Config: { run_for: '60s', exit_code: 1 } } });
  await until(() => expect(names()).toEqual(['web']), 10);
  await runner!.leave();
  await world.advance(60_000);
  useServices(plainProbe, true);
  await takeUp({});
  services.noteRestored();
  await until(() => expect(names()).toEqual([]), 10);
});

test('an agent that ends with its tasks deregisters their services first', async () => {
  await run({ group: [web] });
  await until(() => expect(names()).toEqual(['web']), 10);
  const done = services.withdraw();
  await until(() => expect(names()).toEqual([]), 10);
  await done;
  expect(driver.running).toHaveLength(1);
});
