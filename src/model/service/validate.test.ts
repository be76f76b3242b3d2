import { second, table } from '../job/validate.test-helper.ts';

const g = 'TaskGroups[0]';
const t = 'TaskGroups[0].Tasks[0]';
const check = { Type: 'http', Path: '/', Interval: second, Timeout: second };
const service = { PortLabel: 'http' };

table('services and checks', 'TaskGroups.0.', [
  [{ Services: [{ ...service, Checks: [check] }] }],
  [
    { Services: [{ ...service, Name: 'a_b' }] },
    `${g}.Services[0].Name must be letters, digits and inner dashes, got "a_b"`,
  ],
  [
    { Services: [{ ...service, Name: 'a'.repeat(64) }] },
    `${g}.Services[0].Name must be at most 63 characters long`,
  ],
  [
    { Services: [{ PortLabel: 'admin' }] },
    `${g}.Services[0].PortLabel names no port of the group: "admin"`,
  ],
  [
    { Services: [{ ...service, AddressMode: 'driver' }] },
    `${g}.Services[0].AddressMode driver is only for services of a task`,
  ],
  [
    { Services: [{ ...service, AddressMode: 'host', Address: 'h' }] },
    `${g}.Services[0].AddressMode must be auto when Address is set`,
  ],
  [
    { Services: [service, { ...service, Provider: 'scheduler', Name: 'b' }] },
    `${g}.Services[1].Provider must be the same in the whole group, and one is registry`,
  ],
  [{ Services: [service, service] }, `${g}.Services[1].Name is taken for the same port`],
  [
    { Services: [{ ...service, Weights: { Passing: 0 } }] },
    `${g}.Services[0].Weights.Passing must be at least 1, got 0`,
  ],
  [
    { 'Tasks.0.Services': [{ ...service, Connect: { Native: true } }] },
    `${t}.Services[0].Connect is only for services of a group`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Type: 'ping' }] }] },
    `${g}.Services[0].Checks[0].Type must be one of http, tcp, script, grpc, got "ping"`,
  ],
  [
    { Services: [{ ...service, Provider: 'scheduler', Checks: [{ ...check, Type: 'grpc' }] }] },
    `${g}.Services[0].Checks[0].Type must be one of http, tcp, got "grpc"`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Path: '' }] }] },
    `${g}.Services[0].Checks[0].Path is required for an http check`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Path: 'http://h/' }] }] },
    `${g}.Services[0].Checks[0].Path must be a relative URL`,
  ],
  [
    { Services: [{ Checks: [check] }] },
    `${g}.Services[0].Checks[0].PortLabel is required here or on the service`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Interval: 1 }] }] },
    `${g}.Services[0].Checks[0].Interval is required and at least 1s`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Type: 'script', Command: 'x' }] }] },
    `${g}.Services[0].Checks[0].TaskName is required for a script check of a group`,
  ],
  [
    {
      Services: [
        { ...service, Checks: [{ ...check, OnUpdate: 'ignore', CheckRestart: { Limit: 1 } }] },
      ],
    },
    `${g}.Services[0].Checks[0].OnUpdate ignore is not possible together with CheckRestart`,
  ],
  [
    { Services: [{ ...service, TaskName: 'x' }] },
    `${g}.Services[0].TaskName names no task of the group: "x"`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, TaskName: 'x' }] }] },
    `${g}.Services[0].Checks[0].TaskName names no task of the group: "x"`,
  ],
  [
    { Networks: [{}, { DynamicPorts: [{ Label: 'late' }] }], Services: [{ PortLabel: 'late' }] },
    `${g}.Services[0].PortLabel names no port of the group: "late"`,
  ],
  [
    { Services: [{ PortLabel: '65536', AddressMode: 'alloc' }] },
    `${g}.Services[0].PortLabel must be a port from 1 to 65535`,
  ],
  [{ Services: [{ PortLabel: '65535', AddressMode: 'alloc' }] }],
  [
    { Services: [{ ...service, Name: '${x}'.repeat(65) }] },
    `${g}.Services[0].Name must be at most 256 characters long`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Path: '//h/' }] }] },
    `${g}.Services[0].Checks[0].Path must be a relative URL`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Protocol: 'ftp' }] }] },
    `${g}.Services[0].Checks[0].Protocol must be http or https, got "ftp"`,
  ],
  [
    { Services: [{ ...service, Provider: 'scheduler', Checks: [{ ...check, GRPCUseTLS: true }] }] },
    `${g}.Services[0].Checks[0].GRPCUseTLS is not possible with the provider scheduler`,
  ],
  [
    { Services: [{ ...service, Checks: [{ ...check, Expose: true }] }] },
    `${g}.Services[0].Checks[0].Expose is only possible on a service of a group with Connect`,
  ],
  [{ Services: [{ ...service, Connect: { Native: true }, Checks: [{ ...check, Expose: true }] }] }],
]);
