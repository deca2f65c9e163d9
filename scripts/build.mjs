/** npm run build: compiles the sources, whether or not they have changed. */
import { build } from './prepare.mjs';

await build();
