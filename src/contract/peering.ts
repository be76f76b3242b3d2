import { limits } from '../model/limits.ts';
import { ExportedServiceSchema, ImportedNameSchema } from '../model/peering/exchanged-service.ts';
import {
  EstablishRequestSchema,
  type Peering,
  PeeringSchema,
  PeeringTokenAnswerSchema,
  PeeringTokenRequestSchema,
} from '../model/peering/peering.ts';
import { type ExchangeExplanation, ExchangeExplanationSchema } from '../model/peering/why.ts';
import { Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';
import { sortsOf } from './sorts.ts';

const place = { partition: 'from-request' } as const;

export const whyQuery = {
  service: { kind: 'string', required: true, description: 'Name of the service.' },
} as const;

export const exchangedServiceEndpoints = endpoints(
  { group: 'exchanged-services', noun: 'peering', family: 'registry' },
  {
    exported: {
      kind: 'list',
      path: '/v1/exported-services',
      summary: 'List the exported services with their consumers',
      blocking: true,
      answer: ExportedServiceSchema,
      filter: ExportedServiceSchema,
      permission: resource('mesh', 'read', place),
    },
    imported: {
      kind: 'list',
      path: '/v1/imported-services',
      summary: 'List the services that peers export to this cluster',
      blocking: true,
      answer: ImportedNameSchema,
      filter: ImportedNameSchema,
      permission: resource('mesh', 'read', place),
    },
    why: {
      kind: 'read',
      path: '/v1/peering/:name/why',
      summary: 'Explain why a service is exported to a peer or imported from it',
      query: whyQuery,
      answer: typed<ExchangeExplanation>(ExchangeExplanationSchema),
      permission: resource('peering', 'read', place),
    },
  },
);

const may = (access: 'read' | 'write') => resource('peering', access, place);

export const peeringEndpoints = endpoints(
  { group: 'peerings', noun: 'peering', family: 'registry' },
  {
    generateToken: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/peering/token',
      summary: 'Create a token with which another cluster can peer with this one',
      body: {
        example: { PeerName: 'east', ServerExternalAddresses: ['192.0.2.10:4720'] },
        schema: PeeringTokenRequestSchema,
        unknown: 'refuse',
        faults: 'later',
      },
      answer: PeeringTokenAnswerSchema,
      permission: may('write'),
    },
    establish: {
      kind: 'write',
      methods: ['POST'],
      path: '/v1/peering/establish',
      summary: 'Peer with the cluster of a token',
      body: {
        schema: EstablishRequestSchema,
        unknown: 'refuse',
        faults: 'later',
        bytesMax: 2 * limits.peering.tokenLengthMax,
      },
      answer: Type.Object({}),
      permission: may('write'),
    },
    read: {
      kind: 'read',
      path: '/v1/peering/:name',
      summary: 'Read a peering',
      blocking: true,
      answer: typed<Peering>(PeeringSchema),
      permission: may('read'),
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/peering/:name',
      summary: 'Mark a peering for deletion',
      permission: may('write'),
    },
    list: {
      kind: 'list',
      path: '/v1/peerings',
      summary: 'List the peerings of a partition',
      blocking: true,
      answer: typed<Peering>(PeeringSchema),
      filter: PeeringSchema,
      sorts: sortsOf.peerings,
      permission: may('read'),
    },
  },
);
