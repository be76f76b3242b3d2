import { escapes } from './escapes.ts';

escapes({ driver: 'exec', agent: 'root' });
