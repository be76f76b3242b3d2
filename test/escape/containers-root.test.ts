import { inPodman } from './in-podman.ts';

inPodman('root');
