import { describe } from 'vitest';
import { entryTable } from './entry-table.test-helper.ts';

const services = (...all: object[]) => ({ Services: all });

describe('terminating-gateway', () => {
  entryTable({ Kind: 'terminating-gateway', Name: 'out' }, [
    [
      'services',
      services({ Name: 'a', CAFile: '/ca' }, { Name: '*' }, { Name: 'a', Namespace: 'b' }),
    ],
    [
      'a pair of files',
      services({ Name: 'a', CertFile: '/c', KeyFile: '/k', SNI: 'a.example.com' }),
    ],
    ['no name', services({}), 'Services[0].Name is required'],
    [
      'a service twice',
      services({ Name: 'a' }, { Name: 'a' }),
      'Services[1] "a" is listed already',
    ],
    [
      'every service twice',
      services({ Name: '*' }, { Name: '*' }),
      'Services[1] "*" is listed already',
    ],
    [
      'a certificate without its key',
      services({ Name: 'a', CertFile: '/c' }),
      'Services[0].KeyFile is required with CertFile',
    ],
    [
      'a key without its certificate',
      services({ Name: 'a', KeyFile: '/k' }),
      'Services[0].CertFile is required with KeyFile',
    ],
    [
      'a server name that is not a host name',
      services({ Name: 'a', SNI: '*.example.com' }),
      'Services[0].SNI is not a host name: "*.example.com"',
    ],
  ]);
});
