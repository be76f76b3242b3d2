import { findSystemUser } from '../../src/node/system-user.ts';
import { inPodman } from './in-podman.ts';
import { plainUser } from './plain-user.ts';

inPodman('plain', findSystemUser(plainUser));
